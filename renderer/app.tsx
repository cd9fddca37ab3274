import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { lazy } from 'react'
import { Redirect, Route, Switch, useLocation } from 'wouter'
import { Button } from './parts/button.tsx'
import { Empty } from './parts/feedback.tsx'
import { namedIn, runPath } from './shell/address.ts'
import { Shell } from './shell/shell.tsx'
import { TimelineScreen } from './timeline/timeline-screen.tsx'
import { TransportContext } from './transport/queries.ts'
import type { Transport } from './transport/transport.ts'
import { words } from './words/en.ts'

const RunScreen = lazy(() => import('./run/run-screen.tsx'))
const ManifestScreen = lazy(() => import('./manifest/manifest-screen.tsx'))
const CompareScreen = lazy(() => import('./compare/compare-screen.tsx'))
const SearchScreen = lazy(() => import('./search/search-screen.tsx'))
const HomesScreen = lazy(() => import('./homes/homes-screen.tsx'))
const HealthScreen = lazy(() => import('./health/health-screen.tsx'))
const RollbackScreen = lazy(() => import('./rollback/rollback-screen.tsx'))
const RollbacksScreen = lazy(() => import('./rollback/rollbacks-screen.tsx'))
const ReceiptScreen = lazy(() => import('./rollback/receipt-screen.tsx'))
const SettingsScreen = lazy(() => import('./settings/settings-screen.tsx'))

interface AppProps {
  readonly transport: Transport
  readonly client: QueryClient
}

export function App({ transport, client }: AppProps) {
  return (
    <TransportContext.Provider value={transport}>
      <QueryClientProvider client={client}>
        <Shell>
          <Routes />
        </Shell>
      </QueryClientProvider>
    </TransportContext.Provider>
  )
}

function Routes() {
  return (
    <Switch>
      <Route path="/">
        <Redirect to="/timeline" replace />
      </Route>
      <Route path="/index.html">
        <Redirect to="/timeline" replace />
      </Route>
      <Route path="/timeline">
        <TimelineScreen welcome={false} />
      </Route>
      <Route path="/welcome">
        <TimelineScreen welcome />
      </Route>
      <Route path="/runs/:run/manifest">{({ run }) => <ManifestScreen key={run} target={namedIn(run)} ofRun />}</Route>
      <Route path="/runs/:run/at/:seq">
        {({ run, seq }) => <RunScreen key={run} reference={namedIn(run)} seq={Number(seq)} />}
      </Route>
      <Route path="/runs/:run">{({ run }) => <RunReference reference={namedIn(run)} />}</Route>
      <Route path="/manifests/:digest">
        {({ digest }) => <ManifestScreen key={digest} target={namedIn(digest)} ofRun={false} />}
      </Route>
      <Route path="/compare">
        <CompareScreen />
      </Route>
      <Route path="/rollback">
        <RollbackScreen />
      </Route>
      <Route path="/rollbacks">
        <RollbacksScreen />
      </Route>
      <Route path="/rollbacks/:id">{({ id }) => <ReceiptScreen key={id} id={namedIn(id)} />}</Route>
      <Route path="/search">
        <SearchScreen />
      </Route>
      <Route path="/homes">
        <HomesScreen />
      </Route>
      <Route path="/health/:topic?">{({ topic }) => <HealthScreen topic={topic ?? null} />}</Route>
      <Route path="/settings/:page?">{({ page }) => <SettingsScreen page={page ?? null} />}</Route>
      <Route>
        <NotFound />
      </Route>
    </Switch>
  )
}

/** `RUN` and `RUN@SEQ`, as palette, command line and people write them. */
function RunReference({ reference }: { readonly reference: string }) {
  const [, run = reference, seq] = /^(.+)@(\d+)$/.exec(reference) ?? []
  if (seq !== undefined) return <Redirect to={runPath(run, Number(seq))} replace />
  return <RunScreen key={run} reference={run} seq={null} />
}

function NotFound() {
  const [path, navigate] = useLocation()
  return (
    <Empty title={words.nav.notFound} hint={words.nav.notFoundHint(path)}>
      <Button onClick={() => navigate('/timeline')}>{words.nav.toTimeline}</Button>
    </Empty>
  )
}
