import { type ReactNode, useState } from 'react'
import type { Manifest, ManifestCapability, ManifestMcpServer } from '../../contract/manifest.ts'
import { Digest } from '../parts/digest.tsx'
import { Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { Section, TableHead } from '../parts/tables.tsx'
import { words } from '../words/en.ts'
import { ListFilter } from './list-filter.tsx'
import { Used } from './sources-tab.tsx'

const w = words.manifest
const c = w.caps

/** What the agent could do: declared and used are told apart (R93), and an absent one names the filter that removed it (R45). */
export function CapabilitiesTab({ manifest }: { readonly manifest: Manifest }) {
  const [text, setText] = useState('')
  const [neverUsed, setNeverUsed] = useState(false)
  const { capabilities, empty } = manifest
  const wanted = text.trim().toLowerCase()
  const fits = (name: string, used: boolean | null | undefined) =>
    (!neverUsed || used === false) && (wanted === '' || name.toLowerCase().includes(wanted))
  const why = (...categories: readonly string[]) =>
    empty.find((entry) => categories.some((category) => entry.category.toLowerCase() === category.toLowerCase()))
      ?.why ?? null
  const lists = (['skills', 'commands', 'agents', 'plugins', 'hooks'] as const).map((name) => ({
    name,
    all: capabilities[name],
  }))
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <ListFilter text={text} onText={setText} neverUsed={neverUsed} onNeverUsed={setNeverUsed} />
      <ScrollArea className="pb-6">
        <Group title={c.tools} count={capabilities.tools.length} why={why('tools', 'capabilities.tools')}>
          <TableHead columns={[c.name, c.status, c.used, c.digest]} />
          <tbody>
            {capabilities.tools
              .filter((tool) => fits(tool.name, tool.used))
              .map((tool) => (
                <tr key={tool.name} className="border-b border-line">
                  <Name>{tool.name}</Name>
                  <td className="py-1 pr-3">
                    {tool.removed_by === null ? (
                      c.states.active
                    ) : (
                      <span className="text-warn">{c.removedBy(tool.removed_by)}</span>
                    )}
                    {tool.policy_profile !== null && (
                      <span className="text-text-2"> {c.policyProfile(tool.policy_profile)}</span>
                    )}
                  </td>
                  <td className="py-1 pr-3">
                    <Used used={tool.used} />
                  </td>
                  <td className="py-1">
                    {tool.schema_digest === null ? <Unknown /> : <Digest digest={tool.schema_digest} />}
                  </td>
                </tr>
              ))}
          </tbody>
        </Group>
        <Group
          title={c.mcp_servers}
          count={capabilities.mcp_servers.length}
          why={why('mcp_servers', 'capabilities.mcp_servers', 'mcp servers')}
        >
          <TableHead columns={[c.name, c.status, c.version, c.tools, c.source]} />
          <tbody>
            {capabilities.mcp_servers
              .filter((server) => fits(server.name, null) || (!neverUsed && wanted === ''))
              .map((server) => (
                <McpRow key={`${server.name}${server.source}`} server={server} />
              ))}
          </tbody>
        </Group>
        {lists.map(({ name, all }) => (
          <Group key={name} title={c[name]} count={all.length} why={why(name, `capabilities.${name}`)}>
            <TableHead columns={[c.name, c.status, c.version, c.used, c.digest, c.source]} />
            <tbody>
              {all
                .filter((entry) => fits(entry.name, entry.used))
                .map((entry) => (
                  <CapabilityRow key={`${entry.name}${entry.source}`} entry={entry} />
                ))}
            </tbody>
          </Group>
        ))}
      </ScrollArea>
    </div>
  )
}

function Group({
  title,
  count,
  why,
  children,
}: {
  readonly title: string
  readonly count: number
  readonly why: string | null
  readonly children: ReactNode
}) {
  return (
    <Section title={`${title} ${count}`}>
      {count === 0 ? (
        <p className="text-dense text-text-2">{why === null ? c.empty : c.emptyBecause(why)}</p>
      ) : (
        <table className="w-full text-dense">{children}</table>
      )}
    </Section>
  )
}

function Name({ children }: { readonly children: ReactNode }) {
  return (
    <th scope="row" className="max-w-72 py-1 pr-3 text-left font-normal break-words">
      {children}
    </th>
  )
}

function State({ status, reason }: { readonly status: keyof typeof c.states; readonly reason: string | null }) {
  return (
    <>
      {status === 'unknown' ? (
        <Unknown why={reason} />
      ) : (
        <span className={status === 'shadowed' || status === 'disabled' ? 'text-warn' : ''}>{c.states[status]}</span>
      )}
      {reason !== null && <span className="text-text-2">: {reason}</span>}
    </>
  )
}

function CapabilityRow({ entry }: { readonly entry: ManifestCapability }) {
  return (
    <tr className="border-b border-line align-top">
      <Name>{entry.name}</Name>
      <td className="py-1 pr-3">
        <State status={entry.status} reason={entry.reason} />
      </td>
      <td className="py-1 pr-3 whitespace-nowrap">{entry.version ?? <Unknown />}</td>
      <td className="py-1 pr-3">
        <Used used={entry.used} />
      </td>
      <td className="py-1 pr-3">{entry.digest === null ? <Unknown /> : <Digest digest={entry.digest} />}</td>
      <td className="max-w-72 py-1">
        <PathText path={entry.source} />
      </td>
    </tr>
  )
}

function McpRow({ server }: { readonly server: ManifestMcpServer }) {
  return (
    <tr className="border-b border-line align-top">
      <Name>
        {server.name}
        <span className="block font-mono text-[0.75rem] text-text-3">
          {server.command ?? server.url ?? server.transport}
        </span>
      </Name>
      <td className="py-1 pr-3">
        <State status={server.status} reason={server.reason} />
      </td>
      <td className="py-1 pr-3">
        <span title={server.package_from}>
          {server.package_version ?? <Unknown why={server.package_from ?? null} />}
        </span>
        {server.package_floating === true && <span className="block text-meta text-warn">{c.floating}</span>}
      </td>
      <td className="py-1 pr-3">
        {server.tools === null ? (
          <Unknown>{c.toolsUnknown}</Unknown>
        ) : (
          <span title={server.tools.map((tool) => tool.name).join(', ')}>{c.toolsOf(server.tools.length)}</span>
        )}
      </td>
      <td className="max-w-72 py-1">
        <PathText path={server.source} /> <span className="text-text-3">{server.scope}</span>
      </td>
    </tr>
  )
}
