import { spawn, spawnSync } from 'node:child_process'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'

/** What can show the window on this machine, best first. */
export type Host =
  | { readonly kind: 'electron'; readonly program: string }
  | { readonly kind: 'browser'; readonly program: string }
  | { readonly kind: 'none'; readonly why: string }

export interface HostParts {
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  readonly say: (text: string) => void
}

export function hasDisplay(env: NodeJS.ProcessEnv, platform = process.platform): boolean {
  if (platform === 'linux') return Boolean(env.DISPLAY || env.WAYLAND_DISPLAY)
  return !env.SSH_CONNECTION
}

export function chooseHost(parts: HostParts, withElectron = true): Host {
  if (!hasDisplay(parts.env)) return { kind: 'none', why: 'there is no display here' }
  const electron = withElectron ? findElectron(parts) : null
  if (electron !== null) return { kind: 'electron', program: electron }
  const browser = findBrowser(parts.env)
  if (browser !== null) return { kind: 'browser', program: browser }
  return { kind: 'none', why: 'neither Electron nor a Chromium, Chrome, Brave or Edge is installed' }
}

/** The program of the `electron` package; fetched when it is not there yet, within a limit and at most once a day. */
function findElectron({ root, env, say }: HostParts): string | null {
  if (env.ELECTRON_EXEC_PATH) return isProgram(env.ELECTRON_EXEC_PATH) ? env.ELECTRON_EXEC_PATH : null
  const folder = join(root, 'node_modules/electron')
  const present = () => {
    try {
      const program = join(folder, 'dist', readFileSync(join(folder, 'path.txt'), 'utf8').trim())
      return isProgram(program) ? program : null
    } catch {
      return null
    }
  }
  const installer = join(folder, 'install.js')
  const failed = join(root, '.cache/electron-not-fetched')
  if (present() !== null || env.REPRISE_NO_DOWNLOAD || !existsSync(installer) || isYoung(failed)) return present()
  say('fetching the window program (Electron, about 120 MB, once; REPRISE_NO_DOWNLOAD=1 skips this)')
  const seconds = Number(env.REPRISE_DOWNLOAD_SECONDS ?? 120)
  const settings = { stdio: 'ignore', timeout: seconds * 1000, killSignal: 'SIGKILL', env } as const
  const { status } = spawnSync(process.execPath, [installer], settings)
  if (status === 0) rmSync(failed, { force: true })
  else {
    mkdirSync(join(root, '.cache'), { recursive: true })
    writeFileSync(failed, 'The next attempt is made a day after this file was written.\n')
    say('it could not be fetched; going on without it')
  }
  return present()
}

function isYoung(file: string): boolean {
  try {
    return Date.now() - statSync(file).mtimeMs < 86_400_000
  } catch {
    return false
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

const linuxNames = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'brave-browser',
  'brave',
  'microsoft-edge',
  'microsoft-edge-stable',
]
const macNames = ['Google Chrome', 'Chromium', 'Brave Browser', 'Microsoft Edge']

/** A browser that can show the page in a window of its own; `REPRISE_BROWSER` names another. */
export function findBrowser(env: NodeJS.ProcessEnv): string | null {
  if (env.REPRISE_BROWSER) return isProgram(env.REPRISE_BROWSER) ? env.REPRISE_BROWSER : null
  if (process.platform === 'darwin')
    return macNames.map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`).find(isProgram) ?? null
  if (process.platform === 'win32') {
    const folders = [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA].filter((each) => each !== undefined)
    const programs = ['Google/Chrome/Application/chrome.exe', 'Microsoft/Edge/Application/msedge.exe']
    return folders.flatMap((folder) => programs.map((program) => join(folder, program))).find(isProgram) ?? null
  }
  const folders = (env.PATH ?? '').split(delimiter).filter((each) => each !== '')
  return (
    linuxNames
      .flatMap((name) => folders.map((folder) => join(folder, name)))
      .find((file) => isProgram(file) && !isConfined(file)) ?? null
  )
}

/** A browser from a snap may not read files below hidden folders, where our page lies. */
function isConfined(file: string): boolean {
  return file.startsWith('/snap/') || realpathSync(file) === '/usr/bin/snap' || isSnapStub(file)
}

function isSnapStub(file: string): boolean {
  try {
    return statSync(file).size < 8192 && readFileSync(file, 'utf8').includes('/snap/bin/')
  } catch {
    return false
  }
}

/** Root has no user namespace of its own for the sandbox of Chromium. */
const sandboxFlags = () => (process.getuid?.() === 0 ? ['--no-sandbox'] : [])

export interface Shown {
  /** Resolves with the exit code when the window was closed. */
  readonly closed: Promise<number>
  readonly close: () => void
}

export function showInElectron(program: string, root: string, env: NodeJS.ProcessEnv): Shown {
  return follow(program, [root, ...sandboxFlags()], { ...env, REPRISE_NODE: process.execPath }, root)
}

/** `page` redirects to the address with its token: an argument can be read by every user of the machine, that file cannot. */
export function showInBrowser(program: string, page: string, data: string, env: NodeJS.ProcessEnv): Shown {
  const flags = [
    '--no-first-run',
    '--no-default-browser-check',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ]
  const own = [`--user-data-dir=${join(data, 'browser')}`, `--app=file://${encodeURI(page)}`]
  return follow(program, [...flags, ...sandboxFlags(), ...own], env, data)
}

function follow(program: string, args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Shown {
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', process.env.REPRISE_WINDOW_LOG ? 'inherit' : 'ignore'],
    env,
    cwd,
  })
  const closed = new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code) => resolve(code ?? 0))
  })
  return { closed, close: () => child.kill() }
}
