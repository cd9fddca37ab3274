import { open } from 'node:fs/promises'
import { gunzipSync, constants as zlib } from 'node:zlib'

const LOOKED_AT = 64 * 1024

/** Said in the head of a page, so that it can be known again. */
export const HTML_MARK = '<meta name="generator" content="Reprise export">'

const BEGINNINGS: readonly RegExp[] = [
  /^\{"format":"reprise-run",/,
  /^\{"type":"run","format":"reprise-run",/,
  // A title, then the run: what every page of a run begins with.
  /^# .+\n\n- \*\*run\*\*: r\\?_/,
]

/** Whether a file begins like something an export of ours wrote. Unreadable files do not. */
export async function isOurExport(file: string): Promise<boolean> {
  const handle = await open(file, 'r').catch(() => null)
  if (handle === null) return false
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(LOOKED_AT), 0, LOOKED_AT, 0)
    const head = buffer.subarray(0, bytesRead)
    if (head[0] === 0x1f && head[1] === 0x8b) return isOurBundle(head)
    const text = head.toString('utf8')
    if (text.startsWith('<!doctype html>')) return (text.split('<style>')[0] ?? '').includes(HTML_MARK)
    return BEGINNINGS.some((beginning) => beginning.test(text))
  } catch {
    return false
  } finally {
    await handle.close()
  }
}

/** The first file of a bundle explains it. */
function isOurBundle(head: Buffer): boolean {
  const start = gunzipSync(head, { finishFlush: zlib.Z_SYNC_FLUSH }).toString('latin1', 0, 2048)
  return start.startsWith('README.md\0') && start.includes('exported by Reprise')
}
