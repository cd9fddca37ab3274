import { Switch } from 'radix-ui'
import { type ReactNode, useId, useState } from 'react'
import { Link } from 'wouter'
import type { Input } from '../../contract/endpoints.ts'
import type { Settings } from '../../contract/home.ts'
import { PRODUCT_VERSION } from '../../contract/version.ts'
import { desktop } from '../desktop.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { cx } from '../parts/classes.ts'
import { Fact, Facts } from '../parts/facts.tsx'
import { Failure, Loading } from '../parts/feedback.tsx'
import { PathText } from '../parts/path-text.tsx'
import { useCrumbs } from '../shell/acts.ts'
import { useAddress } from '../shell/address.ts'
import { openKeySheet } from '../shell/layers.ts'
import { useView } from '../shell/view-state.ts'
import { useChange, useRead } from '../transport/queries.ts'
import { asErrorBody } from '../transport/transport.ts'
import { words } from '../words/en.ts'
import { Choice } from './choice.tsx'
import { CollectionPage } from './collection-page.tsx'
import { VaultPage } from './vault-page.tsx'

const w = words.settings
const pages = ['appearance', 'keyboard', 'collection', 'vault', 'watching', 'about'] as const
type Patch = Input<'settings.set'>

/** What is collected, shown and kept. A change applies at once, with Undo beside it. */
export default function SettingsScreen({ page }: { readonly page: string | null }) {
  useCrumbs(w.title)
  const settings = useRead('settings.get', {})
  const change = useChange('settings.set')
  const [last, setLast] = useState<{ readonly what: string; readonly back: Patch } | null>(null)
  const shown = pages.find((entry) => entry === page) ?? 'appearance'
  const put = (what: string, patch: Patch) => {
    const before = settings.data
    if (before === undefined) return
    // Settings that are left out when they are empty are empty again.
    const known = { collection_overrides: [], ...before }
    const back = Object.fromEntries(Object.keys(patch).map((name) => [name, known[name as keyof Settings]])) as Patch
    setLast({ what, back })
    if (patch.theme !== undefined) useView.getState().setTheme(patch.theme)
    change.mutate(patch)
  }
  const undo = () => {
    if (last === null) return
    if (last.back.theme !== undefined) useView.getState().setTheme(last.back.theme)
    change.mutate(last.back, { onSuccess: () => setLast(null) })
  }
  const body = change.error === null ? null : asErrorBody(change.error)
  return (
    <div className="flex min-h-0 flex-1 max-sm:flex-col">
      <nav
        aria-label={w.pagesLabel}
        data-region="list"
        className="shrink-0 border-line p-2 sm:w-52 sm:border-r max-sm:flex max-sm:overflow-x-auto max-sm:border-b"
      >
        {pages.map((entry) => (
          <Link
            key={entry}
            href={`/settings/${entry}`}
            aria-current={shown === entry ? 'page' : undefined}
            className={cx(
              'flex h-8 shrink-0 items-center rounded-control px-2 text-ui max-sm:h-11',
              shown === entry ? 'bg-select font-medium' : 'text-text-2 hover:bg-hover hover:text-text',
            )}
          >
            {w.pages[entry]}
          </Link>
        ))}
      </nav>
      <div data-region="detail" className="min-h-0 flex-1 overflow-y-auto px-6 py-4 text-read">
        <h1 className="text-title font-semibold">{w.pages[shown]}</h1>
        {settings.error !== null && (
          <Failure what={w.title} failure={settings.error} onRetry={() => void settings.refetch()} />
        )}
        {settings.data === undefined && settings.error === null && <Loading what={w.title} rows={4} rowHeight={44} />}
        {settings.data !== undefined && <Page page={shown} settings={settings.data} put={put} />}
        <div role="status" className="mt-6 flex min-h-7 items-center gap-3 text-dense text-text-2">
          {last !== null && change.isSuccess && (
            <>
              {w.changed(last.what)}
              <LinkButton onClick={undo}>{w.undo}</LinkButton>
            </>
          )}
          {body !== null && (
            <span role="alert" className="text-danger">
              {body.message} {body.hint}
            </span>
          )}
        </div>
      </div>
    </div>
  )
}

interface PageProps {
  readonly page: (typeof pages)[number]
  readonly settings: Settings
  readonly put: (what: string, patch: Patch) => void
}

function Page({ page, settings, put }: PageProps) {
  switch (page) {
    case 'appearance':
      return (
        <>
          <Choice
            label={w.theme}
            value={settings.theme}
            options={(['system', 'light', 'dark'] as const).map((id) => ({ id, label: words.theme[id] }))}
            onChange={(theme) => put(w.theme, { theme })}
          />
          <Choice
            label={w.density}
            value={settings.density}
            options={(['compact', 'normal'] as const).map((id) => ({ id, label: w.densities[id] }))}
            onChange={(density) => put(w.density, { density })}
          />
        </>
      )
    case 'keyboard':
      return <Keyboard settings={settings} put={put} />
    case 'collection':
      return <CollectionPage settings={settings} put={put} />
    case 'vault':
      return <VaultPage />
    case 'watching':
      return <Watching settings={settings} put={put} />
    case 'about':
      return <About />
    default:
      return page satisfies never
  }
}

type PartProps = Omit<PageProps, 'page'>

function Field({
  label,
  hint,
  children,
  id,
}: {
  readonly label: string
  readonly hint: string
  readonly children: ReactNode
  readonly id: string
}) {
  return (
    <div className="mt-5 flex flex-wrap items-start gap-x-6 gap-y-2">
      <div className="max-w-prose min-w-0 flex-1 basis-80">
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        <p className="text-ui text-text-2">{hint}</p>
      </div>
      {children}
    </div>
  )
}

function Keyboard({ settings, put }: PartProps) {
  const id = useId()
  const on = settings.single_key_shortcuts
  return (
    <>
      <Field id={id} label={w.singleKeys} hint={w.singleKeysHint}>
        <span className="flex items-center gap-2 text-ui text-text-2">
          {on ? w.on : w.off}
          <Switch.Root
            id={id}
            checked={on}
            onCheckedChange={(checked) => put(w.singleKeys, { single_key_shortcuts: checked })}
            className="h-6 w-10 rounded-full border border-line-strong bg-sunken p-0.5 data-[state=checked]:border-accent-fill data-[state=checked]:bg-accent-fill"
          >
            <Switch.Thumb className="block size-4.5 rounded-full bg-line-strong data-[state=checked]:translate-x-4 data-[state=checked]:bg-on-fill" />
          </Switch.Root>
        </span>
      </Field>
      <div className="mt-4">
        <Button onClick={openKeySheet}>{w.showKeys}</Button>
      </div>
    </>
  )
}

function Watching({ settings, put }: PartProps) {
  const id = useId()
  const [text, setText] = useState(String(settings.poll_seconds))
  const value = Number(text)
  const good = Number.isInteger(value) && value >= 5 && value <= 3600
  return (
    <>
      <Field id={id} label={w.poll} hint={w.pollHint}>
        <div>
          <input
            id={id}
            inputMode="numeric"
            value={text}
            aria-invalid={!good}
            aria-describedby={good ? undefined : `${id}bad`}
            onChange={(event) => setText(event.target.value)}
            onBlur={() => good && value !== settings.poll_seconds && put(w.poll, { poll_seconds: value })}
            onKeyDown={(event) =>
              event.key === 'Enter' && good && value !== settings.poll_seconds && put(w.poll, { poll_seconds: value })
            }
            className={cx(
              'h-9 w-24 rounded-control border bg-raised px-2 text-right tabular-nums outline-none focus:border-focus',
              good ? 'border-line-strong' : 'border-danger',
            )}
          />
          {!good && (
            <p id={`${id}bad`} className="mt-1 text-ui text-danger">
              {w.pollBad}
            </p>
          )}
        </div>
      </Field>
      <p className="mt-5 text-ui text-text-2">
        {w.homes}{' '}
        <Link href="/homes" className="rounded-chip text-accent hover:underline">
          {w.toHomes}
        </Link>
      </p>
    </>
  )
}

function About() {
  const { data } = useRead('status.get', {}, { select: (status) => status.daemon })
  const { navigate } = useAddress()
  return (
    <>
      <div className="-mx-3 mt-3 max-w-2xl">
        <Facts>
          <Fact name={w.window}>
            {PRODUCT_VERSION} {desktop()?.platform}
          </Fact>
          <Fact name={w.daemon}>{data?.version ?? words.unknown}</Fact>
          <Fact name={w.dataDir}>
            {data === undefined ? words.unknown : <PathText path={data.data_dir} className="w-full" />}
            <span className="block text-text-2">{w.dataDirHint}</span>
          </Fact>
        </Facts>
      </div>
      <div className="mt-3">
        <Button onClick={() => navigate('/welcome')}>{w.welcome}</Button>
      </div>
    </>
  )
}
