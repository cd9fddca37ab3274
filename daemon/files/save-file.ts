import { createHash } from 'node:crypto'
import { type Output, type ParsedInput, RepriseError } from '../../contract/index.ts'
import { isCredentialFile } from '../secrets/credential-files.ts'
import { draftBytes, newSecrets } from './draft.ts'
import { findPlace } from './find-place.ts'
import { describeFile, findHome, formatFor, isManaged, linkOf, readOnDisk } from './steering-files.ts'
import { versionId } from './version-id.ts'
import { type FileParts, listVersions } from './versions.ts'
import { changedMeanwhile, writeFileAtomically } from './write-file.ts'

/** Writes an edit: refused before anything is touched, or whole on the disk and kept as a version with what was there before. */
export async function saveFile(files: FileParts, input: ParsedInput<'files.save'>): Promise<Output<'files.save'>> {
  const { parts, records } = files
  const home = findHome(parts, input.home)
  const place = findPlace(parts, home, input.path)
  if (isCredentialFile(place.path))
    throw new RepriseError('refused', `${place.path} is a credential`, 'it is never edited')
  if (isManaged(place))
    throw new RepriseError('refused', `${place.path} is set by who administers this machine`, 'change it there')
  const roots = [home.path, ...(place.workspace === null ? [] : [place.workspace])]
  const link = linkOf(place.path, roots)
  if (link !== null && input.through_link !== true)
    throw new RepriseError(
      'refused',
      `${link.link} is a link to ${link.target}`,
      'say that its target is to be written (`through_link`, `--through-link`)',
      [link.target],
    )
  const target = link?.target ?? place.path
  if (isCredentialFile(target)) throw new RepriseError('refused', `${target} is a credential`, 'it is never edited')
  const disk = readOnDisk(target)
  if (disk.state === 'large' || disk.state === 'other')
    throw new RepriseError(
      'refused',
      `${target}: ${disk.state === 'other' ? disk.why : 'over 4 MB'}`,
      'it is not edited',
    )
  const before = disk.state === 'file' ? disk.bytes : null
  const found = disk.state === 'file' ? disk.digest : null
  if (found !== input.expected) throw changedMeanwhile(place.path)
  const format = formatFor(place.path, home.runtime, disk)
  const after = draftBytes(place.path, format, before, input, parts.redactor)
  const secrets = newSecrets(before, after, parts.redactor)
  if (secrets.length > 0 && input.with_secret !== true)
    throw new RepriseError(
      'refused',
      `${place.path}:${secrets[0]?.line}: ${secrets[0]?.message}`,
      'keep it elsewhere, or say that the secret is wanted there (`with_secret`, `--with-secret`)',
    )
  const digest = `sha256:${createHash('sha256').update(after).digest('hex')}`
  const unchanged = digest === found
  const where = { home: home.path, workspaces: place.workspace === null ? [] : [place.workspace] }
  const contents = [...(before === null ? [] : [before]), ...(unchanged ? [] : [after])]
  // What is replaced is kept before anything is written over it.
  await parts.worker.call(
    'keepFiles',
    where,
    contents.map((bytes) => ({ path: place.path, bytes: new Uint8Array(bytes) })),
  )
  if (!unchanged) {
    const why = input.note === undefined ? 'saved in Reprise' : `saved in Reprise: ${input.note}`
    await parts.worker.call('noteEdit', { path: place.path, digest, why: parts.redactor.redact(why).text })
    await writeFileAtomically(target, after, found)
    await parts.worker.call('noteConfiguration', [{ runtime: home.runtime, path: home.path }])
  }
  const now = readOnDisk(target)
  const versions = await listVersions(files, home, place.path, now)
  const newest = versions[0]
  const at = unchanged && newest?.digest === digest ? newest.at : parts.now().toISOString()
  const id = unchanged && newest?.digest === digest ? newest.id : versionId(place.path, at, digest)
  const about = { id, home: home.id, path: place.path, at, digest, bytes: after.length }
  await records.update((data) => ({
    ...data,
    saved: unchanged ? data.saved : [...data.saved, { ...about, why: 'saved in Reprise' }],
    named:
      input.name === undefined && input.note === undefined
        ? data.named
        : [
            ...data.named.filter((one) => one.id !== id),
            { ...about, name: input.name ?? null, note: input.note ?? null },
          ],
  }))
  const all = await listVersions(files, home, place.path, now)
  const version = all.find((one) => one.id === id)
  if (!version) throw new RepriseError('internal', `${place.path} was written, and its version was not found`)
  return { version, file: describeFile(place, now, all.length, parts.surroundings.userHome), unchanged }
}
