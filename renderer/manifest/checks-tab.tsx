import type { Manifest } from '../../contract/manifest.ts'
import { Digest } from '../parts/digest.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { ResultMark } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { Section, TableHead } from '../parts/tables.tsx'
import { words } from '../words/en.ts'
import { sourceKey, sourceName } from './source-tree.ts'

const w = words.manifest
const c = w.checks

interface ChecksTabProps {
  readonly manifest: Manifest
  readonly intact: boolean
  readonly damage: readonly string[]
}

/** Whether it can be relied on: signature, what is empty and why, what is unknown and why. */
export function ChecksTab({ manifest, intact, damage }: ChecksTabProps) {
  const flagged = manifest.instructions.sources.filter(
    (source) => source.scan?.result === 'flagged' || source.scan?.result === 'rejected',
  )
  return (
    <ScrollArea className="pb-6">
      <Section title={c.integrity}>
        <div className="-mx-3 max-w-3xl">
          <Facts>
            <Fact name={c.digest}>
              {intact ? (
                <ResultMark result="pass">{w.intact}</ResultMark>
              ) : (
                <ResultMark result="fail">{w.damaged}</ResultMark>
              )}{' '}
              <Digest digest={manifest.integrity.manifest_digest} />
            </Fact>
            <Fact name={c.signature}>
              <span className="font-mono text-[0.75rem] break-all text-text-2">
                {manifest.integrity.signature.slice(0, 48)}…
              </span>
            </Fact>
            <Fact name={c.key}>
              <span className="font-mono text-[0.75rem]">{manifest.integrity.key_id}</span>
            </Fact>
            {damage.map((entry) => (
              <Fact key={entry} name={c.damage}>
                <span className="text-danger">{entry}</span>
              </Fact>
            ))}
          </Facts>
        </div>
      </Section>
      <Section title={c.validation}>
        {manifest.validation === undefined ? (
          <p className="text-dense text-text-2">{c.notValidated}</p>
        ) : manifest.validation.passed ? (
          <p className="text-dense">
            <ResultMark result="pass">{c.valid}</ResultMark>
          </p>
        ) : (
          <Findings findings={manifest.validation.failed} />
        )}
      </Section>
      {manifest.advice !== undefined && manifest.advice.length > 0 && (
        <Section title={c.advice}>
          <Findings findings={manifest.advice} />
        </Section>
      )}
      <Section title={c.unknown}>
        <Pairs
          head={[c.field, c.why]}
          none={c.unknownNone}
          pairs={manifest.unknown.map((entry) => [entry.field, entry.why])}
        />
      </Section>
      <Section title={c.empty}>
        <Pairs
          head={[c.category, c.why]}
          none={c.emptyNone}
          pairs={manifest.empty.map((entry) => [entry.category, entry.why])}
        />
      </Section>
      <Section title={c.scan}>
        {flagged.length === 0 ? (
          <p className="text-dense text-text-2">{c.scanNone}</p>
        ) : (
          <ul className="text-dense">
            {flagged.map((source) => (
              <li key={sourceKey(source)} className="flex min-w-0 items-baseline gap-3 border-b border-line py-1">
                <PathText path={sourceName(source)} />
                <span className="text-warn">{source.scan === null ? '' : w.scans[source.scan.result]}</span>
                <span className="text-text-2">{source.scan?.rules.join(', ')}</span>
              </li>
            ))}
          </ul>
        )}
      </Section>
    </ScrollArea>
  )
}

function Findings({
  findings,
}: {
  readonly findings: readonly { readonly check: string; readonly where: string; readonly message: string }[]
}) {
  return (
    <table className="w-full max-w-4xl text-dense">
      <TableHead columns={[c.check, c.where, c.why]} />
      <tbody>
        {findings.map(({ check, where, message }) => (
          <tr key={`${check}\0${where}\0${message}`} className="border-b border-line align-top">
            <th scope="row" className="py-1 pr-3 text-left font-medium whitespace-nowrap text-warn">
              {check.replaceAll('_', ' ')}
            </th>
            <td className="py-1 pr-3 font-mono text-[0.75rem] break-all">{where}</td>
            <td className="py-1 text-text-2">{message}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Pairs({
  head,
  pairs,
  none,
}: {
  readonly head: readonly string[]
  readonly pairs: readonly (readonly [string, string])[]
  readonly none: string
}) {
  if (pairs.length === 0) return <p className="text-dense text-text-2">{none}</p>
  return (
    <table className="w-full max-w-4xl text-dense">
      <TableHead columns={head} />
      <tbody>
        {pairs.map(([name, why]) => (
          <tr key={name} className="border-b border-line align-top">
            <th scope="row" className="w-72 py-1 pr-3 text-left font-mono text-[0.75rem] font-normal break-all">
              {name}
            </th>
            <td className="py-1 text-text-2">{why}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
