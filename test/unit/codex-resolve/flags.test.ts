import { describe, expect, it } from 'vitest'
import { recordFlags } from '../../../daemon/runtimes/codex/resolve/flag-sources.ts'
import { flagTable, parseFlags, startDirectory } from '../../../daemon/runtimes/codex/resolve/flags.ts'

describe('start flags', () => {
  it('short forms, attached values, the sub-command, the prompt', () => {
    const flags = parseFlags([
      'exec',
      '-mgpt',
      '-c',
      'a=1',
      '--sandbox=read-only',
      '-s',
      'workspace-write',
      '--json',
      'do it',
      '--',
      '-x',
    ])
    expect(flags.command).toBe('exec')
    expect(flags.value('--model')).toBe('gpt')
    expect(flags.values('--sandbox')).toEqual(['read-only', 'workspace-write'])
    expect(flags.all.filter((flag) => flag.name === null).map((flag) => flag.values[0])).toEqual([
      'exec',
      'do it',
      '-x',
    ])
  })
  it('a prompt that begins like a command is none', () => {
    expect(parseFlags(['exec the plan']).command).toBeNull()
    expect(parseFlags(['-m', 'exec', 'hello']).command).toBeNull()
  })
  it('a flag nobody knows is kept and marked', () => {
    expect(parseFlags(['--brand-new', '-Z']).all).toMatchObject([
      { name: '--brand-new', known: false },
      { name: '-Z', known: false },
    ])
  })
  it('records no value of -c, which may be a secret', () => {
    expect(
      recordFlags(parseFlags(['-c', 'model_providers.p.experimental_bearer_token="s"', '-m', 'x', 'prompt'])),
    ).toEqual(['--config', 'model_providers.p.experimental_bearer_token=…', '--model', 'x'])
  })
  it('-C is taken as written', () => {
    expect(startDirectory(parseFlags(['-C', '../b']), '/w/a')).toBe('/w/b')
    expect(startDirectory(parseFlags([]), '/w/a')).toBe('/w/a')
  })
})

describe('the layer of flags', () => {
  const table = (...words: string[]) => flagTable(parseFlags(words))
  it('values are TOML, or text when they are none', () => {
    expect(
      table('-c', ' a.b = "x" ', '-c', 'a.c=two words', '-c', 'd=[1, 2]', '-c', 'e=', '-c', "f='q", '-c', 'g=1.0').raw,
    ).toEqual({
      a: { b: 'x', c: 'two words' },
      d: [1n, 2n],
      e: '',
      f: 'q',
      g: 1,
    })
  })
  it('keys are split at every dot, quotes or not', () => {
    expect(table('-c', 'projects."/a.b".trust_level="trusted"').raw).toEqual({
      projects: { '"/a': { 'b"': { trust_level: 'trusted' } } },
    })
  })
  it('later ones win; --enable and --disable come last, --disable after --enable', () => {
    expect(table('--disable', 'x', '--enable', 'x', '-c', 'features.x=true', '-c', 'k=1', '-c', 'k=2').raw).toEqual({
      features: { x: false },
      k: 2n,
    })
  })
  it('a line end in a value brings in no second key', () => {
    expect(table('-c', 'a=1\nb=2').raw).toEqual({ a: '1\nb=2' })
  })
  it('what stops the program is said', () => {
    expect(table('-c', 'nothing').problems).toEqual(['-c nothing: there is no "="; the program does not start'])
    expect(table('-c', '=x').problems).toEqual(['-c: the key is empty; the program does not start'])
  })
})
