import path from 'node:path'
import picomatch from 'picomatch'
import { type Disk, isInside } from '../../shared/disk.ts'
import { type FrontMatter, pathPatterns } from '../../shared/front-matter.ts'
import { findImports, findNearMisses, refusedByName } from './imports.ts'
import { type InstructionText, readInstructionText } from './markdown.ts'
import { makeSource, type Source, type SourceList, VERIFIED_VERSION } from './sources.ts'

/** Groups of instruction files, named as in the runtime's own record of a session. */
export type InstructionGroup = 'Managed' | 'User' | 'Project' | 'Local'

/** Labels beside the path in the prompt (2.1.332). */
export const labels = {
  Managed: 'organization-managed policy instructions',
  User: "user's private global instructions for all projects",
  Project: 'project instructions, checked into the codebase',
  Local: "user's private project instructions, not checked in",
  AutoMem: "user's auto-memory, persists across conversations",
} as const

const scopes = { Managed: 'managed', User: 'user', Project: 'project', Local: 'local' } as const

/** The file itself and four hops: the fifth hop is dropped (2.1.332). */
const DEEPEST = 4

/** A file that would enter the context; `patterns` when its front matter binds it to paths. */
export interface InstructionFile {
  readonly source: Source
  readonly patterns: readonly string[] | null
}

/**
 * A list or map that is never closed is no YAML; put in quotes it becomes a pattern that no file matches, so that the rule loads neither
 * at start nor later and nothing says so (2.1.332).
 */
function neverMatches(frontMatter: FrontMatter, patterns: readonly string[] | null): boolean {
  return (
    frontMatter.state === 'quoted' && patterns !== null && patterns.every((one) => /^\[[^\]]*$|^\{[^}]*$/.test(one))
  )
}

export interface InstructionReader {
  /** The file and its imports, depth first, as far as they were not read before in this pass. */
  readFile(
    file: string,
    group: InstructionGroup,
    kind: 'instructions' | 'rule',
    scope?: string,
  ): readonly InstructionFile[]
  /** All `.md` files below a rules directory, in raw directory order. */
  readRules(directory: string, group: InstructionGroup, scope?: string): readonly InstructionFile[]
}

export interface InstructionReaderRequest {
  readonly disk: Disk
  readonly cwd: string
  readonly userHome: string
  /** Imports may leave `cwd`. */
  readonly externalApproved: boolean
  readonly excludes: readonly string[]
  /** Takes what exists but does not load. */
  readonly leftOut: SourceList
}

/** A pass over instruction files: each real file at most once, the first occurrence wins. */
export function openInstructionReader(request: InstructionReaderRequest): InstructionReader {
  const { disk, cwd, leftOut } = request
  const seen = new Set<string>()
  const isExcluded = excludeMatcher(request.excludes, disk)

  const skip = (
    file: string,
    draft: Partial<Source> & { readonly reason: string },
    scope: string,
    kind: Source['kind'],
  ): void => leftOut.add(makeSource({ path: file, scope, kind, status: 'not_loaded', ...draft }))

  function read(
    file: string,
    group: InstructionGroup,
    kind: 'instructions' | 'rule' | 'import',
    scope: string,
    chain: readonly string[],
  ): InstructionFile[] {
    const real = disk.realPath(file)
    const key = real ?? file
    if (seen.has(key)) {
      if (real !== null && real !== file)
        skip(file, { reason: `the file it links to (${real}) is loaded already`, importedBy: chain }, scope, kind)
      return []
    }
    if (chain.length > DEEPEST) {
      const found = disk.read(file)
      if (found.state === 'ok') {
        skip(
          file,
          { reason: 'fifth hop of an import chain; the runtime follows four', importedBy: chain, raw: found.bytes },
          scope,
          kind,
        )
      }
      return []
    }
    seen.add(key)
    const found = disk.read(file)
    switch (found.state) {
      case 'missing':
        if (chain.length > 0)
          skip(file, { reason: 'the import names a file that does not exist', importedBy: chain }, scope, kind)
        else if (disk.isLink(file)) skip(file, { reason: 'a link that leads nowhere' }, scope, kind)
        return []
      case 'directory':
        skip(
          file,
          {
            reason: chain.length > 0 ? 'the import names a directory' : 'a directory stands where a file is expected',
            importedBy: chain,
          },
          scope,
          kind,
        )
        return []
      case 'too_large':
        skip(
          file,
          {
            reason: `larger than 4 MiB (${found.size} bytes); the runtime skips it silently`,
            bytes: found.size,
            importedBy: chain,
          },
          scope,
          kind,
        )
        return []
      case 'unreadable':
        leftOut.add(makeSource({ path: file, scope, kind, status: 'unknown', reason: found.why, importedBy: chain }))
        return []
      case 'ok':
        break
    }
    const draft = { importedBy: chain, raw: found.bytes }
    if (group !== 'Managed' && isExcluded(file)) {
      skip(file, { ...draft, reason: 'excluded by claudeMdExcludes' }, scope, kind)
      return []
    }
    const text = parse(found.bytes)
    if (text.text === '') {
      skip(
        file,
        {
          ...draft,
          reason: found.size === 0 ? 'empty file' : 'nothing is left of it without front matter and comments',
        },
        scope,
        kind,
      )
      return []
    }
    const patterns = kind === 'instructions' ? null : pathPatterns(text.frontMatter.keys)
    if (kind === 'rule' && neverMatches(text.frontMatter, patterns)) {
      const reason = `its paths are no valid YAML; the runtime reads them as the text "${patterns?.join(', ')}", which no file matches`
      skip(file, { ...draft, reason }, scope, kind)
      return followImports(file, real ?? file, text, group, scope, chain)
    }
    const source = makeSource({
      path: file,
      scope,
      kind,
      status: 'loaded',
      label: labels[group],
      rule: `layered: every file enters the context (${VERIFIED_VERSION})`,
      text: text.text,
      ...draft,
      ...(real !== null && real !== file ? { extra: { link_target: real } } : {}),
    })
    return [{ source, patterns }, ...followImports(file, real ?? file, text, group, scope, chain)]
  }

  function followImports(
    file: string,
    real: string,
    text: InstructionText,
    group: InstructionGroup,
    scope: string,
    chain: readonly string[],
  ): InstructionFile[] {
    if (text.tokens.length === 0) return []
    const below = [...chain, file]
    const files: InstructionFile[] = []
    const taken = new Set<string>()
    for (const { written } of findImports(text.tokens)) {
      // Relative to the real place of the importing file, also when it was reached through a link (2.1.332).
      const target = resolveWritten(written, real, request.userHome)
      taken.add(written)
      const refused = refusedByName(target)
      if (refused !== null) {
        if (disk.exists(target))
          skip(target, { reason: refused, importedBy: below, ...rawOf(disk, target) }, scope, 'import')
        continue
      }
      const targetReal = disk.realPath(target)
      if (group !== 'User' && !request.externalApproved && targetReal !== null && !isInside(targetReal, cwd)) {
        skip(
          target,
          {
            reason: 'import from outside the start directory, which this project has not approved',
            importedBy: below,
            ...rawOf(disk, target),
          },
          scope,
          'import',
        )
        continue
      }
      if (targetReal === null && !disk.isLink(target) && withoutPunctuation(written) !== written) continue
      files.push(...read(target, group, 'import', scope, below))
    }
    for (const { written, reason } of findNearMisses(text.frontMatter.body, text.tokens)) {
      if (taken.has(written)) continue
      const target = resolveWritten(written, real, request.userHome)
      if (!disk.exists(target) || disk.isDirectory(target)) continue
      skip(target, { reason, importedBy: below, ...rawOf(disk, target) }, scope, 'import')
    }
    return files
  }

  function readRules(directory: string, group: InstructionGroup, scope: string): InstructionFile[] {
    const files: InstructionFile[] = []
    const visited = new Set<string>()
    const walk = (folder: string): void => {
      const real = disk.realPath(folder)
      if (real === null || visited.has(real)) return
      visited.add(real)
      const found = disk.list(real)
      if (found.state === 'unreadable') {
        leftOut.add(makeSource({ path: folder, scope, kind: 'rule', status: 'unknown', reason: found.why }))
        return
      }
      if (found.state === 'missing') return
      for (const entry of found.entries) {
        const shown = path.join(real, entry.name)
        if (entry.nameBytes !== null) {
          leftOut.add(
            makeSource({
              path: shown,
              pathBytes: entry.nameBytes,
              scope,
              kind: 'rule',
              status: 'unknown',
              reason: 'its name is not valid UTF-8; how the runtime treats it was not seen',
            }),
          )
          continue
        }
        let target = shown
        let kind = entry.kind
        if (kind === 'link') {
          const linked = disk.realPath(shown)
          if (linked === null) {
            skip(shown, { reason: 'a link that leads nowhere or in a circle' }, scope, 'rule')
            continue
          }
          target = linked
          kind = disk.isDirectory(linked) ? 'directory' : 'file'
          if (kind === 'file' && group !== 'User' && !request.externalApproved && !isInside(linked, cwd)) {
            skip(
              shown,
              {
                reason: `linked rule: ${linked} lies outside the start directory, which this project has not approved`,
                ...rawOf(disk, linked),
              },
              scope,
              'rule',
            )
            continue
          }
        }
        if (kind === 'directory') walk(target)
        else if (!entry.name.endsWith('.md'))
          skip(target, { reason: 'not a .md file', ...rawOf(disk, target) }, scope, 'rule')
        else if (
          group !== 'User' &&
          !request.externalApproved &&
          !isInside(target, cwd) &&
          isLinkedIn(target, directory)
        ) {
          skip(
            target,
            {
              reason:
                'reached through a link that leads out of the start directory, which this project has not approved',
              ...rawOf(disk, target),
            },
            scope,
            'rule',
          )
        } else files.push(...read(target, group, 'rule', scope, []))
      }
    }
    walk(directory)
    return files
  }

  return {
    readFile: (file, group, kind, scope = scopes[group]) => read(file, group, kind, scope, []),
    readRules: (directory, group, scope = scopes[group]) => readRules(directory, group, scope),
  }
}

/** The same bytes are met in several passes of one resolution. */
const parsed = new WeakMap<Uint8Array, InstructionText>()

function parse(bytes: Uint8Array): InstructionText {
  const known = parsed.get(bytes)
  if (known !== undefined) return known
  const text = readInstructionText(bytes)
  parsed.set(bytes, text)
  return text
}

/** A rules directory reached by plain directories lies where it says; anything else came through a link. */
const isLinkedIn = (file: string, directory: string): boolean => !isInside(file, directory)

function resolveWritten(written: string, importer: string, userHome: string): string {
  if (written.startsWith('~/')) return path.join(userHome, written.slice(2))
  return path.resolve(path.dirname(importer), written)
}

const withoutPunctuation = (written: string): string => written.replace(/[*)\]}"'>,.;:!?]+$/, '')

function rawOf(disk: Disk, file: string): { readonly raw?: Uint8Array } {
  const found = disk.read(file)
  return found.state === 'ok' ? { raw: found.bytes } : {}
}

/** `claudeMdExcludes`: globs over absolute paths, dot files included. A pattern below a linked folder also counts for the real folder. */
function excludeMatcher(patterns: readonly string[], disk: Disk): (file: string) => boolean {
  if (patterns.length === 0) return () => false
  const all = patterns.flatMap((pattern) => {
    const { base, glob } = picomatch.scan(pattern)
    if (!path.isAbsolute(pattern) || base === '') return [pattern]
    const real = disk.realPath(base)
    return real === null || real === base ? [pattern] : [pattern, glob === '' ? real : `${real}/${glob}`]
  })
  return picomatch(all, { dot: true })
}
