import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ResumableSha256 } from '../../../daemon/store/resumable-sha256.ts'

describe('a digest that survives a restart', () => {
  it('gives what an uninterrupted one gives, wherever it was interrupted', async () => {
    const bytes = randomBytes(100_000)
    for (const cuts of [[1], [63, 64, 65], [55, 56, 57, 4096], [99_999], [50_000, 50_000]]) {
      let hash = await ResumableSha256.start()
      let at = 0
      for (const cut of [...cuts, bytes.length]) {
        hash.update(bytes.subarray(at, cut))
        at = cut
        expect(hash.digest()).toBe(createHash('sha256').update(bytes.subarray(0, cut)).digest('hex'))
        hash = await ResumableSha256.resume(hash.save())
      }
    }
  })

  it('refuses a state that is none', async () => {
    for (const text of ['', 'x', 'abcd', '00'.repeat(40)])
      await expect(ResumableSha256.resume(text)).rejects.toThrow(TypeError)
  })

  it('keeps two digests apart that are made at the same time', async () => {
    const [a, b] = [await ResumableSha256.start(), await ResumableSha256.start()]
    a.update(Buffer.from('first'))
    b.update(Buffer.from('second'))
    expect(a.digest()).toBe(createHash('sha256').update('first').digest('hex'))
    expect(b.digest()).toBe(createHash('sha256').update('second').digest('hex'))
  })
})
