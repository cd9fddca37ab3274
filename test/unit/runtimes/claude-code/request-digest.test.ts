import { describe, expect, it } from 'vitest'
import { asWireMessage, messageHash, putCacheMarks } from '../../../../daemon/runtimes/claude-code/request-digest.ts'

const said = { role: 'system', content: [{ type: 'text', text: 'checked' }] }

describe('cache marks of a request', () => {
  it('are put where their paths point, also when the same message stands there twice', () => {
    const marked = putCacheMarks({ messages: [said, said] }, [
      { path: ['messages', 1, 'content', 0], value: { type: 'ephemeral' } },
      { path: ['messages', 7, 'content', 0], value: { type: 'ephemeral' } },
    ])
    expect(marked).toEqual({
      messages: [
        said,
        { role: 'system', content: [{ type: 'text', text: 'checked', cache_control: { type: 'ephemeral' } }] },
      ],
    })
    expect(said.content[0]).not.toHaveProperty('cache_control')
  })

  it('do not change the hash of a message, nor does the short form of one text', () => {
    const hash = messageHash(said)
    const marked = {
      role: 'system',
      content: [{ text: 'checked', cache_control: { type: 'ephemeral' }, type: 'text' }],
    }
    expect(messageHash(marked)).toBe(hash)
    const short = asWireMessage({ role: 'system', content: 'checked' })
    expect(short && messageHash(short)).toBe(hash)
    expect(asWireMessage({ role: 'user', content: 3 })).toBeNull()
  })
})
