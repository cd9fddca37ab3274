import fs from 'node:fs'
import os from 'node:os'
import type { ManifestBody } from '../../../contract/index.ts'
import type { Surroundings } from '../../runtimes/adapter.ts'

/** Who runs the agent, as far as the machine says; the account behind its credentials stays a reference (R58). */
export function findPrincipal(body: ManifestBody, { env }: Surroundings): ManifestBody['principal'] {
  const name = env.USER ?? env.LOGNAME ?? env.USERNAME
  const credential = body.instructions.sources.find(
    ({ classification, kind, status, path }) =>
      classification === 'secret' && kind === 'state' && status !== 'not_loaded' && path !== null,
  )
  return {
    ...body.principal,
    subject: body.principal.subject ?? (name === undefined || name === '' ? null : `user:${name}`),
    tenant: body.principal.tenant ?? 'this machine',
    auth_context_ref: body.principal.auth_context_ref ?? credential?.uri ?? null,
  }
}

export interface Host {
  readonly platform: string
  readonly arch: string
  readonly release: string
}

export const describeHost = ({ platform }: Surroundings): Host => ({ platform, arch: os.arch(), release: os.release() })

/** The container the agent runs in, as far as it can be told from inside; null on the machine itself. */
export function findImage({ env, systemRoot, platform }: Surroundings): string | null {
  if (platform !== 'linux') return null
  const has = (file: string): boolean => fs.existsSync(`${systemRoot}${file}`)
  if (env.REMOTE_CONTAINERS === 'true' || env.CODESPACES === 'true') return 'dev container (image not named inside)'
  if (has('/run/.containerenv'))
    return imageOfPodman(`${systemRoot}/run/.containerenv`) ?? 'podman (image not named inside)'
  if (has('/.dockerenv')) return 'docker (image not named inside)'
  return env.container === undefined || env.container === '' ? null : `${env.container} (image not named inside)`
}

/** Podman writes `image="…"` and `imageid="…"` there. */
function imageOfPodman(file: string): string | null {
  try {
    const text = fs.readFileSync(file, 'utf8')
    const image = /^image="(.+)"$/m.exec(text)?.[1]
    const id = /^imageid="(.+)"$/m.exec(text)?.[1]
    return image === undefined ? null : id === undefined ? image : `${image}@${id}`
  } catch {
    return null
  }
}
