import { describe, expect, it } from 'vitest'
import {
  isCovered,
  readListedSkills,
  readProjectContext,
} from '../../../../daemon/runtimes/openclaw/project-context.ts'

const promptWith = (
  section: string,
  end = '\n<!-- /openclaw:attempt:STABLE -->\n<!-- OPENCLAW_CACHE_BOUNDARY -->\n## Temporal Context\n',
): string =>
  `Words of the program.\n## Tooling\nmore words\n# Project Context\nA line before the files.\n${section}${end}`

describe('OpenClaw: the files in a system prompt', () => {
  it('takes each text from behind its heading to the next one, or to the end of the section', () => {
    const section =
      '## /home/dev/ws/AGENTS.md\n# Rules\n\n## Not a file\n- one\n## /home/dev/ws/pkg/AGENTS.md\nInner.\n## /home/dev/ws/MEMORY.md\nlast line'
    const wanted = [
      { path: '/home/dev/ws/AGENTS.md', text: '# Rules\n\n## Not a file\n- one' },
      { path: '/home/dev/ws/pkg/AGENTS.md', text: 'Inner.' },
      { path: '/home/dev/ws/MEMORY.md', text: 'last line' },
    ]
    expect(readProjectContext(promptWith(section))).toEqual(wanted)
    expect(readProjectContext(promptWith(section, '\n<!-- OPENCLAW_CACHE_BOUNDARY -->\nx'))).toEqual(wanted)
  })

  it('knows an empty text, no section, and a section whose end is not there', () => {
    expect(readProjectContext(promptWith('## /w/SOUL.md\n\n## /w/USER.md\nme'))).toEqual([
      { path: '/w/SOUL.md', text: '' },
      { path: '/w/USER.md', text: 'me' },
    ])
    expect(readProjectContext('## Tooling\nno files here')).toEqual([])
    expect(readProjectContext(promptWith('## /w/SOUL.md\ncut', ''))).toBeNull()
  })

  it('lists skills as they are named, and sees values that were covered', () => {
    expect(
      readListedSkills(
        '<skill>\n<name>notes &amp; more</name>\n<description>x</description></skill><skill><name>b</name></skill>',
      ),
    ).toEqual(['notes & more', 'b'])
    expect(['token=<redacted>', 'key: ********', 'plain words'].map(isCovered)).toEqual([true, true, false])
  })
})
