import { Link } from 'wouter'
import { ReadsTable } from '../health/reads-tab.tsx'
import { CommandHint } from '../parts/command-hint.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'

const w = words.settings

/** Where the key of the originals lies, how many there are, and who opened one. */
export function VaultPage() {
  const { data } = useRead('status.get', {}, { select: ({ vault }) => vault })
  return (
    <>
      <p className="mt-3 max-w-prose text-ui text-text-2">
        {w.vaultIs}{' '}
        <Link href="/settings/collection" className="rounded-chip text-accent hover:underline">
          {w.toCollection}
        </Link>
      </p>
      <div className="-mx-3 mt-3 max-w-2xl">
        <Facts>
          <Fact name={words.health.vault}>
            {data === undefined ? words.unknown : words.health.vaults[data.key_store]}
            {data?.note != null && <span className="block text-text-2">{data.note}</span>}
          </Fact>
          <Fact name={w.vaultObjects}>{data === undefined ? words.unknown : w.vaultCount(data.objects)}</Fact>
        </Facts>
      </div>
      <div className="mt-6 flex items-center gap-3">
        <CommandHint command="reprise reveal --log" />
      </div>
      <div className="mt-2 overflow-x-auto">
        <ReadsTable />
      </div>
    </>
  )
}
