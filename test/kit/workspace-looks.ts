import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  createWorkspaceLooks,
  type Look,
  type LookParts,
  type WorkspacePlace,
} from '../../daemon/capture/workspaces/look.ts'
import { createRedactor } from '../../daemon/secrets/create-redactor.ts'
import type { Original, Vault } from '../../daemon/secrets/vault.ts'
import { memoryLarge, memoryStates } from './memory-states.ts'

export function memoryVault(): Vault & { readonly originals: Map<string, Original> } {
  const originals = new Map<string, Original>()
  return {
    originals,
    state: async () => ({ keyStore: 'file', why: null, objects: originals.size }),
    prepare: async () => {},
    put: async (given) => {
      for (const one of given) originals.set(one.about.ref, one)
    },
    get: async (ref) => originals.get(ref) ?? null,
    verifyAll: async () => [],
  }
}

/** Looks at workspaces below `dir`, with states in memory unless others are given. */
export function testLooks(dir: string, more: Partial<LookParts> = {}) {
  const states = memoryStates()
  const large = memoryLarge()
  const vault = memoryVault()
  const home = join(dir, 'home')
  mkdirSync(home, { recursive: true })
  const logged: string[] = []
  const parts: LookParts = {
    states,
    large,
    vault,
    redactor: createRedactor(Buffer.alloc(32, 7)),
    collection: () => 'redacted',
    cacheFolder: join(dir, 'data', 'cache'),
    now: () => new Date(),
    clock: () => performance.now(),
    seed: null,
    settings: () => ({}),
    surroundings: () => ({
      userHome: home,
      agentHomes: [join(home, '.claude')],
      dataFolder: join(dir, 'data'),
      platform: process.platform,
    }),
    log: (message) => logged.push(message),
    ...more,
  }
  const looks = createWorkspaceLooks(parts)
  const look = (place: WorkspacePlace, hint: readonly string[] | null = null): Promise<Look> =>
    looks.look(place, { hint, deadline: null })
  /** As after a restart: what is remembered comes from the disk. */
  const again = () => testLooks(dir, { ...parts, ...more })
  return { looks, look, states: parts.states, appended: states.appended, large, vault, parts, logged, again, home }
}
