import { createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { link, mkdir, open, rename, unlink } from 'node:fs/promises'
import path from 'node:path'
import { RepriseError } from '../../contract/index.ts'
import { syncFolder } from '../store/durable.ts'

/**
 * Writes a whole file in the place of what is there, if that still is what `expected` says (digest; null: nothing). Mode and, where allowed,
 * owner stay. Readers see the old or the new content. A link at `file` is never written through: the caller gives its target.
 */
export async function writeFileAtomically(file: string, content: Uint8Array, expected: string | null): Promise<void> {
  const folder = path.dirname(file)
  if (expected === null) await mkdir(folder, { recursive: true })
  const before = fs.lstatSync(file, { throwIfNoEntry: false })
  if (before?.isSymbolicLink()) throw new RepriseError('refused', `${file} is a link`)
  const temporary = path.join(folder, `.${path.basename(file)}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(content)
      if (before) {
        await handle.chmod(before.mode & 0o7777)
        if (before.uid !== process.getuid?.() || before.gid !== process.getgid?.())
          await handle.chown(before.uid, before.gid).catch(() => undefined)
      } else await handle.chmod(0o600 | (fs.statSync(folder).mode & 0o044))
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (digestNow(file) !== expected) throw changedMeanwhile(file)
    if (expected === null) {
      // Taking a name fails when somebody else has taken it meanwhile; replacing would not.
      await link(temporary, file).catch((error: unknown) => {
        if (error instanceof Error && 'code' in error && error.code === 'EEXIST') throw changedMeanwhile(file)
        throw error
      })
      await unlink(temporary)
    } else await rename(temporary, file)
  } catch (error) {
    await unlink(temporary).catch(() => undefined)
    throw error
  }
  await syncFolder(folder)
}

export function changedMeanwhile(file: string): RepriseError {
  return new RepriseError(
    'conflict',
    `${file} is not what it was when it was opened`,
    'look at what is there now, then save over it or take it over; nothing was written',
  )
}

function digestNow(file: string): string | null {
  try {
    return `sha256:${createHash('sha256').update(fs.readFileSync(file)).digest('hex')}`
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
