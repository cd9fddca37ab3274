import type { ReactNode } from 'react'
import type { Manifest } from '../../contract/manifest.ts'
import { Digest } from '../parts/digest.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { words } from '../words/en.ts'
import { isContext, sourceKey, sourceName } from './source-tree.ts'
import { Loaded } from './sources-tab.tsx'

const w = words.manifest
const p = w.policy

/** Hard limits on one side, what the model was merely told on the other; a reader must never take one for the other (R34). */
export function PolicyTab({ manifest }: { readonly manifest: Manifest }) {
  const { policy, execution, capabilities, instructions, unknown } = manifest
  const why = (field: string) => unknown.find((entry) => entry.field.startsWith(field))?.why ?? null
  const orUnknown = (value: string | null, field: string): ReactNode =>
    value === null ? why(field) === null ? w.facts.none : <Unknown why={why(field)} /> : value
  const told = instructions.sources.filter((source) => isContext(source.kind) && source.status !== 'not_loaded')
  return (
    <ScrollArea className="pb-6">
      <div className="grid lg:grid-cols-2">
        <section aria-label={p.enforcedTitle} className="pt-3">
          <h2 className="px-3 font-semibold">{p.enforcedTitle}</h2>
          <p className="px-3 text-dense text-text-2">{w.enforcedMeans}</p>
          <Facts>
            <Fact name={p.mode}>{orUnknown(policy.permissions.mode, 'policy.permissions.mode')}</Fact>
            <Fact name={p.trust}>
              {policy.trust.trusted === null ? (
                <Unknown why={why('policy.trust')} />
              ) : policy.trust.trusted ? (
                p.trusted
              ) : (
                <span className="text-warn">{p.untrusted}</span>
              )}
              {policy.trust.source !== null && <PathText path={policy.trust.source} className="w-full text-text-3" />}
            </Fact>
            <Fact name={p.sandbox}>{orUnknown(execution.sandbox.mode, 'execution.sandbox.mode')}</Fact>
            <Fact name={p.network}>
              {orUnknown(execution.sandbox.network_policy, 'execution.sandbox.network_policy')}
            </Fact>
            <Fact name={p.managed}>
              {policy.managed.length === 0
                ? w.facts.none
                : policy.managed.map((path) => <PathText key={path} path={path} className="w-full" />)}
            </Fact>
            <Fact name={p.hooks}>
              {capabilities.hooks.length === 0 ? w.facts.none : capabilities.hooks.map((hook) => hook.name).join(', ')}
            </Fact>
            <Fact name={p.revision}>
              {policy.revision === null ? (
                <Unknown why={why('policy.revision')} />
              ) : (
                <Digest digest={policy.revision} />
              )}
            </Fact>
            {policy.capability_id !== undefined && <Fact name={p.capability}>{policy.capability_id}</Fact>}
          </Facts>
          <RuleList title={p.deny} rules={policy.permissions.deny} />
          <RuleList title={p.ask} rules={policy.permissions.ask} />
          <RuleList title={p.allow} rules={policy.permissions.allow} />
        </section>
        <section aria-label={p.contextTitle} className="border-line pt-3 lg:border-l">
          <h2 className="px-3 font-semibold">{p.contextTitle}</h2>
          <p className="px-3 text-dense text-text-2">{p.contextHint}</p>
          <ul className="px-3 pt-2 text-dense">
            {told.length === 0 && <li className="text-text-2">{w.facts.none}</li>}
            {told.map((source) => (
              <li
                key={sourceKey(source)}
                className="flex min-w-0 items-baseline gap-3 border-t border-line py-1 first:border-0"
              >
                <span className="min-w-0 flex-1">
                  <PathText path={sourceName(source)} className="w-full" />
                </span>
                <span className="max-w-[45%] truncate text-text-2">
                  <Loaded source={source} />
                </span>
              </li>
            ))}
          </ul>
        </section>
      </div>
    </ScrollArea>
  )
}

interface Rule {
  readonly rule: string
  readonly source: string
  readonly ignored?: unknown
}

function RuleList({ title, rules }: { readonly title: string; readonly rules: readonly Rule[] }) {
  return (
    <section aria-label={title} className="px-3 pt-3">
      <h3 className="text-meta font-semibold text-text-2">
        {title} {rules.length}
      </h3>
      <ul className="text-dense">
        {rules.length === 0 && <li className="py-1 text-text-3">{p.noRules}</li>}
        {rules.map((rule) => (
          <li
            key={`${rule.rule}${rule.source}`}
            className="flex min-w-0 flex-wrap items-baseline gap-x-3 border-t border-line py-1 first:border-0"
          >
            <code className="font-mono text-[0.75rem]">{rule.rule}</code>
            {typeof rule.ignored === 'string' && <span className="text-warn">{p.ignored(rule.ignored)}</span>}
            <span className="ml-auto max-w-[55%] min-w-0 text-text-3">
              <PathText path={rule.source} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
