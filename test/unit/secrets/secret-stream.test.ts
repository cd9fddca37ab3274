import { describe, expect, it } from 'vitest'
import { createRedactor } from '../../../daemon/secrets/create-redactor.ts'
import { coverCut, SecretStream } from '../../../daemon/secrets/secret-stream.ts'
import { plantedSecrets } from '../../kit/secrets.ts'

const redactor = createRedactor(Buffer.alloc(32, 7))

/** Texts in order, covered as a reader of a stream covers them: across the borders, then each by itself. */
function cover(texts: readonly string[]): string[] {
  const stream = new SecretStream<number>(redactor)
  const cuts = texts.map((): { start: number; end: number; placeholder: string }[] => [])
  for (const [n, text] of texts.entries()) for (const cut of stream.add(n, text)) cuts[cut.key]?.push(cut)
  return texts.map((text, n) => redactor.redact(coverCut(text, cuts[n] ?? [])).text)
}

describe('a secret in a stream of texts', () => {
  const splitting = plantedSecrets().filter(({ splits }) => splits)

  it.each(splitting.map((planted) => [planted.family, planted] as const))(
    '%s is covered wherever two texts cut it',
    (_, planted) => {
      const { secret } = planted
      for (let at = 1; at < secret.length; at += 1) {
        const said = cover([`first words ${secret.slice(0, at)}`, `${secret.slice(at)} and more words`])
        const joined = said.join('')
        expect(joined, `cut at ${at}`).not.toContain(secret)
        // Of the second half no more is left than a few letters at its very end, which could be a word.
        const rest = secret.slice(at)
        if (rest.length > 9) expect(said[1], `cut at ${at}`).not.toContain(rest.slice(0, 8))
        expect(said[0]).toMatch(/^first words /)
        expect(said[1]).toMatch(/ and more words$/)
      }
    },
  )

  it.each(splitting.map((planted) => [planted.family, planted] as const))(
    '%s is covered when it comes in small pieces',
    (_, planted) => {
      for (const size of [3, 4, 7, 16]) {
        const pieces = planted.secret.match(new RegExp(`.{1,${size}}`, 'g')) ?? []
        const said = cover(['the key is ', ...pieces, ' .'])
        expect(said.join('').includes(planted.secret)).toBe(false)
        for (const piece of pieces.slice(Math.ceil(16 / size), -1))
          expect(said, `${size} ${piece}`).not.toContain(piece)
      }
    },
  )

  it('is covered when it is known by the name before it', () => {
    for (const [first, second] of [
      ['DB_PASSWORD=hun', 'ter2-Again!'],
      ['DB_PASSWORD', '=hunter2-Again!'],
      ['postgres://app:tr0ub', '4dor-and-3@db.internal/main'],
      ['Authorization: Bearer 9f8e7d6c5b4a', '3f2e1d0c9b8a7f6e5d'],
    ] as const) {
      const joined = cover([first, second]).join('')
      expect(joined, joined).not.toContain(second.replace(/^=|@.*$/g, ''))
      expect(joined).toContain('‹secret:')
    }
  })

  it('is covered in a key block that goes over many texts', () => {
    const block = plantedSecrets().find(({ family }) => family === 'private-key')?.text ?? ''
    const lines = block.split('\n')
    for (const size of [1, 2, 5]) {
      const texts: string[] = []
      for (let at = 0; at < lines.length; at += size) texts.push(`${lines.slice(at, at + size).join('\n')}\n`)
      const said = cover(['before\n', ...texts, 'after\n']).join('')
      for (const line of lines.slice(1, -1)) expect(said).not.toContain(line)
      expect(said).toContain('before')
      expect(said).toContain('after')
    }
  })

  it('is covered in a base64 blob that is cut', () => {
    const wrapped = Buffer.from(`# environment\nTOKEN=${splitting[0]?.secret}\nDEBUG=1\n`).toString('base64')
    for (let at = 30; at < wrapped.length - 30; at += 7) {
      const said = cover([`data:text/plain;base64,${wrapped.slice(0, at)}`, wrapped.slice(at)])
      expect(Buffer.from(said.join(''), 'base64').toString()).not.toContain(splitting[0]?.secret.slice(20))
    }
  })

  it('takes prose after a key block that was cut off for prose', () => {
    const block = plantedSecrets().find(({ family }) => family === 'private-key')?.text ?? ''
    const half = block.slice(0, Math.floor(block.length / 2))
    expect(cover([half, 'I looked at it and the key is fine, it seems'])[1]).toBe(
      'I looked at it and the key is fine, it seems',
    )
    expect(cover([block, 'Done with the key'])[1]).toBe('Done with the key')
  })

  it('costs little where no key may have begun: a stream of ordinary records is hardly ever searched', () => {
    let searched = 0
    const counting = {
      redact: (text: string) => {
        searched += 1
        return redactor.redact(text)
      },
    }
    const stream = new SecretStream<number>(counting)
    for (let n = 0; n < 5000; n += 1)
      for (const text of [
        'assistant',
        `msg_${n}AbC`,
        `The tests of part ${n} pass now.`,
        '/home/dev/shop/src/app.ts',
        'tool_use',
      ])
        stream.add(n, text)
    expect(searched).toBeLessThan(100)
  })

  it('leaves what is no secret as it is', () => {
    const texts = [
      'I looked at src/app.ts and',
      ' changed the function',
      'The key was ',
      'Done.',
      'The tests',
      'TypeError: x is not a function',
      'msg_01AbCdEfGhIjKlMnOp',
      'msg_01QrStUvWxYzAbCdEf',
      'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
      '4f3c2b1a9e8d7c6b5a4f3c2b1a9e8d7c6b5a4f3c',
      'passwords are',
      'never kept',
    ]
    expect(cover(texts)).toEqual(texts)
    const key = splitting[0]?.secret ?? ''
    expect(cover([`use ${key}`, 'Thanks, that worked'])[1]).toBe('Thanks, that worked')
    expect(cover([`use ${key}`, '2 files changed'])[1]).toBe('2 files changed')
  })
})
