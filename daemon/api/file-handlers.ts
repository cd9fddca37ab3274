import { type AgentFile, RepriseError } from '../../contract/index.ts'
import { blameLines } from '../files/blame.ts'
import { checkFile } from '../files/check/check-file.ts'
import { problemsOfText } from '../files/check/find-problems.ts'
import { findPlace } from '../files/find-place.ts'
import { saveFile } from '../files/save-file.ts'
import {
  describeFile,
  findHome,
  formatFor,
  isRunning,
  placesOf,
  readOnDisk,
  resolveFor,
  workspacesOf,
} from '../files/steering-files.ts'
import { formatOf } from '../files/structured/format.ts'
import { readTextForm } from '../files/text-form.ts'
import { contentOf, type FileParts, findVersion, historyOfKey, listVersions } from '../files/versions.ts'
import { realPath } from '../homes.ts'
import { withBesideFiles } from '../manifest/complete/beside-files.ts'
import { isInside } from '../runtimes/shared/disk.ts'
import { isCredentialFile } from '../secrets/credential-files.ts'
import type { SomeHandlers } from './handlers.ts'
import { showText } from './shown-text.ts'

export const createFileHandlers = (files: FileParts) => {
  const { parts, records } = files
  const userHome = parts.surroundings.userHome

  const countVersions = (home: string): ReadonlyMap<string, number> => {
    const rows = parts
      .index()
      .sql('select path, count(*) as n from file_versions where home = ? group by path')
      .all(home) as { path: string; n: number }[]
    return new Map(rows.map(({ path, n }) => [path, Number(n)]))
  }

  return {
    'files.list': ({ home: given, workspace }) => {
      const home = findHome(parts, given)
      const folder = workspace === undefined ? null : realPath(workspace)
      const { body } = resolveFor(parts, home, folder)
      const counts = countVersions(home.id)
      const places = new Map(placesOf(home, folder, { body: withBesideFiles(body, parts.surroundings) }))
      for (const path of counts.keys())
        if (!places.has(path) && (isInside(path, home.path) || (folder === null ? false : isInside(path, folder))))
          places.set(path, { home, path, workspace: folder, source: null })
      const list: AgentFile[] = []
      for (const place of places.values()) {
        const disk = readOnDisk(place.path)
        const versions = counts.get(place.path) ?? 0
        // Places an agent looks at and finds nothing are no files; what was there once is.
        if (disk.state === 'missing' && versions === 0) continue
        if (disk.state === 'other' && !isCredentialFile(place.path) && disk.why === 'a folder stands there') continue
        list.push(describeFile(place, disk, versions, userHome))
      }
      const areas = { home: 0, project: 1, system: 2 }
      list.sort((a, b) => areas[a.area] - areas[b.area] || (a.path < b.path ? -1 : 1))
      return { files: list, workspaces: [...workspacesOf(parts, home)], running: isRunning(parts, home) }
    },

    'files.get': async ({ home: given, path, version: id }) => {
      const home = findHome(parts, given)
      const place = findPlace(parts, home, path)
      if (isCredentialFile(place.path))
        throw new RepriseError('refused', `${place.path} is a credential`, 'its text is never shown')
      const disk = readOnDisk(place.path)
      const versions = await listVersions(files, home, place.path, disk)
      const file = describeFile(place, disk, versions.length, userHome)
      let bytes: Buffer | null = disk.state === 'file' ? disk.bytes : null
      if (id !== undefined) {
        const version = versions.find((one) => one.id === id)
        if (!version)
          throw new RepriseError(
            'not_found',
            `${place.path} has no version ${id}`,
            '`reprise files versions` lists them',
            versions.slice(0, 10).map((one) => one.id),
          )
        bytes = await contentOf(files, version)
        if (bytes === null && !version.deleted)
          throw new RepriseError(
            'not_found',
            `of version ${id} only the digest was kept`,
            'collection was set to digests then',
          )
        if (version.deleted) bytes = null
      }
      const form = bytes === null ? null : readTextForm(bytes)
      if (bytes === null || form === null)
        return { file, text: null, whole: false, bom: false, line_end: 'none' as const, problems: [] }
      const text = showText(parts.redactor, form.text, `f:${place.path}`, { whole: true })
      return {
        file,
        text,
        whole: text.hidden.length === 0,
        bom: form.bom,
        line_end: form.lineEnd,
        problems: [...problemsOfText(place.path, bytes, formatOf(place.path, home.runtime), home.runtime)],
      }
    },

    'files.check': (input) => checkFile(files, input),

    'files.save': (input) => saveFile(files, input),

    'files.versions': async ({ home: given, path, key }) => {
      const home = findHome(parts, given)
      const place = findPlace(parts, home, path)
      if (isCredentialFile(place.path))
        throw new RepriseError('refused', `${place.path} is a credential`, 'no state of it is kept')
      const disk = readOnDisk(place.path)
      const versions = await listVersions(files, home, place.path, disk)
      if (key === undefined) return { versions: [...versions] }
      return { versions: [...(await historyOfKey(files, versions, formatFor(place.path, home.runtime, disk), key))] }
    },

    'files.blame': async ({ home: given, path }) => {
      const home = findHome(parts, given)
      const place = findPlace(parts, home, path)
      if (isCredentialFile(place.path))
        throw new RepriseError('refused', `${place.path} is a credential`, 'its text is never shown')
      const disk = readOnDisk(place.path)
      if (disk.state !== 'file')
        throw new RepriseError(
          'not_found',
          `${place.path} is not there now`,
          '`reprise files versions` lists what it was',
        )
      if (readTextForm(disk.bytes) === null) throw new RepriseError('refused', `${place.path} is not text`)
      const { lines, complete, why } = await blameLines(
        files,
        await listVersions(files, home, place.path, disk),
        disk.bytes,
        parts.redactor,
      )
      return { lines: [...lines], complete, why }
    },

    'files.name': async ({ version: id, name, note }) => {
      const found = await findVersion(files, id)
      if (!found)
        throw new RepriseError('not_found', `there is no version ${id}`, '`reprise files versions` lists them')
      const { version, home } = found
      const kept = { name, note: note === undefined ? version.note : note }
      await records.update((data) => ({
        ...data,
        named: [
          ...data.named.filter((one) => one.id !== id),
          ...(kept.name === null && kept.note === null
            ? []
            : [
                {
                  id,
                  home: home.id,
                  path: version.path,
                  at: version.at,
                  digest: version.digest,
                  bytes: version.bytes,
                  ...kept,
                },
              ]),
        ],
      }))
      return { version: { ...version, ...kept } }
    },
  } satisfies SomeHandlers
}
