import fs from 'node:fs'
import path from 'node:path'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.map': 'application/json',
}

export interface Page {
  readonly body: Uint8Array<ArrayBuffer>
  readonly type: string
  /** Named by its content: may be kept for ever. */
  readonly immutable: boolean
}

/** A file of the built window. Addresses that are no file are places inside the window and get its page; nothing outside `folder` is read. */
export const readPage = (folder: string, address: string): Page | null => {
  let decoded: string
  try {
    decoded = decodeURIComponent(address)
  } catch {
    return null
  }
  const file = path.join(folder, path.posix.normalize(`/${decoded}`))
  if (decoded.includes('\0') || !file.startsWith(folder + path.sep)) return null
  const ending = path.extname(file)
  const known = types[ending]
  if (known && isFile(file))
    return { body: new Uint8Array(fs.readFileSync(file)), type: known, immutable: decoded.startsWith('/assets/') }
  if (decoded.startsWith('/assets/')) return null
  const index = path.join(folder, 'index.html')
  return isFile(index)
    ? { body: new Uint8Array(fs.readFileSync(index)), type: types['.html'] as string, immutable: false }
    : null
}

const isFile = (file: string): boolean => {
  try {
    return fs.statSync(file).isFile()
  } catch {
    return false
  }
}
