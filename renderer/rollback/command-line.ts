import type { RollbackPlan } from '../../contract/rollback.ts'
import { shellWord } from '../parts/command-hint.tsx'
import type { Asked } from './address.ts'
import { type Choices, chosenPaths } from './plan-model.ts'

/** The equal command. Areas as long as all they bring is ticked, otherwise each chosen path by name. */
export function commandLine(asked: Asked, plan: RollbackPlan | undefined, choices: Choices): string {
  const running = plan !== undefined && plan.running.length > 0
  if (asked.undo !== null)
    return [
      'reprise undo',
      ...(asked.undo === 'last' ? [] : [shellWord(asked.undo)]),
      ...(running && choices.running === 'go_on' ? ['--while-running'] : []),
    ].join(' ')
  const words = ['reprise rollback', shellWord(asked.target ?? '')]
  const chosen = plan === undefined ? null : chosenPaths(plan, choices)
  const partial = asked.parts.size > 0 || [...choices.conflicts.values()].some(({ choice }) => choice === 'hunks')
  if (chosen === null || plan === undefined) {
    for (const area of asked.areas) words.push(`--${area}`)
    if (asked.areas.length === 0) for (const path of asked.only) words.push('--only', shellWord(path))
  } else if (asked.areas.length > 0 && !partial) {
    for (const area of asked.areas) words.push(`--${area}`)
    for (const { path, ticked } of [...plan.writes, ...plan.deletes])
      if (ticked && choices.ticks.get(path) === false) words.push('--keep', shellWord(path))
  } else for (const path of chosen.all) words.push('--only', shellWord(`${path}${partOf(asked, choices, path)}`))
  for (const path of chosen?.conflicts ?? []) words.push('--take', shellWord(path))
  for (const path of chosen?.kept ?? []) words.push('--delete', shellWord(path))
  if (asked.of !== null) words.push('--of', shellWord(asked.of))
  if (asked.runtime !== null) words.push('--runtime', asked.runtime)
  if (choices.reason.trim() !== '') words.push('--reason', shellWord(choices.reason.trim()))
  if (running) words.push(choices.running === 'wait' ? '--wait' : '--while-running')
  return words.join(' ')
}

function partOf(asked: Asked, choices: Choices, path: string): string {
  const part = asked.parts.get(path)
  if (part !== undefined) return 'key' in part ? `#${part.key}` : `#@${part.hunks.join(',')}`
  const conflict = choices.conflicts.get(path)
  return conflict?.choice === 'hunks' ? `#@${conflict.hunks.join(',')}` : ''
}
