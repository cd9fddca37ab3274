import { Check, CircleDashed, CircleSlash, TriangleAlert, X } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Effect, Run } from '../../contract/run.ts'
import type { RunUse } from '../../contract/use.ts'
import { LinkButton } from '../parts/button.tsx'
import { ChangeMark } from '../parts/change-mark.tsx'
import { cx } from '../parts/classes.ts'
import { Digest } from '../parts/digest.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { Empty, Failure, Loading } from '../parts/feedback.tsx'
import { Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { Section, TableHead } from '../parts/tables.tsx'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'

const w = words.run.use
const kinds: Readonly<Record<string, string>> = words.compare.kinds

interface UseTabProps {
  readonly run: Run
  readonly onMoveSeq: (seq: number) => void
}

/** What the run really used of what it was given, where it was not what was declared, and how it ended (R92–R98). */
export function UseTab({ run, onMoveSeq }: UseTabProps) {
  const read = useRead('runs.use', { run: run.id })
  if (read.data === undefined)
    return read.error === null ? (
      <Loading what={w.loading} />
    ) : (
      <Failure what={w.loading} failure={read.error} onRetry={() => void read.refetch()} />
    )
  const { used, unused, mismatches, steps, reconciled, unknown } = read.data
  const at = (seq: number | null): ReactNode =>
    seq === null ? '' : <LinkButton onClick={() => onMoveSeq(seq)}>@{seq}</LinkButton>
  return (
    <ScrollArea className="pb-8">
      {mismatches.length > 0 && <Mismatches mismatches={mismatches} at={at} />}
      <Section title={w.steps}>
        <Steps steps={steps} />
      </Section>
      <Section title={w.used(used.length)}>
        {used.length === 0 ? (
          <Empty title={w.nothingUsed} />
        ) : (
          <table className="w-full text-dense">
            <TableHead columns={[w.what, w.kind, w.declared, w.times, w.first, w.version]} right={[w.times, w.first]} />
            <tbody>
              {used.map((item) => (
                <tr key={`${item.kind}\0${item.name}`} className="border-b border-line align-baseline">
                  <Name of={item.name} workspace={run.workspace} />
                  <td className="py-1 pr-3 whitespace-nowrap text-text-2">{kinds[item.kind]}</td>
                  <td className="py-1 pr-3 whitespace-nowrap">
                    {item.declared === null ? (
                      <Unknown why={w.declaredUnknown} />
                    ) : item.declared ? (
                      w.yes
                    ) : (
                      <span className="font-medium text-danger">{w.notDeclared}</span>
                    )}
                  </td>
                  <td className="py-1 pr-3 text-right tabular-nums">{item.times}</td>
                  <td className="py-1 pr-3 text-right tabular-nums">{at(item.first_seq)}</td>
                  <td className="py-1">
                    <Version of={item.version} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Section>
      <Section title={w.unused(unused.length)}>
        {unused.length === 0 ? <p className="text-dense text-text-2">{w.noneUnused}</p> : <Unused unused={unused} />}
      </Section>
      <Section title={w.ended} hint={w.states[reconciled.state]}>
        <Reconciled reconciled={reconciled} workspace={run.workspace} at={at} />
      </Section>
      {unknown.length > 0 && (
        <Section title={w.unknown(unknown.length)}>
          <ul className="text-dense">
            {unknown.map(({ field, why }) => (
              <li key={`${field}\0${why}`} className="flex flex-wrap gap-x-3 border-b border-line py-1">
                <span className="font-mono text-[0.75rem]">{field}</span>
                <span className="text-text-2">{why}</span>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </ScrollArea>
  )
}

const changeOf = (change: string): Effect['change'] =>
  change === 'add' || change === 'change' || change === 'delete' || change === 'mode' ? change : 'unknown'

type At = (seq: number | null) => ReactNode

function Mismatches({ mismatches, at }: { readonly mismatches: RunUse['mismatches']; readonly at: At }) {
  return (
    <section aria-label={w.mismatches(mismatches.length)} className="border-b border-line bg-danger-tint px-3 py-2.5">
      <h2 className="flex items-center gap-1.5 font-semibold text-danger">
        <TriangleAlert size={16} strokeWidth={1.75} aria-hidden="true" />
        {w.mismatches(mismatches.length)}
      </h2>
      <ul className="mt-1 text-dense">
        {mismatches.map((mismatch) => (
          <li key={`${mismatch.what}\0${mismatch.actual}`} className="flex flex-wrap items-baseline gap-x-3 py-0.5">
            <span className="w-36 font-medium">{w.whats[mismatch.what]}</span>
            <span className="font-mono text-[0.75rem] break-all">
              {mismatch.declared ?? w.nothingDeclared} → {mismatch.actual}
            </span>
            <span className="text-text-2">{mismatch.message}</span>
            {at(mismatch.seq)}
          </li>
        ))}
      </ul>
    </section>
  )
}

const stepLooks = {
  done: { icon: Check, look: 'text-ok' },
  partial: { icon: CircleDashed, look: 'text-warn' },
  failed: { icon: X, look: 'text-danger' },
  open: { icon: CircleDashed, look: 'text-text-2' },
  not_possible: { icon: CircleSlash, look: 'text-text-2' },
} as const

/** From the first look at the sources to the last look at what came of them, in order (R23). */
function Steps({ steps }: { readonly steps: RunUse['steps'] }) {
  return (
    <ol className="text-dense">
      {steps.map(({ step, state, why }, index) => {
        const { icon: Icon, look } = stepLooks[state]
        return (
          <li
            key={step}
            className="grid grid-cols-[1rem_8rem_8rem_minmax(0,1fr)] items-baseline gap-x-3 border-b border-line py-1 last:border-0 max-sm:grid-cols-[1rem_1fr_1fr]"
          >
            <span className="text-right text-text-3 tabular-nums">{index + 1}</span>
            <span className="font-medium">{w.stepNames[step]}</span>
            <span className={cx('inline-flex items-center gap-1', look)}>
              <Icon size={12} strokeWidth={2} aria-hidden="true" />
              {w.stepStates[state]}
            </span>
            <span className="text-text-2 max-sm:col-span-2 max-sm:col-start-2">{why}</span>
          </li>
        )
      })}
    </ol>
  )
}

function Unused({ unused }: { readonly unused: RunUse['unused'] }) {
  const groups = [...new Set(unused.map(({ kind }) => kind))]
  return (
    <Facts>
      {groups.map((kind) => (
        <Fact key={kind} name={kinds[kind] ?? kind}>
          <ul className="flex flex-wrap gap-x-4 font-mono text-[0.75rem] text-text-2">
            {unused
              .filter((entry) => entry.kind === kind)
              .map(({ name }) => (
                <li key={name} className="break-all">
                  {name}
                </li>
              ))}
          </ul>
        </Fact>
      ))}
    </Facts>
  )
}

function Reconciled({
  reconciled,
  workspace,
  at,
}: {
  readonly reconciled: RunUse['reconciled']
  readonly workspace: string | null
  readonly at: At
}) {
  const { final, tests, models, tools, policy_revision } = reconciled
  return (
    <div className="flex flex-col gap-4">
      <table className="w-full text-dense">
        <caption className="pb-1 text-left text-meta font-semibold text-text-2">{w.tests(tests.length)}</caption>
        <tbody>
          {tests.map((test) => (
            <tr key={test.seq} className="border-b border-line align-baseline">
              <td className="w-14 py-1 pr-3 text-right tabular-nums">{at(test.seq)}</td>
              <td className="py-1 pr-3 font-mono text-[0.75rem] break-all">{test.command}</td>
              <td className="py-1 whitespace-nowrap">
                {test.ok === null ? (
                  <Unknown />
                ) : (
                  <span className={cx('inline-flex items-center gap-1', test.ok ? 'text-ok' : 'text-danger')}>
                    {test.ok ? (
                      <Check size={12} strokeWidth={2} aria-hidden="true" />
                    ) : (
                      <X size={12} strokeWidth={2} aria-hidden="true" />
                    )}
                    {test.ok ? w.passed : w.failed}
                  </span>
                )}
              </td>
            </tr>
          ))}
          {tests.length === 0 && (
            <tr>
              <td className="py-1 text-text-2">{w.noTests}</td>
            </tr>
          )}
        </tbody>
      </table>
      <table className="w-full text-dense">
        <caption className="pb-1 text-left text-meta font-semibold text-text-2">{w.final(final.length)}</caption>
        <tbody>
          {final.map((file) => (
            <tr key={file.path} className="border-b border-line align-baseline">
              <td className="w-14 py-1 pr-3 text-right tabular-nums">{at(file.seq)}</td>
              <td className="w-20 py-1 pr-3">
                <ChangeMark change={changeOf(file.change)} />
              </td>
              <Name of={file.path} workspace={workspace} />
              <td className="py-1">
                {file.after === null ? <Unknown why={w.noDigest} /> : <Digest digest={file.after} />}
              </td>
            </tr>
          ))}
          {final.length === 0 && (
            <tr>
              <td className="py-1 text-text-2">{w.noFinal}</td>
            </tr>
          )}
        </tbody>
      </table>
      <div className="-mx-3">
        <Facts>
          <Fact name={w.models}>{models.length === 0 ? <Unknown /> : models.join(', ')}</Fact>
          <Fact name={w.tools}>
            {tools.length === 0 ? (
              words.none
            ) : (
              <ul className="flex flex-wrap gap-x-4 gap-y-0.5">
                {tools.map((tool) => (
                  <li key={tool.name} className="inline-flex items-baseline gap-1.5">
                    {tool.name}
                    {tool.schema_digest === null ? (
                      <Unknown why={w.noSchema}>{w.schemaUnknown}</Unknown>
                    ) : (
                      <Digest digest={tool.schema_digest} />
                    )}
                  </li>
                ))}
              </ul>
            )}
          </Fact>
          <Fact name={words.manifest.policy.revision}>
            {policy_revision === null ? <Unknown /> : <Digest digest={policy_revision} />}
          </Fact>
        </Facts>
      </div>
    </div>
  )
}

function Name({ of, workspace }: { readonly of: string; readonly workspace: string | null }) {
  const below = workspace !== null && of.startsWith(`${workspace}/`) ? of.slice(workspace.length + 1) : of
  return (
    <th
      scope="row"
      className="w-full max-w-0 min-w-36 truncate py-1 pr-3 text-left font-mono text-[0.75rem] font-normal"
      title={of}
    >
      {below.includes('/') ? <PathText path={below} className="w-full" /> : below}
    </th>
  )
}

function Version({ of }: { readonly of: string | null }) {
  if (of === null) return null
  return of.startsWith('sha256:') ? <Digest digest={of} /> : <span className="font-mono text-[0.75rem]">{of}</span>
}
