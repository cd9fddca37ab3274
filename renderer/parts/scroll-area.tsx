import type { ReactNode } from 'react'
import { cx } from './classes.ts'

type Props = {
  readonly className?: string
  readonly children: ReactNode
}

/** A pane whose content scrolls. It takes the focus itself, so that the arrow keys move it where nothing in it can be focused. */
export function ScrollArea({ className, children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard (WCAG 2.1.1)
    <div tabIndex={0} className={cx('min-h-0 flex-1 overflow-y-auto', className)}>
      {children}
    </div>
  )
}
