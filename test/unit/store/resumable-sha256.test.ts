import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ResumableSha256 } from '../../../daemon/store/resumable-sha256.ts'

describe('ResumableSha256', () => {
  it('gives what Node gives, whatever the pieces and restarts', () => {
    for (let length = 0; length < 300; length += 1) {
      const bytes = randomBytes(length)
      let hash = new ResumableSha256()
      for (let at = 0; at < length; ) {
        const next = at + 1 + ((at * 7 + length) % 90)
        hash.update(bytes.subarray(at, next))
        hash = ResumableSha256.resume(hash.save())
        at = next
      }
      expect(hash.digest()).toBe(createHash('sha256').update(bytes).digest('hex'))
    }
  })

  it('gives a digest in the middle and goes on', () => {
    const hash = new ResumableSha256().update(Buffer.from('ab'))
    hash.digest()
    expect(hash.update(Buffer.from('c')).digest()).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
  })

  it('counts lengths beyond 512 MB in bits', () => {
    const saved = new ResumableSha256().update(Buffer.alloc(64)).save()
    const far = ResumableSha256.resume(saved.replace(':64:', `:${2 ** 33}:`))
    expect(far.digest()).not.toBe(ResumableSha256.resume(saved.replace(':64:', `:${2 ** 34}:`)).digest())
  })

  it('refuses what it did not save', () => {
    for (const text of ['', 'x', `${'0'.repeat(64)}:5:00`])
      expect(() => ResumableSha256.resume(text)).toThrow(TypeError)
  })
})
