import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, rename, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Errors with which Windows and virus scanners answer while somebody else holds the target open (R28). */
const PASSING = new Set(['EPERM', 'EACCES', 'EBUSY'])

export interface RetryPlan {
  /** Waits between attempts, in milliseconds; when they are used up the last error is thrown. */
  readonly waits: readonly number[]
  readonly sleep: (milliseconds: number) => Promise<void>
}

/** About five seconds in all: longer than a scanner or an editor holds a file, shorter than anybody waits. */
export const RENAME_RETRY: RetryPlan = {
  waits: [10, 20, 40, 80, 150, 300, 500, 500, 700, 900, 900, 900],
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
}

/** Makes a rename or a new file in a folder survive a power cut. Folders cannot be synced everywhere (Windows): then nothing is done. */
export async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle | undefined
  try {
    handle = await open(folder, constants.O_RDONLY)
    await handle.sync()
  } catch (error) {
    if (!['EISDIR', 'EPERM', 'EACCES', 'EINVAL', 'ENOTSUP', 'ENOENT'].includes(codeOf(error))) throw error
  } finally {
    await handle?.close()
  }
}

/**
 * Replaces a file so that a reader sees the old or the new content, whole: unique temporary file, fsync, rename, fsync of the folder.
 * Mode 0600. On failure the temporary file is removed and the target is what it was.
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  retry: RetryPlan = RENAME_RETRY,
  move: (from: string, to: string) => Promise<void> = rename,
): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    for (let attempt = 0; ; attempt += 1) {
      try {
        await move(temporary, path)
        break
      } catch (error) {
        const wait = retry.waits[attempt]
        if (wait === undefined || !PASSING.has(codeOf(error))) throw error
        await retry.sleep(wait)
      }
    }
  } catch (error) {
    await unlink(temporary).catch(() => {})
    throw error
  }
  await syncFolder(dirname(path))
}

export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
