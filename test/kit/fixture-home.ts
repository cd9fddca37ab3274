import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** Root of the checkout. */
export const root = path.resolve(import.meta.dirname, '../..')
const sessions = path.join(root, 'test/fixtures/claude-code/sessions')

/** A throw-away HOME with its own data directory beside it. Nothing in it points at a real one. */
export interface TestHome {
  readonly home: string
  readonly data: string
  /** For a daemon, a window or an agent: nothing but what is needed to run, no variable that leads elsewhere. */
  readonly env: Readonly<Record<string, string>>
  remove(): void
}

/** No agent at all in it. */
export function makeEmptyHome(extra: Readonly<Record<string, string>> = {}): TestHome {
  const base = fs.mkdtempSync(path.join(os.tmpdir(), 'reprise-test-'))
  const home = path.join(base, 'home')
  const data = path.join(base, 'data')
  fs.mkdirSync(home)
  const env: Record<string, string> = { HOME: home, REPRISE_HOME: data, REPRISE_NO_DOWNLOAD: '1' }
  for (const name of ['PATH', 'LANG', 'DISPLAY', 'XAUTHORITY', 'TMPDIR', 'SystemRoot']) {
    const value = process.env[name]
    if (value !== undefined) env[name] = value
  }
  return {
    home,
    data,
    env: { ...env, ...extra },
    remove: () => fs.rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  }
}

/** A Claude Code home with the recorded sessions of `test/fixtures/claude-code/sessions`. */
export function makeFixtureHome(extra: Readonly<Record<string, string>> = {}): TestHome {
  const made = makeEmptyHome(extra)
  const claude = path.join(made.home, '.claude')
  fs.mkdirSync(claude)
  for (const name of ['projects', 'file-history', 'history.jsonl']) {
    fs.cpSync(path.join(sessions, name), path.join(claude, name), { recursive: true })
  }
  fs.copyFileSync(path.join(sessions, 'claude.json.example'), path.join(made.home, '.claude.json'))
  for (const file of listSessionFiles(claude)) dateAsWritten(file)
  return made
}

export function listSessionFiles(claude: string): string[] {
  const entries = fs.readdirSync(path.join(claude, 'projects'), { recursive: true, encoding: 'utf8' })
  return entries.filter((name) => name.endsWith('.jsonl')).map((name) => path.join(claude, 'projects', name))
}

/** A checkout gives every file the time of the checkout; a session's file carries the time of its last record. */
function dateAsWritten(file: string): void {
  const times = [...fs.readFileSync(file, 'utf8').matchAll(/"timestamp":"([^"]+)"/g)].map((match) =>
    Date.parse(match[1] ?? ''),
  )
  const last = Math.max(...times.filter(Number.isFinite))
  if (Number.isFinite(last)) fs.utimesSync(file, last / 1000, last / 1000)
}

export interface LiveSession {
  readonly id: string
  readonly file: string
  readonly total: number
  /** Appends the next recorded lines, as the agent does while it works; returns how many are left. */
  append(lines: number): number
}

/** A new session whose records are those of a recorded one, moved to now and appended bit by bit. */
export function beginLiveSession(home: string, id = 'a1000000-0000-4000-8000-0000000000aa'): LiveSession {
  const original = '10000000-0000-4000-8000-000000000001'
  const source = fs.readFileSync(path.join(sessions, 'projects/-home-dev-demo', `${original}.jsonl`), 'utf8')
  const shift = Date.now() - Date.parse(/"timestamp":"([^"]+)"/.exec(source)?.[1] ?? '')
  const lines = source
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .replaceAll(original, id)
        .replaceAll('Add a median function', 'Count the words of a page')
        // Ids of records differ from session to session; the links between them stay what they were.
        .replace(
          /"(uuid|parentUuid|leafUuid|promptId)":"([0-9a-f]{2})/g,
          (_, name, start) => `"${name}":"${start === 'ee' ? 'ef' : 'ee'}`,
        )
        .replace(
          /"timestamp":"([^"]+)"/g,
          (_, time: string) => `"timestamp":"${new Date(Date.parse(time) + shift).toISOString()}"`,
        ),
    )
  const file = path.join(home, '.claude/projects/-home-dev-demo', `${id}.jsonl`)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  let next = 0
  return {
    id,
    file,
    total: lines.length,
    append(count) {
      const part = lines.slice(next, next + count)
      next += part.length
      if (part.length > 0) fs.appendFileSync(file, `${part.join('\n')}\n`)
      return lines.length - next
    },
  }
}
