import { createGzip } from 'node:zlib'

/** One file of a bundle. Names are ours: ASCII, relative, at most 100 characters. */
export interface TarEntry {
  readonly name: string
  readonly size: number
  readonly content: AsyncIterable<Uint8Array> | readonly Uint8Array[]
}

const BLOCK = 512

/**
 * A `.tar.gz` of plain files (POSIX ustar). Owner, time and mode are fixed, so equal content gives equal bytes. Throws for a content that is
 * not as long as it was said to be, as the rest of the archive could not be read then.
 */
export async function writeTarGz(
  entries: AsyncIterable<TarEntry>,
  mtime: Date,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  const gzip = createGzip({ level: 6 })
  const written = (async () => {
    for await (const chunk of gzip) await write(chunk as Buffer)
  })()
  const push = (chunk: Uint8Array): Promise<void> =>
    new Promise((resolve, reject) => gzip.write(chunk, (error) => (error ? reject(error) : resolve())))
  try {
    for await (const { name, size, content } of entries) {
      await push(headOf(name, size, mtime))
      let got = 0
      for await (const chunk of content) {
        got += chunk.length
        await push(chunk)
      }
      if (got !== size) throw new Error(`${name} has ${got} bytes instead of ${size}`)
      if (size % BLOCK > 0) await push(Buffer.alloc(BLOCK - (size % BLOCK)))
    }
    await push(Buffer.alloc(2 * BLOCK))
    gzip.end()
  } catch (error) {
    gzip.destroy()
    await written.catch(() => undefined)
    throw error
  }
  await written
}

function headOf(name: string, size: number, mtime: Date): Buffer {
  if (!/^[\x21-\x7e]{1,100}$/.test(name)) throw new Error(`not a name for a bundle: ${JSON.stringify(name)}`)
  const head = Buffer.alloc(BLOCK)
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`
  const put = (text: string, at: number) => head.write(text, at, 'latin1')
  put(name, 0)
  put(octal(0o600, 8), 100)
  put(octal(0, 8), 108)
  put(octal(0, 8), 116)
  // Sizes from 8 GB on have no octal form in this field; GNU's binary one is read everywhere.
  if (size < 8 ** 11) put(octal(size, 12), 124)
  else {
    head.writeUInt8(0x80, 124)
    head.writeBigUInt64BE(BigInt(size), 128)
  }
  put(octal(Math.floor(mtime.getTime() / 1000), 12), 136)
  put('        ', 148)
  put('0', 156)
  put('ustar\u000000', 257)
  let sum = 0
  for (const byte of head) sum += byte
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return head
}
