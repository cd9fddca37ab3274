import { createHash } from 'node:crypto'
import type { Digest } from '../../contract/index.ts'
import { RepriseError } from '../../contract/index.ts'
import type {
  FileMode,
  Kept,
  LargeObjects,
  StateAbout,
  StateChange,
  StateEntry,
  TreeId,
  WorkspaceId,
  WorkspaceState,
  WorkspaceStates,
} from '../../daemon/store/states.ts'

interface Held {
  readonly mode: FileMode
  readonly oid: string
}

/** States in memory, with the tree ids Git would give; for tests of what makes states, not of what keeps them. */
export function memoryStates(): WorkspaceStates & {
  readonly appended: { changes: readonly StateChange[]; about: StateAbout }[]
} {
  const trees = new Map<string, ReadonlyMap<string, Held>>()
  const blobs = new Map<string, { readonly content: Buffer; readonly kept: Kept }>()
  const chains = new Map<WorkspaceId, WorkspaceState[]>()
  const appended: { changes: readonly StateChange[]; about: StateAbout }[] = []

  const put = (content: Buffer, kept: Kept): string => {
    const oid = objectId('blob', content)
    blobs.set(oid, { content, kept })
    return oid
  }
  const hold = (change: StateChange): Held => {
    if ('gone' in change) throw new Error('gone')
    const { mode } = change
    if ('content' in change) {
      const pieces = change.content instanceof Uint8Array ? [change.content] : change.content
      return { mode, oid: put(Buffer.concat(pieces), { as: 'blob' }) }
    }
    if ('oid' in change) return { mode, oid: change.oid }
    const { bytes } = change
    const kept: Kept =
      'large' in change
        ? { as: 'large', digest: change.large, bytes }
        : 'vault' in change
          ? { as: 'vault', ref: change.vault, mark: change.mark, bytes }
          : { as: 'unkept', why: change.unkept, mark: change.mark, bytes }
    return { mode, oid: put(Buffer.from(JSON.stringify(kept)), kept) }
  }
  const filesOf = (tree: TreeId | null) => (tree === null ? new Map<string, Held>() : (trees.get(tree) ?? new Map()))

  return {
    appended,
    list: async () => [...chains.keys()],
    tip: async (id) => chains.get(id)?.at(-1) ?? null,
    async append(id, parent, changes, about) {
      const chain = chains.get(id) ?? []
      const tip = chain.at(-1)
      if ((tip?.commit ?? null) !== parent) throw new RepriseError('conflict', 'the state moved')
      const files = new Map(filesOf(tip?.tree ?? null))
      for (const change of changes) {
        if (/(?:^|\/)\.git(?:\/|$)/i.test(change.path)) throw new Error(`refused: ${change.path}`)
        for (const path of [...files.keys()])
          if (path === change.path || path.startsWith(`${change.path}/`)) files.delete(path)
        if ('gone' in change) continue
        for (let at = change.path.lastIndexOf('/'); at > 0; at = change.path.lastIndexOf('/', at - 1))
          if (files.has(change.path.slice(0, at))) throw new Error(`a file is where a folder goes: ${change.path}`)
        files.set(change.path, hold(change))
      }
      appended.push({ changes, about })
      const tree = treeId([...files].map(([path, held]) => ({ path, ...held })))
      trees.set(tree, files)
      const n = chain.length + 1
      const state: WorkspaceState = {
        commit: objectId('commit', Buffer.from(`${tree} ${parent} ${n}`)),
        tree,
        n,
        about,
      }
      chains.set(id, [...chain, state])
      return state
    },
    async *history(id) {
      yield* [...(chains.get(id) ?? [])].reverse()
    },
    async entry(tree, path) {
      const held = filesOf(tree).get(path)
      return held === undefined ? null : { path, ...held }
    },
    async *entries(tree, under = '') {
      for (const [path, held] of [...filesOf(tree)].sort(([a], [b]) => (a < b ? -1 : 1)))
        if (under === '' || path === under || path.startsWith(`${under}/`)) yield { path, ...held }
    },
    async *differences(before, after) {
      const from = filesOf(before)
      const to = filesOf(after)
      for (const path of [...new Set([...from.keys(), ...to.keys()])].sort()) {
        const a = from.get(path)
        const b = to.get(path)
        if (a?.oid === b?.oid && a?.mode === b?.mode) continue
        yield { path, before: a ? { path, ...a } : null, after: b ? { path, ...b } : null }
      }
    },
    kept: async (entry) => blobs.get(entry.oid)?.kept ?? { as: 'blob' },
    async *read(entry) {
      const blob = blobs.get(entry.oid)
      if (blob === undefined) throw new RepriseError('damaged', entry.path)
      if (blob.kept.as !== 'blob') throw new RepriseError('refused', blob.kept.as)
      yield blob.content
    },
    async digest(entry) {
      const blob = blobs.get(entry.oid)
      if (blob === undefined) return null
      if (blob.kept.as === 'large') return blob.kept.digest
      return blob.kept.as === 'blob' ? sha256(blob.content) : null
    },
  }
}

export function memoryLarge(): LargeObjects & { readonly objects: Map<Digest, Buffer> } {
  const objects = new Map<Digest, Buffer>()
  return {
    objects,
    async put(content) {
      const pieces: Uint8Array[] = []
      for await (const piece of content) pieces.push(piece)
      const whole = Buffer.concat(pieces)
      const digest = sha256(whole)
      objects.set(digest, whole)
      return { digest, bytes: whole.length }
    },
    has: async (digest) => objects.has(digest),
    async *read(digest) {
      yield objects.get(digest) ?? Buffer.alloc(0)
    },
    size: async () => ({ objects: objects.size, bytes: 0, contentBytes: 0 }),
    verifyAll: async () => [],
    sweep: async () => 0,
  }
}

const sha256 = (content: Uint8Array): Digest => `sha256:${createHash('sha256').update(content).digest('hex')}` as Digest

const objectId = (type: string, content: Buffer): string =>
  createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex')

/** The id Git gives to the tree of these files. */
export function treeId(entries: readonly StateEntry[]): TreeId {
  const folders = new Map<string, StateEntry[]>()
  const lines: { readonly sort: string; readonly bytes: Buffer }[] = []
  const add = (name: string, mode: string, oid: string) =>
    lines.push({
      sort: mode === '40000' ? `${name}/` : name,
      bytes: Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(oid, 'hex')]),
    })
  for (const { path, mode, oid } of entries) {
    const slash = path.indexOf('/')
    if (slash < 0) add(path, mode, oid)
    else {
      const name = path.slice(0, slash)
      const inner = folders.get(name) ?? []
      inner.push({ path: path.slice(slash + 1), mode, oid })
      folders.set(name, inner)
    }
  }
  for (const [name, inner] of folders) add(name, '40000', treeId(inner))
  lines.sort((a, b) => (a.sort < b.sort ? -1 : 1))
  return objectId('tree', Buffer.concat(lines.map(({ bytes }) => bytes))) as TreeId
}
