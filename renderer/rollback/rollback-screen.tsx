import { useMemo } from 'react'
import { useSearch } from 'wouter'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/feedback.tsx'
import { useCrumbs } from '../shell/acts.ts'
import { useAddress } from '../shell/address.ts'
import { words } from '../words/en.ts'
import { readAsked, rollbackPath } from './address.ts'
import { Planned } from './planned.tsx'

const w = words.rollback

/** The one door to every restore: what would change, path by path, before anything does. */
export default function RollbackScreen() {
  const search = useSearch()
  const asked = useMemo(() => readAsked(search), [search])
  if (asked.target === null && asked.undo === null) return <AskTarget />
  return <Planned key={`${asked.target}\0${asked.undo}`} asked={asked} />
}

function AskTarget() {
  useCrumbs(w.crumb)
  const { navigate } = useAddress()
  return (
    <Empty title={w.asked.title} hint={w.asked.hint}>
      <form
        className="flex flex-wrap items-center justify-center gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          const said = new FormData(event.currentTarget).get('target')
          if (typeof said === 'string' && said.trim() !== '') navigate(rollbackPath({ target: said.trim() }))
        }}
      >
        <input
          name="target"
          aria-label={w.asked.field}
          placeholder={w.asked.placeholder}
          className="h-7 w-72 max-w-full rounded-control border border-line-strong bg-raised px-2 text-ui max-sm:h-11"
        />
        <Button type="submit">{w.asked.show}</Button>
        <Button look="quiet" onClick={() => navigate('/rollbacks')}>
          {w.toList}
        </Button>
      </form>
    </Empty>
  )
}
