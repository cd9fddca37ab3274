import { CircleHelp, FileLock2, Minus, Pencil, Plus } from 'lucide-react'
import type { Effect } from '../../contract/run.ts'
import { words } from '../words/en.ts'

const marks: Record<Effect['change'], { readonly icon: typeof Plus; readonly look: string }> = {
  add: { icon: Plus, look: 'text-effect-add' },
  change: { icon: Pencil, look: 'text-effect-change' },
  delete: { icon: Minus, look: 'text-effect-delete' },
  mode: { icon: FileLock2, look: 'text-effect-mode' },
  unknown: { icon: CircleHelp, look: 'text-text-2' },
}

/** What happened to a path: shape and colour, with its word for assistive technology. */
export function ChangeMark({ change }: { readonly change: Effect['change'] }) {
  const { icon: Icon, look } = marks[change]
  const word = change === 'unknown' ? words.effects.unknown : words.effects[change]
  return (
    <span className={`inline-flex shrink-0 ${look}`} title={word}>
      <Icon size={12} strokeWidth={2} aria-hidden="true" />
      <span className="sr-only">{word}</span>
    </span>
  )
}
