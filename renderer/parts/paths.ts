import type { Status } from '../../contract/home.ts'

/** The viewer's home folder, as far as the default places of the agents tell it; null when none of them is in use. */
export function homeFolder(status: Status | undefined): string | null {
  for (const home of status?.homes ?? []) {
    const found = /^(.+)[/\\]\.(?:claude|codex|openclaw|hermes)$/.exec(home.path)?.[1]
    if (found !== undefined) return found
  }
  return null
}

export const withTilde = (path: string, base: string | null) =>
  base !== null && (path === base || path.startsWith(`${base}/`) || path.startsWith(`${base}\\`))
    ? `~${path.slice(base.length)}`
    : path

/** The last part, with its separator, and what stands before it. */
export function splitPath(path: string): { readonly head: string; readonly tail: string } {
  const at = Math.max(path.lastIndexOf('/', path.length - 2), path.lastIndexOf('\\', path.length - 2))
  return at <= 0 ? { head: '', tail: path } : { head: path.slice(0, at), tail: path.slice(at) }
}

export const lastPart = (path: string) => splitPath(path).tail.replace(/^[/\\]/, '')

/** A text with paths below the workspace shown from there. */
export const inside = (text: string, workspace: string | null): string =>
  workspace === null ? text : text.replaceAll(`${workspace}/`, '')
