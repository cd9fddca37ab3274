import { BrainCircuit, Globe, SlidersHorizontal } from 'lucide-react'
import type { CauseClass } from '../../contract/compare.ts'
import { words } from '../words/en.ts'

const icons = { configuration: SlidersHorizontal, 'external state': Globe, 'model behaviour': BrainCircuit } as const

/** Three words, three icons: what kind of thing differs decides what can be done about it. */
export function ClassMark({ of }: { readonly of: CauseClass }) {
  const Icon = icons[of]
  return (
    <span className="inline-flex items-center gap-1 text-meta text-text-2">
      <Icon size={12} strokeWidth={1.75} aria-hidden="true" className="shrink-0" />
      {words.compare.classes[of]}
    </span>
  )
}
