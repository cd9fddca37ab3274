import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asDigest, asRunId } from '../../contract/index.ts'
import { plantedSecrets } from '../kit/secrets.ts'
import { manifestBody, openTestStore, sliceOf, temporaryDirectory } from '../kit/store.ts'

/** B24 – Secrets end up in the history store: whatever way a key comes in, no object, file or log line of ours holds it. */
const RUN = asRunId('r_0123456789ab')
let dir: ReturnType<typeof temporaryDirectory>
beforeEach(() => {
  dir = temporaryDirectory()
})
afterEach(() => dir.remove())

const toolOutput = (text: string) =>
  `${JSON.stringify({ type: 'user', message: { content: [{ type: 'tool_result', content: text }] }, toolUseResult: { stdout: text } })}\n`

/** Everything git holds, reachable or not, unpacked. */
function allObjects(): Buffer {
  return execFileSync(
    'git',
    [`--git-dir=${join(dir.path, 'store.git')}`, 'cat-file', '--batch-all-objects', '--batch'],
    { maxBuffer: 1 << 30 },
  )
}

function allFiles(folder: string): Buffer[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    if (name === 'store.git' || name === 'keys') return []
    return statSync(path).isDirectory() ? allFiles(path) : [readFileSync(path)]
  })
}

function leaks(needles: readonly string[], texts: readonly Buffer[]): string[] {
  return needles.filter((needle) => texts.some((text) => text.includes(needle)))
}

describe('B24', () => {
  it('knows at least twelve families', () => {
    expect(new Set(plantedSecrets().map(({ family }) => family)).size).toBeGreaterThanOrEqual(12)
  })

  it('keeps planted keys out of sessions, texts, manifests, run descriptions, paths and the log', async () => {
    const { store, logged } = await openTestStore(dir.path)
    const secrets = plantedSecrets()
    const lines = secrets.flatMap(({ text }) => [
      toolOutput(`before ${text} after`),
      toolOutput(JSON.stringify({ nested: JSON.stringify({ deeper: text }) })),
    ])
    await store.sessions.append(
      RUN,
      { title: secrets.map(({ text }) => text).join(' ') },
      [sliceOf('s.jsonl', lines.join(''))],
      false,
    )
    for (const [n, { text, splits }] of secrets.entries()) {
      const digest = asDigest(`sha256:${createHash('sha256').update(text).digest('hex')}`)
      await store.texts.put([{ digest, text: `# Notes\n${text}\nend` }])
      await store.manifests.put(
        manifestBody({
          stretch: n,
          settings: { note: { value: text, source: 's', merged_from: [], overridden: [], rule: 'replace' } },
        }),
      )
      await store.sessions.append(asRunId(`r_${n}`), {}, [sliceOf(`${splits ? text : n}.jsonl`, '{}\n')], false)
    }
    await store.close()
    const needles = secrets.map(({ secret }) => secret)
    expect(leaks(needles, [allObjects(), ...allFiles(dir.path), Buffer.from(logged.join('\n'))])).toEqual([])
  })

  it('covers a key cut by the border of two appends, at every place', async () => {
    const { store } = await openTestStore(dir.path)
    const needles: string[] = []
    for (const { secret, text, splits } of plantedSecrets()) {
      if (!splits) continue
      needles.push(secret)
      const line = Buffer.from(toolOutput(text))
      const from = line.indexOf(secret.slice(0, 12))
      expect(from).toBeGreaterThan(0)
      for (const at of [1, 5, 12, Math.floor(secret.length / 2), secret.length - 1]) {
        const run = asRunId(
          `r_${createHash('sha256')
            .update(secret + at)
            .digest('hex')
            .slice(0, 12)}`,
        )
        const cut = from + at
        await store.sessions.append(run, {}, [sliceOf('s.jsonl', line.subarray(0, cut))], false)
        await store.sessions.append(
          run,
          {},
          [{ ...sliceOf('s.jsonl', line.subarray(cut)), firstLine: 1, firstByte: cut }],
          false,
        )
        expect((await store.sessions.state(run))[0]).toMatchObject({ lines: 1, bytes: line.length })
      }
    }
    await store.close()
    expect(needles.length).toBeGreaterThanOrEqual(12)
    const objects = allObjects()
    expect(leaks(needles, [objects])).toEqual([])
    // Nor the long half of one.
    expect(
      leaks(
        needles.map((secret) => secret.slice(Math.floor(secret.length / 2))),
        [objects],
      ),
    ).toEqual([])
  }, 120_000)

  it('leaves nothing of the original in the digest state', async () => {
    const { store } = await openTestStore(dir.path)
    const secret = `ghp_${'zQ9x'.repeat(9)}`
    await store.sessions.append(RUN, {}, [sliceOf('s.jsonl', `${secret}\n`)], false)
    await store.close()
    const objects = allObjects()
    for (const form of [
      secret,
      Buffer.from(secret).toString('hex'),
      Buffer.from(secret).toString('base64').slice(0, 40),
    ]) {
      expect(objects.includes(form)).toBe(false)
    }
  })

  it('leaves images, signatures, digests and lock files as they are', async () => {
    const { store } = await openTestStore(dir.path)
    const lines = Array.from({ length: 40 }, () =>
      toolOutput(
        JSON.stringify({
          image: {
            type: 'base64',
            media_type: 'image/png',
            data: Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(20_000)]).toString('base64'),
          },
          signature: randomBytes(900).toString('base64'),
          thinking: randomBytes(600).toString('base64url'),
          sha: randomBytes(32).toString('hex'),
          git: randomBytes(20).toString('hex'),
          integrity: `sha512-${randomBytes(64).toString('base64')}`,
          id: `toolu_01${randomBytes(16).toString('base64url').replace(/[-_]/g, 'x')}`,
        }),
      ),
    )
    const text = lines.join('')
    await store.sessions.append(RUN, {}, [sliceOf('s.jsonl', text)], false)
    const got: Buffer[] = []
    for await (const line of store.sessions.read(RUN, 's.jsonl')) got.push(Buffer.from(line.text))
    expect(Buffer.concat(got).equals(Buffer.from(text))).toBe(true)
    await store.close()
  })
})
