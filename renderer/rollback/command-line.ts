import type { RollbackPlan } from '../../contract/rollback.ts'
import { shellWord } from '../parts/command-hint.tsx'
import type { Asked } from './address.ts'
import { type Choices, chosenPaths } from './plan-model.ts'

/** The equal command. Areas as long as all they bring is ticked, otherwise each chosen path by name. */
export function commandLine(asked: Asked, plan: RollbackPlan | undefined, choices: Choices): string {
  if (asked.undo !== null) return asked.undo === 'last' ? 'reprise undo' : `reprise undo ${shellWord(asked.undo)}`
  const parts = ['reprise rollback', shellWord(asked.target ?? '')]
  const whole =
    plan === undefined ||
    (asked.parts.size === 0 &&
      [...plan.writes, ...plan.deletes].every(({ path, ticked }) => (choices.ticks.get(path) ?? ticked) === ticked))
  if (whole && asked.areas.length > 0) for (const area of asked.areas) parts.push(`--${area}`)
  else if (plan !== undefined)
    for (const path of chosenPaths(plan, choices).all) {
      const part = asked.parts.get(path)
      parts.push('--only', shellWord(part !== undefined && 'key' in part ? `${path}#${part.key}` : path))
    }
  else for (const path of asked.only) parts.push('--only', shellWord(path))
  if (asked.of !== null) parts.push('--of', shellWord(asked.of))
  return parts.join(' ')
}
