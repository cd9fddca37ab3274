import { describe, expect, it } from 'vitest'
import { recordFlags } from '../../../daemon/runtimes/claude-code/resolve/flag-sources.ts'
import { parseFlags } from '../../../daemon/runtimes/claude-code/resolve/flags.ts'

describe('start flags', () => {
  it('takes values by the number each flag takes', () => {
    const flags = parseFlags([
      '-p',
      'do it',
      '--add-dir',
      'a',
      'b',
      '--model=opus',
      '--resume',
      '--allowedTools',
      'Bash(git *)',
      'Edit',
      '--settings',
      '-x',
      'word',
    ])
    expect(flags.has('--print')).toBe(true)
    expect(flags.values('--add-dir')).toEqual(['a', 'b'])
    expect(flags.value('--model')).toBe('opus')
    expect(flags.values('--resume')).toEqual([])
    expect(flags.values('--allowedTools')).toEqual(['Bash(git *)', 'Edit'])
    expect(flags.value('--settings')).toBe('-x')
  })
  it('keeps an empty value', () => {
    expect(parseFlags(['--setting-sources', '']).value('--setting-sources')).toBe('')
  })
  it('knows other spellings, and says of a flag it does not know that it does not', () => {
    const flags = parseFlags(['--allowed-tools', 'Bash', '--new-thing', 'x', '--', '--model', 'y'])
    expect(flags.values('--allowedTools')).toEqual(['Bash'])
    expect(flags.all.find((flag) => flag.name === '--new-thing')).toMatchObject({ known: false })
    expect(flags.value('--model')).toBeNull()
  })
  it('records flags without the prompt and without texts that may hold secrets', () => {
    const flags = parseFlags([
      '-p',
      'private words',
      '--settings',
      '{"env":{"K":"v"}}',
      '--append-system-prompt',
      'be brief',
      '--mcp-config',
      'a.json',
      '{"x":1}',
      '--verbose',
    ])
    expect(recordFlags(flags)).toEqual([
      '--print',
      '--settings',
      '<text: see flag:--settings>',
      '--append-system-prompt',
      '<text: see flag:--append-system-prompt>',
      '--mcp-config',
      'a.json',
      '<text: see flag:--mcp-config>',
      '--verbose',
    ])
  })
})
