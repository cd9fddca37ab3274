import { goToNextChunk, goToPreviousChunk, MergeView, unifiedMergeView } from '@codemirror/merge'
import { EditorState, type Extension, RangeSetBuilder } from '@codemirror/state'
import { Decoration, EditorView, keymap, lineNumbers, ViewPlugin, type ViewUpdate, WidgetType } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import type { ShownText } from '../../contract/run.ts'
import { words } from '../words/en.ts'

interface DiffViewProps {
  readonly before: ShownText | null
  readonly after: ShownText | null
  /** Two columns; otherwise one. */
  readonly beside: boolean
  readonly label: string
}

class CoveredWidget extends WidgetType {
  constructor(readonly text: string) {
    super()
  }
  override eq(other: CoveredWidget) {
    return other.text === this.text
  }
  override toDOM() {
    const box = document.createElement('span')
    box.className = 'cm-covered'
    box.textContent = this.text
    return box
  }
}

/** Placeholders of secrets as blocks that say what is covered; the text below them stays the placeholder. */
function covered(hidden: ShownText['hidden']): Extension {
  const spans = hidden.filter((span) => span.placeholder !== '')
  if (spans.length === 0) return []
  const build = (view: EditorView) => {
    const found: { from: number; to: number; text: string }[] = []
    for (const { from, to } of view.visibleRanges) {
      const text = view.state.doc.sliceString(from, to)
      for (const span of spans)
        for (let at = text.indexOf(span.placeholder); at >= 0; at = text.indexOf(span.placeholder, at + 1))
          found.push({
            from: from + at,
            to: from + at + span.placeholder.length,
            text: words.hidden.label(span.family, span.characters),
          })
    }
    const builder = new RangeSetBuilder<Decoration>()
    for (const entry of found.sort((a, b) => a.from - b.from))
      builder.add(entry.from, entry.to, Decoration.replace({ widget: new CoveredWidget(entry.text) }))
    return builder.finish()
  }
  return ViewPlugin.fromClass(
    class {
      decorations
      constructor(view: EditorView) {
        this.decorations = build(view)
      }
      update(update: ViewUpdate) {
        if (update.docChanged || update.viewportChanged) this.decorations = build(update.view)
      }
    },
    { decorations: (plugin) => plugin.decorations },
  )
}

/** Chunks of equal text fold away; F7 and Shift+F7 go from change to change. */
const shared = (label: string): Extension => [
  lineNumbers(),
  EditorState.readOnly.of(true),
  EditorView.editable.of(false),
  EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': label, 'aria-readonly': 'true' }),
  EditorView.lineWrapping,
  keymap.of([
    { key: 'F7', run: goToNextChunk },
    { key: 'Shift-F7', run: goToPreviousChunk },
  ]),
]
const collapse = { margin: 3, minSize: 6 }
/** Bounds the work on very different texts; beyond it the rest of a chunk is one change. */
const diffConfig = { scanLimit: 500, timeout: 200 }

export default function DiffView({ before, after, beside, label }: DiffViewProps) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const parent = host.current
    if (parent === null) return
    const hidden = [...(before?.hidden ?? []), ...(after?.hidden ?? [])]
    const extensions = [shared(label), covered(hidden)]
    const a = before?.text ?? ''
    const b = after?.text ?? ''
    if (beside) {
      const view = new MergeView({
        a: { doc: a, extensions },
        b: { doc: b, extensions },
        parent,
        collapseUnchanged: collapse,
        diffConfig,
        gutter: true,
      })
      return () => view.destroy()
    }
    const view = new EditorView({
      doc: b,
      extensions: [
        extensions,
        unifiedMergeView({ original: a, mergeControls: false, collapseUnchanged: collapse, diffConfig, gutter: true }),
      ],
      parent,
    })
    return () => view.destroy()
  }, [before, after, beside, label])
  return <div ref={host} className="diff-host h-full overflow-auto" />
}
