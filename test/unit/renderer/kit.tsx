import { QueryClient } from '@tanstack/react-query'
import { configure, type RenderResult, render } from '@testing-library/react'
import { type EndpointName, endpoints, type Input, type Output } from '../../../contract/endpoints.ts'
import type { ErrorBody } from '../../../contract/errors.ts'
import type { Push } from '../../../contract/push.ts'
import { App } from '../../../renderer/app.tsx'
import { rememberPlace } from '../../../renderer/parts/grid-memory.ts'
import { useLink } from '../../../renderer/shell/link-state.ts'
import { CallFailed, type Transport } from '../../../renderer/transport/transport.ts'

/** Answers by endpoint; a handler may throw a `CallFailed`. Every answer is checked against the contract, so no test rests on a shape the daemon never gives. */
export type Answers = { [N in EndpointName]?: (input: Input<N>) => Output<N> | Promise<Output<N>> }

export class FakeTransport implements Transport {
  readonly calls: { readonly name: string; readonly input: unknown }[] = []
  answers: Answers
  private listener: ((push: Push) => void) | null = null
  private onLink: ((link: 'connecting' | 'open' | 'away') => void) | null = null

  constructor(answers: Answers) {
    this.answers = answers
  }

  async call<N extends EndpointName>(name: N, input: Input<N>): Promise<Output<N>> {
    this.calls.push({ name, input })
    const parsed = endpoints[name].input.parse(input) as Input<N>
    const answer = this.answers[name]
    if (answer === undefined) throw failure('not_found', `the test has no answer for ${name}`)
    return endpoints[name].output.parse(await answer(parsed)) as Output<N>
  }

  subscribe(onPush: (push: Push) => void, onLink: (link: 'connecting' | 'open' | 'away') => void) {
    this.listener = onPush
    this.onLink = onLink
    onLink('open')
    return { retryNow: () => onLink('open'), close: () => undefined }
  }

  push(push: Push) {
    this.listener?.(push)
  }

  link(link: 'connecting' | 'open' | 'away') {
    this.onLink?.(link)
  }

  called(name: EndpointName) {
    return this.calls.filter((call) => call.name === name)
  }
}

export const failure = (
  code: ErrorBody['code'],
  message: string,
  hint: string | null = null,
  candidates?: readonly string[],
) =>
  new CallFailed(
    candidates === undefined ? { code, status: 400, message, hint } : { code, status: 400, message, hint, candidates },
  )

// Screens are loaded on first use, and the machine may be busy.
configure({ asyncUtilTimeout: 8000 })

/** Without a layout engine every box is as large as a window; virtual lists then show a screenful. */
export function giveBoxesSize(width = 1400, height = 800) {
  for (const [name, size] of [
    ['clientWidth', width],
    ['offsetWidth', width],
    ['clientHeight', height],
    ['offsetHeight', height],
  ] as const)
    Object.defineProperty(HTMLElement.prototype, name, { configurable: true, get: () => size })
  // A browser reports the first size soon after observing begins.
  globalThis.ResizeObserver = class implements ResizeObserver {
    constructor(private readonly callback: ResizeObserverCallback) {}
    observe() {
      setTimeout(() => this.callback([], this))
    }
    unobserve() {}
    disconnect() {}
  }
  HTMLElement.prototype.getBoundingClientRect = () => ({
    x: 0,
    y: 0,
    top: 0,
    left: 0,
    right: width,
    bottom: height,
    width,
    height,
    toJSON: () => null,
  })
}

export function openApp(
  path: string,
  answers: Answers,
): { readonly transport: FakeTransport; readonly view: RenderResult; readonly client: QueryClient } {
  sessionStorage.clear()
  rememberPlace('timeline?&null&null', { offset: 0, key: null, focused: false })
  history.replaceState(null, '', path)
  useLink.setState({ link: 'connecting', awaySince: null, progress: new Map(), grown: new Map() })
  const transport = new FakeTransport({ 'status.get': () => status(), 'settings.get': () => settings(), ...answers })
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Number.POSITIVE_INFINITY } } })
  const view = render(<App transport={transport} client={client} />)
  return { transport, view, client }
}

type Status = Output<'status.get'>
type Settings = Output<'settings.get'>
type Run = Output<'runs.get'>['run']
type RunEvent = Output<'runs.events'>['events'][number]
type Manifest = Output<'manifest.get'>['manifest']

export const AT = '2026-11-30T14:02:31.207Z'
export const digest = (digit: string) => `sha256:${digit.repeat(64)}`

export const settings = (change: Partial<Settings> = {}): Settings => ({
  version: 1,
  theme: 'light',
  density: 'compact',
  single_key_shortcuts: true,
  collection: 'redacted',
  homes: [],
  poll_seconds: 30,
  welcome_closed: true,
  ...change,
})

export const home = (change: Partial<Status['homes'][number]> = {}): Status['homes'][number] => ({
  id: 'h_000000000001',
  runtime: 'claude-code',
  path: '/home/dev/.claude',
  found_by: 'default',
  version: '2.1.332',
  version_from: 'sessions',
  state: 'ok',
  reason: null,
  watched: true,
  watching: { watched: 11, wanted: 11, polling: false, why: null },
  sessions: 4,
  unreadable: 0,
  bytes: 1000,
  retention: { days: 30, from: 'default', expiring_soon: 2 },
  last_read_at: AT,
  ...change,
})

export const status = (change: Partial<Status> = {}): Status => ({
  daemon: {
    pid: 901,
    version: '0.1.0',
    contract: 1,
    started_at: AT,
    data_dir: '/home/dev/.local/share/reprise',
    socket: '/run/reprise.sock',
    url: null,
    state: 'ready',
    sample: false,
  },
  homes: [home()],
  looked: [{ runtime: 'claude-code', places: ['~/.claude'], found: 1, supported: true }],
  watches: { count: 11, limit: null, polling: 0 },
  lag_ms: 0,
  store: { bytes: 1000, runs: 3, events: 30, manifests: 1 },
  gaps: [],
  gap_count: 0,
  progress: [],
  vault: { key_store: 'os', note: null, objects: 0 },
  rollbacks: { last: null, open: [] },
  ...change,
})

export const run = (change: Partial<Run> = {}): Run => ({
  id: 'r_000000000001',
  session: '10000000-0000-4000-8000-000000000001',
  runtime: 'claude-code',
  runtime_version: '2.1.332',
  runtime_versions: ['2.1.332'],
  home: '/home/dev/.claude',
  home_id: 'h_000000000001',
  workspace: '/home/dev/shop',
  workspaces: ['/home/dev/shop'],
  title: 'fix flaky retry test',
  title_from: 'agent',
  models: ['acme-large-2'],
  started_at: AT,
  ended_at: '2026-11-30T14:19:00.000Z',
  status: 'done',
  parent: null,
  relation: null,
  forked_at: null,
  stretches: [{ n: 1, started_at: AT, cause: 'start', manifest: digest('a'), first_seq: 1 }],
  events: 6,
  copied_events: 0,
  calls: { total: 3, failed: 1 },
  effects: { added: 1, changed: 4, deleted: 1, unknown_calls: 2 },
  tokens: { input: 100, output: 50, cache_read: 0, cache_write: 0 },
  tokens_are_lower_bound: false,
  manifest: digest('a'),
  task: null,
  coverage: 'partial',
  unreadable_lines: 0,
  source_state: 'present',
  clock_steps_back: 0,
  ...change,
})

export const event = (seq: number, change: Partial<RunEvent> = {}): RunEvent => ({
  seq,
  id: `e${seq}`,
  parent: seq > 1 ? `e${seq - 1}` : null,
  broken_link: false,
  kind: 'model',
  at: AT,
  tool: null,
  tool_use_id: null,
  summary: `event number ${seq}`,
  ok: null,
  duration_ms: null,
  origin: 'live',
  pre_state: null,
  post_state: null,
  effects: [],
  effects_state: 'not_applicable',
  tokens: null,
  model: null,
  lane: 'main',
  subagent: null,
  copied_from: null,
  stretch: 1,
  cwd: null,
  line: seq * 2,
  commit: null,
  exchange: null,
  ...change,
})

export const page = (
  items: Output<'timeline.page'>['items'],
  change: Partial<Output<'timeline.page'>> = {},
): Output<'timeline.page'> => ({
  items,
  next: null,
  total: items.length,
  total_any_time: items.length,
  density: null,
  facets: { runtimes: [{ value: 'claude-code', count: items.length }], workspaces: [], statuses: [] },
  coverage: 'partial',
  ...change,
})

export const runItem = (of: Run, children: readonly string[] = []): Output<'timeline.page'>['items'][number] => ({
  type: 'run',
  at: of.started_at ?? AT,
  run: of,
  children: [...children],
})

export const details = (of: Run, change: Partial<Output<'runs.get'>> = {}): Output<'runs.get'> => ({
  run: of,
  at: null,
  stretch: null,
  coverage: {
    mode: 'observed',
    state: 'partial',
    items: [{ what: 'changed files', state: 'partial', why: 'what shell commands changed was not seen', count: 4 }],
  },
  branches: [],
  files: [],
  unreadable: [],
  ...change,
})

export const ticksOf = (events: readonly RunEvent[]): Output<'runs.ticks'> => ({
  seqs: events.map((entry) => entry.seq),
  kinds: events.map((entry) => entry.kind),
  failed: events.map((entry) => entry.ok === false),
  changed: events.map((entry) => entry.effects.length > 0),
  captured: events.map((entry) => entry.effects_state !== 'partial' && entry.effects_state !== 'none'),
})

export const source = (
  change: Partial<Manifest['instructions']['sources'][number]> = {},
): Manifest['instructions']['sources'][number] => ({
  uri: 'file:///home/dev/.claude/CLAUDE.md',
  path: '/home/dev/.claude/CLAUDE.md',
  scope: 'user',
  kind: 'instructions',
  label: null,
  position: 0,
  status: 'loaded',
  reason: null,
  rule: null,
  digest: digest('b'),
  text_digest: digest('c'),
  bytes: 2100,
  imported_by: [],
  trigger: null,
  truncated: null,
  scan: { result: 'clean', rules: [] },
  used: true,
  classification: 'private',
  ...change,
})

export const manifest = (change: Partial<Manifest> = {}): Manifest => ({
  manifest_version: 1,
  run_id: 'r_000000000001',
  stretch: 1,
  created_at: AT,
  origin: 'captured',
  task: { id: null, input_digest: null },
  principal: { subject: null, tenant: null, auth_context_ref: null },
  instructions: { effective_digest: digest('d'), resolved_order: ['user'], sources: [source()] },
  settings: {},
  capabilities: { skills: [], commands: [], agents: [], plugins: [], hooks: [], mcp_servers: [], tools: [] },
  execution: {
    runtime: 'claude-code',
    runtime_version: '2.1.332',
    runtime_digest: null,
    surface: null,
    model: null,
    endpoint_profile: null,
    reasoning: null,
    flags: [],
    environment: [],
    sandbox: { mode: null, network_policy: null },
    cwd: '/home/dev/shop',
    repo: null,
    image: null,
  },
  context: {
    session_ref: null,
    memory_manifest_digest: null,
    memory_enabled: null,
    memory: [],
    retrieval_snapshot: null,
  },
  policy: {
    revision: null,
    permissions: { mode: 'default', allow: [], ask: [], deny: [] },
    trust: { trusted: null, source: null },
    managed: [],
  },
  external: [],
  empty: [],
  unknown: [],
  integrity: { manifest_digest: digest('a'), signature: 'ed25519:00', key_id: 'k_1' },
  ...change,
})
