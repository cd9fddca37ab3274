import { createHash, type Hash, randomBytes } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, rmSync } from 'node:fs'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import path from 'node:path'
import { PRODUCT_VERSION } from '../../contract/index.ts'
import type { Cleared, Passage } from '../secrets/egress.ts'
import type { ExportFile } from './export-file.ts'
import { type TarEntry, writeTarGz } from './tar.ts'

export const BUNDLE_FORMAT = 'reprise-bundle'
/** Grows when a reader of an older version could not understand a bundle. */
export const BUNDLE_VERSION = 1

export interface BundleEntry {
  readonly name: string
  readonly bytes: number
  readonly digest: string
  /** What it is, in a few words; stands in the table of contents. */
  readonly what: string
}

/** Gathers files in a folder of the data directory and packs them. What is large never lies in memory. */
export interface BundleWriter {
  /** A whole file. */
  add(name: string, what: string, text: Cleared): Promise<void>
  /** A file that is written piece by piece; close it before the next one is begun. */
  begin(name: string, what: string): Promise<{ write(text: Cleared): Promise<void>; close(): Promise<void> }>
  /** Adds the table of contents and packs everything into `file`. */
  pack(about: Readonly<Record<string, unknown>>, readme: readonly string[], file: ExportFile): Promise<void>
  remove(): Promise<void>
}

const GATHERED = 'export-'

/** Removes what an export had gathered that was killed. Only for the one writer, before it begins one. */
export const clearExports = (dataDir: string): void => {
  const folder = path.join(dataDir, 'tmp')
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    if (name.startsWith(GATHERED)) rmSync(path.join(folder, name), { recursive: true, force: true })
}

export async function openBundle(dataDir: string, passage: Passage, now: Date): Promise<BundleWriter> {
  const folder = path.join(dataDir, 'tmp', `${GATHERED}${randomBytes(6).toString('hex')}`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const entries: BundleEntry[] = []
  const scratch = (n: number) => path.join(folder, String(n))

  const begin: BundleWriter['begin'] = async (name, what) => {
    const handle: FileHandle = await open(scratch(entries.length), 'wx', 0o600)
    const hash: Hash = createHash('sha256')
    let bytes = 0
    return {
      async write(text) {
        const chunk = Buffer.from(text, 'utf8')
        hash.update(chunk)
        bytes += chunk.length
        await handle.writeFile(chunk)
      },
      async close() {
        await handle.close()
        entries.push({ name, bytes, digest: `sha256:${hash.digest('hex')}`, what })
      },
    }
  }
  const add: BundleWriter['add'] = async (name, what, text) => {
    const entry = await begin(name, what)
    await entry.write(text)
    await entry.close()
  }

  async function* tarEntries(): AsyncGenerator<TarEntry> {
    // The last two are index and explanation; readers find them first.
    const order = entries.map((entry, n) => ({ ...entry, n }))
    for (const { name, bytes, n } of [...order.slice(-2).reverse(), ...order.slice(0, -2)])
      yield { name, size: bytes, content: createReadStream(scratch(n)) }
  }

  return {
    add,
    begin,
    async pack(about, readme, file) {
      const contents = [...entries]
      const index = {
        format: BUNDLE_FORMAT,
        version: BUNDLE_VERSION,
        made_at: now.toISOString(),
        made_by: `reprise ${PRODUCT_VERSION}`,
        ...about,
        redactions: passage.redactions,
        entries: contents,
      }
      await add('index.json', 'this list', passage.json(index, 2))
      const table = contents.map(({ name, bytes, what }) => `| \`${name}\` | ${bytes} | ${what} |`)
      const text = [
        ...readme,
        '',
        '## Contents',
        '',
        '| file | bytes | what |',
        '|---|---|---|',
        ...table,
        '',
        `Every file is named in \`index.json\` with its SHA-256. Secrets are covered by placeholders of the form`,
        '`‹secret:family:digest›`: equal ones stand for equal secrets, and nothing can be guessed back from them.',
        '',
      ]
      await add('README.md', 'what this is', passage.text(text.join('\n')))
      await writeTarGz(tarEntries(), now, (chunk) => file.writePacked(chunk))
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
