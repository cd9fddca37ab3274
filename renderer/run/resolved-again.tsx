import { Link } from 'wouter'
import type { Run } from '../../contract/run.ts'
import { useComparison } from '../compare/use-comparison.ts'
import { comparePath } from '../shell/address.ts'
import { words } from '../words/en.ts'

const w = words.run.again

interface ResolvedAgainProps {
  readonly stretches: Run['stretches']
  /** The stretch that began with a new resolution. */
  readonly n: number
}

/** What a resumed run found changed: the configuration of this start against that of the one before it. */
export function ResolvedAgain({ stretches, n }: ResolvedAgainProps) {
  const at = stretches.findIndex((stretch) => stretch.n === n)
  const before = stretches[at - 1]?.manifest ?? null
  const after = stretches[at]?.manifest ?? null
  const read = useComparison(before, after)
  if (at < 1 || before === null || after === null) return null
  if (before === after) return <span className="text-text-3">{w.same}</span>
  if (read.data?.identical === true) return <span className="text-text-3">{w.same}</span>
  const differences = read.data?.causes.filter((cause) => cause.class !== 'model behaviour').length
  return (
    <Link href={comparePath(before, after)} className="rounded-chip text-accent hover:underline">
      {differences === undefined ? w.compare : w.differences(differences)}
    </Link>
  )
}
