import type { RollbackArea, RollbackPlan } from '../../contract/rollback.ts'
import { PathText } from '../parts/path-text.tsx'
import { words } from '../words/en.ts'
import type { Asked } from './address.ts'

const w = words.rollback

/** What goes back: an area, several, or only what was clicked. Nothing is ticked that was not asked for. */
export function ScopeBar({
  asked,
  plan,
  onAreas,
}: {
  readonly asked: Asked
  readonly plan: RollbackPlan | undefined
  readonly onAreas: (areas: readonly RollbackArea[]) => void
}) {
  const home = plan?.target.home ?? null
  const workspace = plan?.target.workspace ?? null
  const known = plan !== undefined
  const entries = [
    { area: 'home', path: home, missing: w.noHome },
    { area: 'project', path: null, missing: workspace === null ? w.noWorkspace : null },
    { area: 'workspace', path: workspace, missing: w.noWorkspace },
  ] as const
  return (
    <fieldset className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-0.5 px-3 pb-2 text-dense">
      <legend className="float-left mr-4 leading-6 text-meta font-semibold text-text-2">{w.scope}</legend>
      {entries.map(({ area, path, missing }) => {
        const absent = known && (area === 'home' ? home : workspace) === null ? missing : null
        return (
          <label key={area} className="inline-flex min-h-6 min-w-0 items-center gap-1.5 max-sm:min-h-11">
            <input
              type="checkbox"
              data-rollback-scope=""
              checked={asked.areas.includes(area)}
              disabled={absent !== null && !asked.areas.includes(area)}
              onChange={(event) =>
                onAreas(event.target.checked ? [...asked.areas, area] : asked.areas.filter((other) => other !== area))
              }
            />
            <span className="shrink-0">{w.areas[area]}</span>
            {path !== null && <PathText path={path} className="max-w-56 text-text-2" />}
            {absent !== null && <span className="text-text-3">{absent}</span>}
          </label>
        )
      })}
      <label className="inline-flex min-h-6 items-center gap-1.5 max-sm:min-h-11">
        <input
          type="checkbox"
          checked={asked.areas.length === 0 && asked.only.length > 0}
          disabled={asked.only.length === 0}
          onChange={() => onAreas([])}
        />
        {w.areas.only(asked.only.length)}
        {asked.only.length === 0 && <span className="text-text-3">{w.noneChosen}</span>}
      </label>
    </fieldset>
  )
}
