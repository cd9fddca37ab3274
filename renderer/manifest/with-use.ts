import type { Manifest } from '../../contract/manifest.ts'
import type { RunUse } from '../../contract/use.ts'

const texts = ['rule', 'instructions', 'memory']

/** The manifest with what its run really used filled in where the manifest cannot tell: one is frozen before anything is used (R93). */
export function withUse(manifest: Manifest, use: RunUse | undefined): Manifest {
  if (use === undefined) return manifest
  const plain = (name: string) => name.replace(/@.*$/, '')
  const answer = (own: boolean | null, name: string, used: readonly string[], unused: readonly string[]) => {
    if (own !== null) return own
    if (use.used.some((item) => used.includes(item.kind) && (item.name === name || item.name === plain(name))))
      return true
    return use.unused.some((item) => unused.includes(item.kind) && item.name === name) ? false : null
  }
  const fill =
    (used: readonly string[], unused: readonly string[] = used) =>
    <T extends { readonly name: string; readonly used: boolean | null }>(entry: T): T => ({
      ...entry,
      used: answer(entry.used, entry.name, used, unused),
    })
  const { capabilities, instructions } = manifest
  return {
    ...manifest,
    instructions: {
      ...instructions,
      sources: instructions.sources.map((source) => ({
        ...source,
        used: answer(source.used, source.path ?? source.uri, texts, ['rule']),
      })),
    },
    capabilities: {
      ...capabilities,
      skills: capabilities.skills.map(fill(['skill', 'command'], ['skill'])),
      commands: capabilities.commands.map(fill(['skill', 'command'], ['command'])),
      agents: capabilities.agents.map(fill(['agent'])),
      plugins: capabilities.plugins.map(fill(['plugin'])),
      hooks: capabilities.hooks.map(fill(['hook'])),
      tools: capabilities.tools.map(fill(['tool', 'mcp tool'], ['tool'])),
    },
  }
}
