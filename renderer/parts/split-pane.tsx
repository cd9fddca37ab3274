import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Group, Panel, Separator } from 'react-resizable-panels'
import { useInspector } from '../shell/acts.ts'
import { useView } from '../shell/view-state.ts'
import { words } from '../words/en.ts'
import { IconButton } from './button.tsx'
import { useSize } from './use-size.ts'

interface SplitPaneProps {
  readonly main: ReactNode
  readonly inspector: ReactNode
  readonly title: string
  /** Nothing to inspect: a sheet below stays closed, a pane beside says so. */
  readonly empty?: boolean
  /** A sheet below opens only when it is asked for. */
  readonly sheetClosed?: boolean
  /** In a pane as narrow as a telephone the sheet is a page of its own, with the way back. */
  readonly alone?: boolean
}

/**
 * Main and inspector: beside each other from 900 px, a sheet below in narrower panes. The inspector is never a place of its own;
 * Mod+I hides it.
 */
export function SplitPane({
  main,
  inspector,
  title,
  empty = false,
  sheetClosed = false,
  alone = false,
}: SplitPaneProps) {
  useInspector()
  const open = useView((view) => view.inspector)
  const toggle = useView((view) => view.toggleInspector)
  const { ref, width } = useSize<HTMLDivElement>()
  const beside = width >= 900
  const sheet = useView((view) => view.sheet)
  const ownPage = alone && width > 0 && width < 560
  const pane = (
    <section aria-label={title} data-region="inspector" className="flex h-full min-h-0 flex-col bg-surface">
      <header className="flex h-9 shrink-0 items-center border-b border-line pr-1 pl-3">
        <h2 className="flex-1 truncate text-ui font-medium text-text-2">{title}</h2>
        <IconButton label={ownPage ? words.back : words.close} onClick={() => toggle(false)}>
          <X size={16} strokeWidth={1.75} aria-hidden="true" />
        </IconButton>
      </header>
      <div className="min-h-0 flex-1 overflow-x-hidden overflow-y-auto">{inspector}</div>
    </section>
  )
  return (
    <div ref={ref} className="flex min-h-0 min-w-0 flex-1">
      {width === 0 ? null : ownPage && sheet && !empty ? (
        <div className="flex min-h-0 min-w-0 flex-1 flex-col">{pane}</div>
      ) : (beside ? !open : empty || !(sheetClosed ? sheet : open)) ? (
        <div className="flex min-h-0 min-w-0 flex-1 flex-col">{main}</div>
      ) : (
        <Group
          key={beside ? 'beside' : 'below'}
          orientation={beside ? 'horizontal' : 'vertical'}
          className="min-h-0 min-w-0 flex-1"
        >
          <Panel id="main" minSize={beside ? '480px' : '30%'} className="flex min-h-0 min-w-0 flex-col">
            {main}
          </Panel>
          <Separator
            className={
              beside
                ? 'w-px bg-line hover:bg-accent data-[separator=active]:bg-accent'
                : 'h-px bg-line-strong hover:bg-accent data-[separator=active]:bg-accent'
            }
          />
          <Panel
            id="inspector"
            defaultSize={beside ? (width >= 1160 ? '400px' : '340px') : '45%'}
            minSize={beside ? '280px' : '20%'}
            maxSize={beside ? '560px' : '80%'}
            groupResizeBehavior="preserve-pixel-size"
          >
            {pane}
          </Panel>
        </Group>
      )}
    </div>
  )
}
