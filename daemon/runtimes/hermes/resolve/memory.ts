import path from 'node:path'
import type { ManifestBody } from '../../../../contract/index.ts'
import { bytesDigest, type Disk } from '../../shared/disk.ts'
import { profileOf } from '../infer-manifest.ts'
import { scan } from './scan.ts'
import { type Layer, settingOf } from './settings.ts'
import { makeSource, type Source } from './sources.ts'
import { pointsOf, readText, strip } from './text.ts'

export interface Memory {
  /** In prompt order. */
  readonly loaded: readonly Source[]
  readonly leftOut: readonly Source[]
  readonly files: ManifestBody['context']['memory']
  readonly enabled: boolean
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

const BAR = '═'.repeat(46)
const BETWEEN = '\n§\n'
const STORES = [
  {
    name: 'MEMORY.md',
    title: 'MEMORY (your personal notes)',
    limit: 2200,
    limitKey: 'memory.memory_char_limit',
    switch: 'memory.memory_enabled',
  },
  {
    name: 'USER.md',
    title: 'USER PROFILE (who the user is)',
    limit: 1375,
    limitKey: 'memory.user_char_limit',
    switch: 'memory.user_profile_enabled',
  },
] as const

/** Two files below the home: a snapshot of them enters the prompt when a session begins (runtime page 5.6, 0.20.0). */
export function resolveMemory(disk: Disk, home: string, layers: readonly Layer[]): Memory {
  const loaded: Source[] = []
  const leftOut: Source[] = []
  const files: ManifestBody['context']['memory'] = []
  const unknown: { field: string; why: string }[] = []
  let enabled = false
  for (const store of STORES) {
    const off = settingOf(layers, store.switch)
    const isOff = off?.value === false
    enabled ||= !isOff
    const file = path.join(home, 'memories', store.name)
    const found = readText(disk, file, true)
    if (found.state === 'missing') continue
    const draft = {
      path: file,
      scope: 'memory',
      kind: 'memory' as const,
      label: store.name,
      raw: 'raw' in found ? found.raw : null,
    }
    if (draft.raw !== null)
      files.push({
        path: file,
        digest: bytesDigest(draft.raw),
        bytes: draft.raw.byteLength,
        truncated: null,
        local_to_machine: true,
        profile: profileOf(home),
      })
    if (found.state !== 'text') {
      leftOut.push(
        makeSource({ ...draft, status: found.state === 'unreadable' ? 'unknown' : 'not_loaded', reason: found.why }),
      )
      if (found.state === 'unreadable') unknown.push({ field: `context.memory ${file}`, why: found.why })
      continue
    }
    if (isOff) {
      leftOut.push(
        makeSource({ ...draft, status: 'not_loaded', reason: `${store.switch} is false in ${off?.origin ?? ''}` }),
      )
      continue
    }
    const given = settingOf(layers, store.limitKey)?.value
    const limit = typeof given === 'number' && given > 0 ? given : store.limit
    const { text, rules, blocked, points } = render(store.title, store.name, found.text, limit)
    if (text === null) {
      leftOut.push(makeSource({ ...draft, status: 'not_loaded', reason: 'it has no entries' }))
      continue
    }
    if (blocked > 0)
      unknown.push({
        field: `instructions.sources ${file}`,
        why: 'the note that stands for a blocked entry is that of the source of upstream main; on a verified version it was not read',
      })
    loaded.push(
      makeSource({
        ...draft,
        status: 'loaded',
        rule: 'a snapshot at the start of the session; writes reach later sessions only (0.20.0)',
        reason:
          blocked > 0
            ? `${blocked} of its entries ${blocked === 1 ? 'was' : 'were'} kept out by the security scan`
            : points > limit
              ? `it is longer than its limit of ${limit} characters and enters in full all the same`
              : null,
        text,
        scan: { result: blocked > 0 ? 'rejected' : 'clean', rules: [...rules] },
        extra: { characters: points, limit, profile: profileOf(home) },
      }),
    )
  }
  return { loaded, leftOut, files, enabled, unknown }
}

interface Rendered {
  readonly text: string | null
  readonly rules: readonly string[]
  readonly blocked: number
  readonly points: number
}

/** Entries are scanned one by one; equal ones count once. */
function render(title: string, name: string, raw: string, limit: number): Rendered {
  const entries = [
    ...new Set(
      raw
        .split(BETWEEN)
        .map(strip)
        .filter((entry) => entry !== ''),
    ),
  ]
  if (entries.length === 0) return { text: null, rules: [], blocked: 0, points: 0 }
  const rules = new Set<string>()
  let blocked = 0
  const shown = entries.map((entry) => {
    const ids = entry.startsWith('[BLOCKED:') ? [] : scan(entry, 'memory')
    if (ids.length === 0) return entry
    blocked++
    for (const id of ids) rules.add(id)
    return `[BLOCKED: ${name} entry contained threat pattern(s): ${ids.join(', ')}. Removed from system prompt; use memory(action=remove) to delete the original.]`
  })
  const content = shown.join(BETWEEN)
  const points = pointsOf(content)
  const percent = Math.min(100, Math.trunc((points / limit) * 100))
  const count = (value: number): string => value.toLocaleString('en-US')
  return {
    text: `${BAR}\n${title} [${percent}% — ${count(points)}/${count(limit)} chars]\n${BAR}\n${content}`,
    rules: [...rules],
    blocked,
    points,
  }
}
