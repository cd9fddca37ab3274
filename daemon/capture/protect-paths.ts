import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { RepriseError, type RollbackRecord } from '../../contract/index.ts'
import type { Redactor } from '../secrets/redactor.ts'
import type { Vault } from '../secrets/vault.ts'
import type { LargeObjects, SafetyContent, SafetySnapshots } from '../store/states.ts'

export interface ProtectParts {
  readonly safety: Pick<SafetySnapshots, 'put'>
  readonly large: Pick<LargeObjects, 'put'>
  readonly vault: Pick<Vault, 'put'>
  readonly redactor: Redactor
  readonly now: () => Date
}

/** From here on a content is kept by hash instead of as an object. */
const LARGE = 8 * 1024 * 1024

/**
 * The safety snapshot of a rollback: what is at each path now, read once and kept as it is. Throws `conflict` where that is not what the plan
 * saw, and the error of the disk where it cannot be read: then nothing is changed (rule 2).
 */
export async function protectPaths(
  parts: ProtectParts,
  record: RollbackRecord,
  paths: readonly { readonly path: string; readonly digest: string | null }[],
): Promise<void> {
  const kept: { path: string; was: { kind: 'file' | 'link'; mode: number; content: SafetyContent } | null }[] = []
  for (const { path, digest } of paths) {
    const at = Buffer.from(path, 'latin1')
    const stat = lstat(at)
    const mode = (stat?.mode ?? 0) & 0o7777
    if (stat === null || stat.isDirectory()) {
      if (digest !== null) throw changed(at)
      kept.push({ path, was: null })
    } else if (stat.isSymbolicLink()) {
      const target = fs.readlinkSync(at, { encoding: 'buffer' })
      if (digestOf(target) !== digest) throw changed(at)
      kept.push({ path, was: { kind: 'link', mode, content: target } })
    } else if (stat.isFile())
      kept.push({ path, was: { kind: 'file', mode, content: await keep(parts, record, at, digest) } })
    else throw new RepriseError('refused', `${at.toString()} is neither file nor link and cannot be kept`)
  }
  await parts.safety.put(record, kept)
}

async function keep(
  { large, vault, redactor, now }: ProtectParts,
  { id }: RollbackRecord,
  at: Buffer,
  digest: string | null,
): Promise<SafetyContent> {
  const size = fs.statSync(at).size
  if (size >= LARGE) {
    const put = await large.put(fs.createReadStream(at))
    if (put.digest !== digest) throw changed(at)
    return { large: put.digest, bytes: put.bytes }
  }
  const content = fs.readFileSync(at)
  if (digestOf(content) !== digest) throw changed(at)
  const families = redactor.find(content.toString('latin1')).map(({ family }) => family)
  if (families.length === 0) return content
  const ref = `safety:${id}:${digest}`
  const about = {
    v: 1 as const,
    ref,
    classification: 'secret' as const,
    source: redactor.redact(at.toString()).text,
    families: [...new Set(families)].sort(),
    at: now().toISOString(),
  }
  await vault.put([{ about, content }])
  return { vault: ref, mark: redactor.keyed(content), bytes: content.length, digest }
}

function lstat(at: Buffer): fs.Stats | null {
  try {
    return fs.lstatSync(at)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
}

const digestOf = (content: Uint8Array): string => `sha256:${createHash('sha256').update(content).digest('hex')}`
const changed = (at: Buffer): RepriseError =>
  new RepriseError('conflict', `${at.toString()} changed while it was being protected.`, 'Look at the plan again.')
