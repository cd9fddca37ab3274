import path from 'node:path'
import type { Disk } from '../../shared/disk.ts'
import type { StartFlags } from './flags.ts'
import type { Layers, Problem } from './layers.ts'
import { type PrefixRule, readPrefixRules } from './prefix-rules.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'
import { byBytes } from './values.ts'

export interface RuleInForce extends PrefixRule {
  readonly file: string
  /** Null, or why it does not count. */
  readonly ignored: string | null
}

export interface ResolvedRules {
  readonly rules: readonly RuleInForce[]
  readonly sources: readonly Source[]
  readonly problems: readonly Problem[]
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

/** Rules for commands: `rules/*.rules` beside the files of the system, user and project layers (0.171.0). */
export function resolveRules(disk: Disk, layers: Layers, flags: StartFlags): ResolvedRules {
  const rules: RuleInForce[] = []
  const sources: Source[] = []
  const problems: Problem[] = []
  const unknown: { field: string; why: string }[] = []
  for (const layer of [...layers.all].reverse()) {
    if (layer.folder === null || layer.name === 'profile' || layer.name === 'managed') continue
    const folder = path.join(layer.folder, 'rules')
    const listing = disk.list(folder)
    if (listing.state === 'unreadable') unknown.push({ field: 'policy.permissions', why: `${folder}: ${listing.why}` })
    if (listing.state !== 'ok') continue
    const off =
      layer.disabled ?? (flags.has('--ignore-rules') && layer.name !== 'system' ? '--ignore-rules leaves it out' : null)
    for (const { name } of [...listing.entries].sort((a, b) => byBytes(a.name, b.name))) {
      if (!name.endsWith('.rules')) continue
      const file = path.join(folder, name)
      const found = disk.read(file)
      const draft = {
        path: file,
        scope: layer.name,
        kind: 'settings' as const,
        label: 'exec rules',
        rule: `rules of all folders add up; forbidden wins over prompt, prompt over allow (${VERIFIED_VERSION})`,
      }
      if (found.state === 'directory' || found.state === 'missing') continue
      if (found.state !== 'ok') {
        const why = found.state === 'unreadable' ? found.why : `too large (${found.size} bytes)`
        sources.push(makeSource({ ...draft, status: 'unknown', reason: why }))
        continue
      }
      const read = readPrefixRules(found.bytes.toString('utf8'))
      const [broken] = read.errors
      const reason = off ?? (broken ? `the program does not start: line ${broken.line}: ${broken.why}` : null)
      sources.push(
        makeSource({ ...draft, status: reason === null ? 'loaded' : 'not_loaded', reason, raw: found.bytes }),
      )
      for (const rule of read.rules) rules.push({ ...rule, file, ignored: reason })
      if (off !== null) continue
      for (const { line, why } of read.errors)
        problems.push({ path: file, message: `line ${line}: ${why}; the program does not start` })
      for (const line of read.computed)
        unknown.push({
          field: 'policy.permissions',
          why: `${file} line ${line}: the rule is computed, which is not followed here`,
        })
    }
  }
  return { rules, sources, problems, unknown }
}

/** `git push|fetch` for the words `git` and one of `push` and `fetch`. */
export const patternText = ({ pattern }: PrefixRule): string =>
  pattern.map((word) => (typeof word === 'string' ? quote(word) : word.map(quote).join('|'))).join(' ')

const quote = (word: string): string => (/^[^\s|"]+$/.test(word) ? word : JSON.stringify(word))
