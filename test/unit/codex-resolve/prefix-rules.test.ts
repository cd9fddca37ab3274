import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readPrefixRules } from '../../../daemon/runtimes/codex/resolve/prefix-rules.ts'

describe('rules that are written out', () => {
  it('by name, by position, with alternatives and comments', () => {
    const { rules, errors, computed } = readPrefixRules(`
# a comment with prefix_rule(pattern=["no"])
prefix_rule(
    pattern = ["git", ["push", 'fetch'],], # trailing commas
    decision = "prompt",
    justification = """say
why""",
)
prefix_rule(["rm", "-rf"], "forbidden"); prefix_rule(pattern=["ls"], match=["ls -l"], not_match=[["cat"]])
`)
    expect({ errors, computed }).toEqual({ errors: [], computed: [] })
    expect(rules).toEqual([
      { pattern: ['git', ['push', 'fetch']], decision: 'prompt', justification: 'say\nwhy', line: 3 },
      { pattern: ['rm', '-rf'], decision: 'forbidden', justification: null, line: 9 },
      { pattern: ['ls'], decision: 'allow', justification: null, line: 9 },
    ])
  })

  it('through a name bound to a literal', () => {
    const { rules } = readPrefixRules(
      'WORDS = ["a", "b"]\nWHAT = "forbidden"\nprefix_rule(pattern=WORDS, decision=WHAT)\n',
    )
    expect(rules).toMatchObject([{ pattern: ['a', 'b'], decision: 'forbidden' }])
  })

  it('escapes and raw texts', () => {
    const { rules } = readPrefixRules(String.raw`prefix_rule(pattern=["a\"b", r"c\d", 'e\n'])`)
    expect(rules[0]?.pattern).toEqual(['a"b', String.raw`c\d`, 'e\n'])
  })
})

describe('what is computed is said, never guessed', () => {
  it.each([
    ['[prefix_rule(pattern=[x]) for x in ["m"]]', 1],
    ['prefix_rule(pattern=["a"] + ["b"])', 1],
    ['prefix_rule(pattern=[name])', 1],
    ['def f():\n  prefix_rule(pattern=f())\nf()\n', 2],
  ])('%s', (text, line) => {
    const { rules, errors, computed } = readPrefixRules(text)
    expect({ rules, errors, computed }).toEqual({ rules: [], errors: [], computed: [line] })
  })
})

it('ends on any text, and names only lines that exist', () => {
  const pieces = fc.constantFrom(
    'prefix_rule',
    '(',
    ')',
    '[',
    ']',
    '"',
    "'",
    '\n',
    ',',
    '=',
    'pattern',
    '"a"',
    '#',
    '\\',
    '"""',
    'x',
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (words) => {
      const text = words.join('')
      const lines = text.split('\n').length
      const { rules, errors, computed } = readPrefixRules(text)
      for (const line of [...rules.map((rule) => rule.line), ...errors.map((error) => error.line), ...computed]) {
        expect(line).toBeGreaterThan(0)
        expect(line).toBeLessThanOrEqual(lines)
      }
    }),
  )
})
