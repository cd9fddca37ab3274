import type { FileEffect, FileProblem, Output, ParsedInput } from '../../../contract/index.ts'
import { isInside } from '../../runtimes/shared/disk.ts'
import { draftBytes, newSecrets } from '../draft.ts'
import { findPlace } from '../find-place.ts'
import { findHome, formatFor, readOnDisk, resolveFor, workspacesOf } from '../steering-files.ts'
import { readTextForm } from '../text-form.ts'
import type { FileParts } from '../versions.ts'
import { effectOf } from './find-effects.ts'
import { problemsOfResolution, problemsOfText } from './find-problems.ts'

/** Workspaces are resolved, the newest first, for this long; the others are named as not looked at. */
const LOOK_MS = 1_500

/** What a draft would mean, without writing it. */
export function checkFile({ parts }: FileParts, input: ParsedInput<'files.check'>): Output<'files.check'> {
  const home = findHome(parts, input.home)
  const place = findPlace(parts, home, input.path, input.workspace)
  const disk = readOnDisk(place.path)
  const before = disk.state === 'file' ? disk.bytes : null
  const format = formatFor(place.path, home.runtime, disk)
  const after = draftBytes(place.path, format, before, input, parts.redactor)
  const text = readTextForm(after)?.text ?? ''
  const problems: FileProblem[] = [
    ...problemsOfText(place.path, after, format, home.runtime),
    ...newSecrets(before, after, parts.redactor),
  ]
  const overlay = new Map<string, Uint8Array>([[place.path, after]])
  const own = workspacesOf(parts, home).filter((one) => isInside(place.path, one))
  const places: (string | null)[] =
    input.workspace !== undefined ? [input.workspace] : own.length > 0 ? own : [null, ...workspacesOf(parts, home)]
  const effects: FileEffect[] = []
  const began = performance.now()
  const changed = before === null || !Buffer.from(before).equals(after)
  for (const [at, workspace] of places.entries()) {
    if (at > 0 && performance.now() - began > LOOK_MS) {
      effects.push({ workspace, ...nothing, why_not: 'not looked at: resolving the others took long' })
      continue
    }
    try {
      const was = resolveFor(parts, home, workspace)
      const is = resolveFor(parts, home, workspace, { overlay })
      for (const one of problemsOfResolution(place.path, text, is, was))
        if (!problems.some((known) => known.message === one.message)) problems.push(one)
      const effect = effectOf(workspace, was, is)
      if (changed && (effect.changes.length > 0 || workspace === place.workspace)) effects.push(effect)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      effects.push({ workspace, ...nothing, why_not: `it could not be resolved with this text: ${why}` })
    }
  }
  const order = { error: 0, warning: 1 }
  problems.sort((a, b) => order[a.severity] - order[b.severity] || (a.line ?? 1e9) - (b.line ?? 1e9))
  return { problems, effects, text: input.edits === undefined ? null : parts.redactor.redact(text).text }
}

const nothing = { changes: [], effective_before: null, effective_after: null }
