import { randomBytes } from 'node:crypto'
import { type FileHandle, link, lstat, open, realpath, rename, stat, unlink } from 'node:fs/promises'
import path from 'node:path'
import { RepriseError } from '../../contract/index.ts'
import type { Cleared } from '../secrets/egress.ts'
import { codeOf, syncFolder } from '../store/durable.ts'
import { isOurExport } from './our-export.ts'

export interface ExportTarget {
  /** As given; absolute. */
  readonly file: string
  readonly replace: boolean
  /** Folders nothing may be written into: homes of agents, our own data. */
  readonly closed: readonly string[]
}

/** A file that appears whole under its name, or not at all; only its owner can read it. */
export interface ExportFile {
  readonly path: string
  write(text: Cleared): Promise<void>
  /** Bytes of a container whose content went through the gate already. */
  writePacked(bytes: Uint8Array): Promise<void>
  /** Gives its size. Throws `conflict` when somebody else made the file meanwhile. */
  finish(): Promise<number>
  /** Leaves nothing behind. May be called at any time; after `finish` it does nothing. */
  abandon(): Promise<void>
}

/** Checks where the file is to be and begins it under another name beside it. Throws a coded error that names the path. */
export async function openExportFile({ file, replace, closed }: ExportTarget): Promise<ExportFile> {
  const target = await placeOf(file, closed)
  await requireFree(target, replace)
  const temporary = path.join(path.dirname(target), `.${path.basename(target)}.${randomBytes(6).toString('hex')}.tmp`)
  const handle = await openNew(temporary, target)
  const buffered: string[] = []
  let waiting = 0
  let bytes = 0
  let state: 'open' | 'finished' | 'gone' = 'open'
  const put = async (chunk: Uint8Array) => {
    await handle.writeFile(chunk)
    bytes += chunk.length
  }
  const flush = async () => {
    if (buffered.length === 0) return
    const chunk = Buffer.from(buffered.join(''), 'utf8')
    buffered.length = 0
    waiting = 0
    await put(chunk)
  }
  const abandon = async () => {
    if (state !== 'open') return
    state = 'gone'
    await handle.close().catch(() => undefined)
    await unlink(temporary).catch(() => undefined)
  }
  return {
    path: target,
    async write(text) {
      buffered.push(text)
      waiting += text.length
      if (waiting > 256 * 1024) await flush()
    },
    async writePacked(chunk) {
      await flush()
      await put(chunk)
    },
    async finish() {
      await flush()
      await handle.sync()
      await handle.close()
      await (replace ? rename(temporary, target) : giveName(temporary, target))
      state = 'finished'
      await syncFolder(path.dirname(target))
      return bytes
    },
    abandon,
  }
}

async function placeOf(file: string, closed: readonly string[]): Promise<string> {
  if (!path.isAbsolute(file))
    throw new RepriseError('wrong_usage', `file: ${file} is no absolute path`, 'give a full path')
  const given = path.resolve(file)
  const folder = await realpath(path.dirname(given)).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error)))
      throw new RepriseError('not_found', `file: ${path.dirname(given)} is not there`, 'make the folder first')
    throw new RepriseError('refused', `file: ${path.dirname(given)} cannot be looked at (${codeOf(error)})`)
  })
  const target = path.join(folder, path.basename(given))
  if (target.split(path.sep).includes('.git'))
    throw new RepriseError(
      'refused',
      `file: ${target} is inside .git`,
      'no file of a repository is ever changed; choose another folder',
    )
  for (const outer of closed) {
    const real = await realpath(outer).catch(() => outer)
    if (target === real || target.startsWith(real + path.sep))
      throw new RepriseError(
        'refused',
        `file: ${target} is inside ${real}, which is only read`,
        'choose another folder',
      )
  }
  return target
}

async function requireFree(target: string, replace: boolean): Promise<void> {
  const found = await lstat(target).catch(() => null)
  if (found === null) return
  if ((await stat(target).catch(() => found)).isDirectory())
    throw new RepriseError('wrong_usage', `file: ${target} is a folder`, 'name a file in it')
  if (!replace) throw exists(target)
  if (!found.isFile()) throw new RepriseError('refused', `file: ${target} is no ordinary file`, 'choose another name')
  // A name typed by mistake must not cost a file of somebody's project, least of all configuration of an agent.
  if (!(await isOurExport(target)))
    throw new RepriseError(
      'refused',
      `file: ${target} was not written by an export of Reprise, and is not replaced`,
      'choose another name, or remove the file first',
    )
}

const exists = (target: string) =>
  new RepriseError('conflict', `file: ${target} is already there`, 'choose another name, or replace it (--replace)')

async function openNew(temporary: string, target: string): Promise<FileHandle> {
  try {
    return await open(temporary, 'wx', 0o600)
  } catch (error) {
    throw new RepriseError('refused', `file: ${target} cannot be written (${codeOf(error)})`, 'choose another folder')
  }
}

/** Takes the name only when it is still free. */
async function giveName(temporary: string, target: string): Promise<void> {
  try {
    await link(temporary, target)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw exists(target)
    // A file system without links: the name was free a moment ago.
    if ((await lstat(target).catch(() => null)) !== null) throw exists(target)
    return rename(temporary, target)
  }
  await unlink(temporary)
}
