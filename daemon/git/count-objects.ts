import { type GitContext, git } from './core.ts'

export interface ObjectCount {
  readonly objects: number
  readonly packs: number
  /** Files in the object folder that are no objects (left by a killed process). */
  readonly garbage: number
}

export async function countObjects(context: GitContext, gitDir: string): Promise<ObjectCount> {
  const { stdout } = await git(['count-objects', '-v'], { git: context, gitDir })
  const value = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(stdout.toString('latin1'))?.[1] ?? 0)
  return { objects: value('count') + value('in-pack'), packs: value('packs'), garbage: value('garbage') }
}
