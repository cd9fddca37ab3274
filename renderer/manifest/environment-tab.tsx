import type { ReactNode } from 'react'
import type { Manifest } from '../../contract/manifest.ts'
import { Digest } from '../parts/digest.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { formatBytes, formatNumber } from '../parts/format.ts'
import { Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { Section, TableHead } from '../parts/tables.tsx'
import { words } from '../words/en.ts'
import { AlsoRecorded } from './also-recorded.tsx'

const w = words.manifest
const e = w.env

/** The program, the model, the place and the state outside of files, as far as they are known. */
export function EnvironmentTab({ manifest }: { readonly manifest: Manifest }) {
  const { execution, context, external, unknown, task, principal } = manifest
  const { repo } = execution
  const why = (field: string) =>
    unknown.find((entry) => entry.field === field || entry.field.startsWith(`${field}.`))?.why
  // null says there is none; what could not be learned stands in `unknown`.
  const text = (value: string | null, field: string): ReactNode =>
    value ??
    (why(field) === undefined ? <span className="text-text-3">{w.facts.none}</span> : <Unknown why={why(field)} />)
  return (
    <ScrollArea className="pt-1 pb-6">
      <div className="max-w-3xl">
        <Facts>
          <Fact name={e.program}>{execution.runtime}</Fact>
          <Fact name={e.version}>{text(execution.runtime_version, 'execution.runtime_version')}</Fact>
          <Fact name={e.digest}>
            {execution.runtime_digest === null ? (
              text(null, 'execution.runtime_digest')
            ) : (
              <Digest digest={execution.runtime_digest} />
            )}
          </Fact>
          {execution.program != null && (
            <Fact name={e.programFile}>
              {execution.program.path === null ? (
                <Unknown />
              ) : (
                <PathText path={execution.program.path} className="w-full" />
              )}
              {execution.program.installed_by !== null && (
                <span className="block text-text-2">{e.installedBy(execution.program.installed_by)}</span>
              )}
            </Fact>
          )}
          <Fact name={e.task}>{text(task.id, 'task')}</Fact>
          <Fact name={e.principal}>
            {text(principal.subject, 'principal')}
            {principal.tenant !== null && <span className="text-text-2">, {principal.tenant}</span>}
            {principal.auth_context_ref !== null && (
              <span className="block break-all text-text-2">{e.auth(principal.auth_context_ref)}</span>
            )}
          </Fact>
          {execution.host !== undefined && (
            <Fact name={e.host}>
              {execution.host.platform} {execution.host.release}, {execution.host.arch}
            </Fact>
          )}
          <Fact name={e.surface}>{text(execution.surface, 'execution.surface')}</Fact>
          <Fact name={e.model}>{text(execution.model, 'execution.model')}</Fact>
          <Fact name={e.endpoint}>{text(execution.endpoint_profile, 'execution.endpoint_profile')}</Fact>
          <Fact name={e.reasoning}>{text(execution.reasoning, 'execution.reasoning')}</Fact>
          <Fact name={e.flags}>
            {execution.flags === null ? (
              text(null, 'execution.flags')
            ) : execution.flags.length === 0 ? (
              w.facts.none
            ) : (
              <code className="font-mono text-[0.75rem]">{execution.flags.join(' ')}</code>
            )}
          </Fact>
          <Fact name={e.cwd}>
            {execution.cwd === null ? (
              text(null, 'execution.cwd')
            ) : (
              <PathText path={execution.cwd} className="w-full" />
            )}
          </Fact>
          {repo === null ? (
            <Fact name={e.repo}>
              {why('execution.repo') === undefined ? e.noRepo : <Unknown why={why('execution.repo')} />}
            </Fact>
          ) : (
            <>
              <Fact name={e.repo}>
                <PathText path={repo.root} className="w-full" />
              </Fact>
              <Fact name={e.commit}>
                {repo.sha === null ? (
                  text(null, 'execution.repo.sha')
                ) : (
                  <code className="font-mono text-[0.75rem]">{repo.sha.slice(0, 12)}</code>
                )}
              </Fact>
              <Fact name={e.branch}>{text(repo.branch, 'execution.repo.branch')}</Fact>
              <Fact name={e.dirty}>
                {repo.dirty_digest === null ? (
                  why('execution.repo.dirty_digest') === undefined ? (
                    e.clean
                  ) : (
                    <Unknown why={why('execution.repo.dirty_digest')} />
                  )
                ) : (
                  <>
                    <Digest digest={repo.dirty_digest} />
                    {repo.dirty_paths !== undefined && (
                      <span className="text-text-2"> {e.dirtyPaths(repo.dirty_paths)}</span>
                    )}
                  </>
                )}
              </Fact>
              {repo.worktree !== null && <Fact name={e.worktree}>{repo.worktree}</Fact>}
              {repo.submodules.length > 0 && (
                <Fact name={e.submodules}>
                  {repo.submodules.map((entry) => `${entry.path} ${entry.sha.slice(0, 8)}`).join(', ')}
                </Fact>
              )}
            </>
          )}
          <Fact name={e.image}>{text(execution.image, 'execution.image')}</Fact>
          <Fact name={e.session}>{text(context.session_ref, 'context.session_ref')}</Fact>
          <Fact name={e.memory}>
            {context.memory_enabled === null ? (
              <Unknown why={why('context.memory_enabled')} />
            ) : context.memory_enabled ? (
              e.memoryOn
            ) : (
              e.memoryOff
            )}
            {context.memory.map((file) => (
              <span key={file.path} className="block text-text-2">
                <PathText path={file.path} /> {file.bytes !== null && formatBytes(file.bytes)}
                {file.truncated !== null && (
                  <span className="text-warn"> {w.cutAt(formatNumber(file.truncated.at), file.truncated.unit)}</span>
                )}
                {file.local_to_machine && <span className="block text-meta text-text-3">{w.localMemory}</span>}
              </span>
            ))}
          </Fact>
        </Facts>
      </div>
      <AlsoRecorded manifest={manifest} />
      <Section title={e.variables} hint={e.variablesHint}>
        {execution.environment.length === 0 ? (
          <p className="text-dense text-text-2">{w.facts.none}</p>
        ) : (
          <ul className="columns-2 text-dense max-md:columns-1">
            {execution.environment.map((variable) => (
              <li key={variable.name} className="flex items-baseline gap-2 py-0.5">
                <code className="min-w-0 truncate font-mono text-[0.75rem]">{variable.name}</code>
                <span className="font-mono text-meta text-text-3" title={variable.digest}>
                  {variable.digest.replace(/^.*:/, '').slice(0, 8)}
                </span>
                <span className="text-meta text-text-3">{variable.source}</span>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section title={e.external}>
        {external.length === 0 ? (
          <p className="text-dense text-text-2">{w.facts.none}</p>
        ) : (
          <table className="w-full text-dense">
            <TableHead columns={[w.facts.kind, w.caps.name, w.caps.status, w.facts.reason]} />
            <tbody>
              {external.map((entry) => (
                <tr key={`${entry.kind}${entry.name}`} className="border-b border-line">
                  <td className="py-1 pr-3">{entry.kind}</td>
                  <td className="py-1 pr-3">{entry.name}</td>
                  <td className={`py-1 pr-3 ${entry.state === 'not_captured' ? 'text-warn' : ''}`}>
                    {e.external_states[entry.state]}
                  </td>
                  <td className="py-1 text-text-2">{entry.reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Section>
    </ScrollArea>
  )
}
