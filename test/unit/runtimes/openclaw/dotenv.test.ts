import { describe, expect, it } from 'vitest'
import { dropReason, parseDotEnv } from '../../../../daemon/runtimes/openclaw/resolve/dotenv.ts'

const read = (text: string): Record<string, string> =>
  Object.fromEntries(parseDotEnv(text).map(({ name, value }) => [name, value]))

describe('dotenv files', () => {
  it('reads plain, quoted, exported and many-line values, and skips the rest', () => {
    expect(
      read(
        '\ufeff# note\r\nA=1\r\n B = two words # note\nexport C=\'3 # no note\'\nD="x\\ny"\nE="one\ntwo" # note\nF=\nno entry\nG: 7\nA=8\nH=`q`\nI="open',
      ),
    ).toEqual({ A: '8', B: 'two words', C: '3 # no note', D: 'x\ny', E: 'one\ntwo', F: '', G: '7', H: 'q', I: '"open' })
  })

  it.each([
    ['OPENCLAW_STATE_DIR', true],
    ['OPENAI_API_KEY', true],
    ['LAB_BASE_URL', true],
    ['MATRIX_HOMESERVER', true],
    ['GH_TOKEN', true],
    ['PATH', true],
    ['LAB_CWD', false],
    ['DATABASE_NAME', false],
  ])('%s of a project is dropped: %s', (name, isDropped) => {
    expect(dropReason(name) !== null).toBe(isDropped)
  })
})
