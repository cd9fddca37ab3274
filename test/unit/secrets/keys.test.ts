import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isCredentialFile } from '../../../daemon/secrets/credential-files.ts'
import { openKeys } from '../../../daemon/secrets/keys.ts'
import { openRevealLog } from '../../../daemon/secrets/reveal-log.ts'
import { temporaryDirectory } from '../../kit/store.ts'

let dir: ReturnType<typeof temporaryDirectory>
beforeEach(() => {
  dir = temporaryDirectory()
})
afterEach(() => dir.remove())

describe('keys', () => {
  it('are made once, 0600, and are the same afterwards', async () => {
    const first = await openKeys(join(dir.path, 'keys'))
    const second = await openKeys(join(dir.path, 'keys'))
    expect(first.keyId).toMatch(/^ed25519:[0-9a-f]{16}$/)
    expect(second.keyId).toBe(first.keyId)
    expect(second.hmacKey.equals(first.hmacKey)).toBe(true)
    expect(first.repaired).toEqual([])
    expect(first.publicKeyOf(first.keyId)).not.toBeNull()
    expect(first.publicKeyOf('ed25519:0000000000000000')).toBeNull()
    expect(readdirSync(join(dir.path, 'keys')).sort()).toEqual(['hmac.key', 'signing.pem'])
    for (const name of ['hmac.key', 'signing.pem'])
      expect(statSync(join(dir.path, 'keys', name)).mode & 0o777).toBe(0o600)
    expect(statSync(join(dir.path, 'keys')).mode & 0o777).toBe(0o700)
  })

  it('are the same for starters at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => openKeys(join(dir.path, 'keys'))))
    expect(new Set(all.map(({ keyId }) => keyId)).size).toBe(1)
    expect(new Set(all.map(({ hmacKey }) => hmacKey.toString('hex'))).size).toBe(1)
  })

  it('that others could read are closed, and that is told', async () => {
    await openKeys(join(dir.path, 'keys'))
    chmodSync(join(dir.path, 'keys', 'hmac.key'), 0o644)
    chmodSync(join(dir.path, 'keys'), 0o755)
    const { repaired } = await openKeys(join(dir.path, 'keys'))
    expect(repaired).toHaveLength(2)
    expect(repaired.join()).toContain('hmac.key was open to others (0644), now 0600')
    expect(statSync(join(dir.path, 'keys', 'hmac.key')).mode & 0o777).toBe(0o600)
  })

  it('that are damaged are never replaced', async () => {
    await openKeys(join(dir.path, 'keys'))
    writeFileSync(join(dir.path, 'keys', 'signing.pem'), 'nonsense')
    await expect(openKeys(join(dir.path, 'keys'))).rejects.toMatchObject({ code: 'damaged' })
    expect(readFileSync(join(dir.path, 'keys', 'signing.pem'), 'utf8')).toBe('nonsense')
  })
})

describe('credential files', () => {
  it('are known by name, ending or folder', () => {
    const files = [
      '.credentials.json',
      'codex/auth.json',
      'C:\\Users\\x\\.codex\\auth.json',
      'a/b/server.key',
      '.ssh/id_ed25519',
      'mcp-oauth/x.json',
      '.netrc',
      'agents/main/agent/auth-profiles.json',
      'agents/main/agent/openclaw-agent.sqlite',
      'agents/main/agent/openclaw-agent.sqlite-wal',
      '.openclaw/config-journal-fingerprint.key',
      '.openclaw/credentials/whatsapp/x.json',
      '.openclaw/secrets.json',
      '.openclaw/.env',
      '.hermes/auth.json',
      '.hermes/auth.json.bak',
      '.hermes/.env',
      '/home/x/.hermes/profiles/work/.env',
      'C:\\Users\\x\\.codex\\.env',
      '.hermes/pairing/telegram.json',
    ]
    expect(files.filter((file) => !isCredentialFile(file))).toEqual([])
    const others = [
      'settings.json',
      'CLAUDE.md',
      'keybindings.json',
      '.ssh/id_ed25519.pub',
      '.ssh/config',
      'src/auth.ts',
      'token.md',
      '.env',
      'shop/.env',
      '.hermes/config.yaml',
      '.openclaw/openclaw.json.bak.2',
      '.codex/config.toml',
      'projects/x/session.jsonl',
    ]
    expect(others.filter((file) => isCredentialFile(file))).toEqual([])
  })
})

describe('the log of reads', () => {
  const entry = (n: number) => ({
    at: `2026-11-30T12:00:0${n}.000Z`,
    ref: `vault:${n}`,
    family: 'npm',
    where: 'run',
    by: 'window',
    who: 'someone',
    reason: n === 1 ? null : 'a test',
  })

  it('is appended to, newest first, closed to others', async () => {
    const path = join(dir.path, 'vault', 'reads.jsonl')
    const log = openRevealLog(path)
    expect(await log.read(10)).toEqual({ reads: [], total: 0, unreadable: 0 })
    await Promise.all([1, 2, 3].map((n) => log.append(entry(n))))
    expect((await openRevealLog(path).read(2)).reads).toEqual([entry(3), entry(2)])
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('counts a line cut by a crash and goes on after it', async () => {
    const path = join(dir.path, 'reads.jsonl')
    mkdirSync(dir.path, { recursive: true })
    writeFileSync(path, `${JSON.stringify(entry(1))}\n{"at":"2026-`)
    const log = openRevealLog(path)
    await log.append(entry(2))
    expect(await log.read(10)).toEqual({ reads: [entry(2), entry(1)], total: 2, unreadable: 1 })
  })
})
