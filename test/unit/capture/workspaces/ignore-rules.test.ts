import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { IgnoreFile, ignoredBy, pushRules } from '../../../../daemon/capture/workspaces/ignore-rules.ts'
import { temporaryDirectory } from '../../../kit/temporary-directory.ts'

const directory = temporaryDirectory('ignore')
const nightly = process.env.REPRISE_NIGHTLY === '1'

const atom = fc.constantFrom(
  'a',
  'b',
  'ab',
  '*',
  '?',
  '[ab]',
  '[!a]',
  '[a-c]',
  '.',
  '\\*',
  '\\',
  '[[:alpha:]]',
  '[',
  ']',
  'é',
  ' ',
)
const line = fc
  .tuple(
    fc.constantFrom('', '', '', '!', '/', '!/', '\\!', '#', '**/'),
    fc.array(
      fc.oneof(
        { weight: 5, arbitrary: fc.array(atom, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')) },
        { weight: 1, arbitrary: fc.constant('**') },
      ),
      { minLength: 1, maxLength: 3 },
    ),
    fc.constantFrom('', '', '/', '/**', ' ', '\\ ', '\r'),
  )
  .map(([before, parts, after]) => before + parts.join('/') + after)
  .filter((text) => !/[^/!]\*\*|\*\*[^/]/.test(text))
const path = fc
  .array(fc.constantFrom('a', 'b', 'ab', 'abc', 'a.b', '*', '!a', '#a', 'é', ' ', 'a ', 'ba'), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join('/'))

// `a**/b` is left out above: older versions of Git compare pointers of two strings there, and answer as it happens.
it('judges paths as Git does', () => {
  const repository = directory()
  spawnSync('git', ['init', '-q'], { cwd: repository })
  mkdirSync(join(repository, '.git', 'info'), { recursive: true })
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1, maxLength: 6 }),
      fc.array(path, { minLength: 8, maxLength: 20 }),
      (lines, paths) => {
        const text = `${lines.join('\n')}\n`
        writeFileSync(join(repository, '.git', 'info', 'exclude'), text)
        const asked = [...new Set(paths)]
        const told = spawnSync(
          'git',
          ['-c', 'core.excludesFile=/dev/null', 'check-ignore', '-z', '--stdin', '--no-index'],
          {
            cwd: repository,
            input: asked.map((one) => `${one}\0`).join(''),
          },
        ).stdout.toString('latin1')
        const theirs = new Set(told.split('\0').filter((one) => one !== ''))
        const rules = pushRules(null, new IgnoreFile(Buffer.from(text).toString('latin1')), '', 'x')
        const ignored = (full: string): boolean => {
          const parts = full.split('/')
          for (let n = 1; n <= parts.length; n += 1) {
            const part = parts.slice(0, n).join('/')
            if (ignoredBy(rules, part, parts[n - 1] ?? '', n < parts.length) !== null) return true
          }
          return false
        }
        const ours = asked.map((one) => Buffer.from(one).toString('latin1')).filter(ignored)
        expect(ours.sort()).toEqual([...theirs].sort())
      },
    ),
    { numRuns: nightly ? 5_000 : 150 },
  )
})

it('takes no longer for a hostile pattern', () => {
  const file = new IgnoreFile(`${'*a'.repeat(40)}b\n${'**/a*/'.repeat(30)}b\n`)
  const started = performance.now()
  for (let n = 0; n < 50; n += 1) file.judge(`${'a/'.repeat(60)}${'a'.repeat(200)}`, 'a'.repeat(200), false)
  expect(performance.now() - started).toBeLessThan(2_000)
})
