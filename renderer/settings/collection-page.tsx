import { useId, useState } from 'react'
import { Link } from 'wouter'
import type { CollectionLevel, CollectionOverride, Settings } from '../../contract/home.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { FolderField } from '../parts/folder-field.tsx'
import { PathText } from '../parts/path-text.tsx'
import { TableHead } from '../parts/tables.tsx'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { Choice } from './choice.tsx'

const w = words.settings
const levels = ['digests', 'redacted', 'originals'] as const satisfies readonly CollectionLevel[]
const selectClass = 'h-8 rounded-control border border-line-strong bg-raised px-2 text-ui max-sm:h-11'

interface CollectionPageProps {
  readonly settings: Settings
  readonly put: (
    what: string,
    patch: { readonly collection: CollectionLevel } | { readonly collection_overrides: CollectionOverride[] },
  ) => void
}

/** What is kept of texts, in general and for single homes and directories (R78). */
export function CollectionPage({ settings, put }: CollectionPageProps) {
  const overrides = settings.collection_overrides ?? []
  const status = useRead('status.get', {}, { select: ({ homes }) => homes })
  const putAll = (next: CollectionOverride[]) => put(w.overrides, { collection_overrides: next })
  return (
    <>
      <Choice
        label={w.collection}
        value={settings.collection}
        options={levels.map((id) => ({ id, ...w.collections[id] }))}
        onChange={(collection) => put(w.collection, { collection })}
      />
      <p className="mt-3 max-w-prose text-ui text-text-2">
        {w.collectionNow} {w.never}{' '}
        <Link href="/settings/vault" className="rounded-chip text-accent underline">
          {w.toVault}
        </Link>
      </p>
      <section aria-label={w.overrides} className="mt-8 max-w-3xl">
        <h2 className="font-medium">{w.overrides}</h2>
        <p className="max-w-prose text-ui text-text-2">{w.overridesHint}</p>
        {overrides.length > 0 && (
          <table className="mt-2 w-full text-ui">
            <TableHead columns={[w.overrideColumns.of, w.overrideColumns.path, w.overrideColumns.level, '']} />
            <tbody>
              {overrides.map((override) => (
                <tr key={`${override.of}${override.path}`} className="border-b border-line">
                  <td className="py-1 pr-3 whitespace-nowrap">{w.overrideOf[override.of]}</td>
                  <td className="max-w-80 py-1 pr-3">
                    <PathText path={override.path} />
                  </td>
                  <td className="py-1 pr-3">
                    <LevelSelect
                      label={w.levelOf(override.path)}
                      value={override.level}
                      onChange={(level) =>
                        putAll(overrides.map((one) => (one === override ? { ...override, level } : one)))
                      }
                    />
                  </td>
                  <td className="py-1 text-right">
                    <LinkButton onClick={() => putAll(overrides.filter((one) => one !== override))}>
                      {w.overrideDrop}
                    </LinkButton>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <AddOverride taken={overrides} onAdd={(override) => putAll([...overrides, override])} />
      </section>
      {status.data !== undefined && status.data.length > 0 && (
        <section aria-label={w.applies} className="mt-8 max-w-3xl">
          <h2 className="font-medium">{w.applies}</h2>
          <ul className="mt-1 text-ui">
            {status.data.map((home) => (
              <li key={home.id} className="flex flex-wrap gap-x-3 border-b border-line py-1">
                <PathText path={home.path} className="max-w-96" />
                <span className="text-text-2">{w.collections[levelOfHome(settings, home.path)].label}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

/** As the daemon decides it for a home: the longest path it lies in, else the general level. */
const levelOfHome = ({ collection, collection_overrides: overrides = [] }: Settings, path: string): CollectionLevel =>
  overrides
    .filter((rule) => rule.of === 'home' && (path === rule.path || path.startsWith(`${rule.path.replace(/\/$/, '')}/`)))
    .sort((a, b) => b.path.length - a.path.length)[0]?.level ?? collection

function LevelSelect({
  label,
  value,
  onChange,
}: {
  readonly label: string
  readonly value: CollectionLevel
  readonly onChange: (level: CollectionLevel) => void
}) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={(event) => {
        const level = levels.find((one) => one === event.target.value)
        if (level !== undefined) onChange(level)
      }}
      className={selectClass}
    >
      {levels.map((level) => (
        <option key={level} value={level}>
          {w.collections[level].label}
        </option>
      ))}
    </select>
  )
}

function AddOverride({
  taken,
  onAdd,
}: {
  readonly taken: readonly CollectionOverride[]
  readonly onAdd: (override: CollectionOverride) => void
}) {
  const id = useId()
  const [of, setOf] = useState<CollectionOverride['of']>('workspace')
  const [path, setPath] = useState('')
  const [level, setLevel] = useState<CollectionLevel>('digests')
  const place = path.trim().replace(/(?<=.)\/+$/, '')
  const named = taken.some((one) => one.of === of && one.path === place)
  const good = /^(?:\/|~|[A-Za-z]:\\)/.test(place) && !named
  return (
    <form
      aria-label={w.overrideAdd}
      className="mt-3 flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (!good) return
        onAdd({ of, path: place, level })
        setPath('')
      }}
    >
      <div>
        <label htmlFor={id} className="mb-1 block text-meta text-text-2">
          {w.overrideColumns.of}
        </label>
        <select
          id={id}
          value={of}
          onChange={(event) => setOf(event.target.value === 'home' ? 'home' : 'workspace')}
          className={selectClass}
        >
          <option value="workspace">{w.overrideOf.workspace}</option>
          <option value="home">{w.overrideOf.home}</option>
        </select>
      </div>
      <FolderField label={w.overrideColumns.path} value={path} onChange={setPath} />
      <LevelSelect label={w.overrideColumns.level} value={level} onChange={setLevel} />
      <Button type="submit" className="h-8" disabled={!good}>
        {w.overrideAdd}
      </Button>
      {named && <p className="basis-full text-ui text-warn">{w.overrideTaken}</p>}
    </form>
  )
}
