import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'

const preparedSchema = z.object({ home: z.string(), data: z.string() })

export interface Demo {
  /** Environment in which nothing points at a real home any more. */
  readonly env: NodeJS.ProcessEnv
  readonly remove: () => void
}

/** Variables by which agents and the platform find homes; sample data must not meet a real one. */
const pointers =
  /^(CLAUDE_CONFIG_DIR|CODEX_HOME|OPENCLAW_.*|HERMES_.*|XDG_(DATA|CONFIG|STATE|CACHE)_HOME|APPDATA|LOCALAPPDATA|REPRISE_HOME)$/

/** Sample data in a throw-away directory, made by the command `reprise demo --prepare`. */
export function prepareDemo(cli: string, env: NodeJS.ProcessEnv): Demo | { readonly problem: string } {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-demo-'))
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, 'demo', '--prepare', folder, '--json'], {
    encoding: 'utf8',
    env,
    maxBuffer: 1 << 24,
  })
  try {
    if (status !== 0) throw new Error(stderr.trim() || `exit code ${status}`)
    const { home, data } = preparedSchema.parse(JSON.parse(stdout))
    const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !pointers.test(name)))
    // The display's key lies in the real home unless a variable names it.
    const display = env.DISPLAY && !env.XAUTHORITY && env.HOME ? { XAUTHORITY: join(env.HOME, '.Xauthority') } : {}
    return {
      env: { ...rest, ...display, HOME: home, USERPROFILE: home, REPRISE_HOME: data, REPRISE_DEMO: '1' },
      remove,
    }
  } catch (error) {
    remove()
    return { problem: `the sample data could not be made: ${error instanceof Error ? error.message : String(error)}` }
  }
}
