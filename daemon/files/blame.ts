import { diffArrays } from 'diff'
import type { BlamedLine, FileVersion } from '../../contract/index.ts'
import type { Redactor } from '../secrets/redactor.ts'
import { linesOf, readTextForm } from './text-form.ts'
import { contentOf, type FileParts } from './versions.ts'

/** Versions looked at, newest first; older lines are told as of the oldest of them. */
const MOST_VERSIONS = 400

export interface Blame {
  readonly lines: readonly BlamedLine[]
  readonly complete: boolean
  readonly why: string | null
}

/**
 * Which state each line of the newest text came with: the texts of all kept states are laid side by side, oldest first. Texts are covered
 * before they are told; a secret keeps its number of lines.
 */
export async function blameLines(
  files: FileParts,
  versions: readonly FileVersion[],
  now: Uint8Array,
  redactor: Pick<Redactor, 'redact'>,
): Promise<Blame> {
  const looked = versions.slice(0, MOST_VERSIONS)
  let lines: readonly string[] = []
  let owners: readonly (FileVersion | null)[] = []
  let missing = 0
  const lay = (bytes: Uint8Array, owner: FileVersion | null): boolean => {
    const form = readTextForm(bytes)
    if (form === null) return false
    const next = linesOf(form.text).map((line) => line.replace(/\n$/, ''))
    const nextOwners: (FileVersion | null)[] = []
    let from = 0
    for (const part of diffArrays([...lines], next)) {
      if (part.removed) from += part.count
      else if (part.added) for (let n = 0; n < part.count; n += 1) nextOwners.push(owner)
      else {
        for (let n = 0; n < part.count; n += 1) nextOwners.push(owners[from + n] ?? null)
        from += part.count
      }
    }
    lines = next
    owners = nextOwners
    return true
  }
  for (const version of [...looked].reverse()) {
    if (version.deleted) {
      lines = []
      owners = []
      continue
    }
    const bytes = await contentOf(files, version).catch(() => null)
    if (bytes === null || !lay(bytes, version)) missing += 1
  }
  lay(now, looked[0] ?? null)
  const form = readTextForm(now)
  const shown = form === null ? [] : linesOf(redactor.redact(form.text).text)
  const whys = [
    ...(missing > 0 ? [`${missing} of ${looked.length} states are known by digest only`] : []),
    ...(versions.length > looked.length ? [`only the newest ${looked.length} states were looked at`] : []),
    ...(versions.length === 0 ? ['no state of it was kept yet'] : []),
  ]
  return {
    lines: owners.map((owner, at) => ({
      line: at + 1,
      text: (shown[at] ?? '').replace(/\n$/, ''),
      version: owner?.id ?? null,
      at: owner?.at ?? null,
      writer: owner?.writer ?? { who: 'unknown', run: null, seq: null, at: null },
    })),
    complete: whys.length === 0,
    why: whys.join('; ') || null,
  }
}
