import { Link } from 'wouter'
import { words } from '../words/en.ts'
import { taskPath } from './filter.ts'

/** All runs that were given the same task (R100). */
export function TaskLink({ task }: { readonly task: string }) {
  return (
    <Link
      href={taskPath(task)}
      className="rounded-chip font-mono text-[0.75rem] text-accent hover:underline"
      title={words.timeline.sameTask}
    >
      {task}
    </Link>
  )
}
