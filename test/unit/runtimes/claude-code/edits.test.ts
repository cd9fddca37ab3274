import { describe, expect, it } from 'vitest'
import { readEdit } from '../../../../daemon/runtimes/claude-code/edits.ts'

const hunk = (oldStart: number, ...lines: string[]): object => ({
  oldStart,
  oldLines: 0,
  newStart: oldStart,
  newLines: 0,
  lines,
})

describe('readEdit', () => {
  it('knows a new file and a replaced one', () => {
    expect(
      readEdit({ type: 'create', filePath: '/f', content: 'a\nb\n', structuredPatch: [], originalFile: null }),
    ).toEqual({
      path: '/f',
      change: 'add',
      before: null,
      after: 'a\nb\n',
      why: null,
      addedLines: 2,
      removedLines: 0,
    })
    expect(
      readEdit({
        type: 'update',
        filePath: '/f',
        content: 'b\n',
        originalFile: 'a\n',
        structuredPatch: [hunk(1, '-a', '+b')],
      }),
    ).toMatchObject({
      change: 'change',
      before: 'a\n',
      after: 'b\n',
      addedLines: 1,
      removedLines: 1,
    })
  })

  it('replaces once or everywhere, with no meaning of dollar signs', () => {
    const edit = { filePath: '/f', oldString: 'x', newString: '$&y', originalFile: 'x x', structuredPatch: [] }
    expect(readEdit(edit)?.after).toBe('$&y x')
    expect(readEdit({ ...edit, replaceAll: true })?.after).toBe('$&y $&y')
  })

  it('takes the patch when the user changed the proposal or the words do not fit', () => {
    const edit = {
      filePath: '/f',
      oldString: 'b',
      newString: 'proposed',
      originalFile: 'a\nb\nc\n',
      structuredPatch: [hunk(1, ' a', '-b', '+chosen', ' c')],
    }
    expect(readEdit({ ...edit, userModified: true })?.after).toBe('a\nchosen\nc\n')
    expect(readEdit({ ...edit, oldString: 'not there' })?.after).toBe('a\nchosen\nc\n')
  })

  it('says why a side is missing', () => {
    expect(
      readEdit({
        filePath: '/f',
        oldString: 'b',
        newString: 'c',
        originalFile: null,
        structuredPatch: [hunk(1, '-b', '+c')],
      }),
    ).toMatchObject({
      before: null,
      after: null,
      why: 'the record does not hold the content before',
      addedLines: 1,
    })
    expect(
      readEdit({
        filePath: '/f',
        oldString: 'zz',
        newString: 'c',
        originalFile: 'a',
        structuredPatch: [hunk(1, '-q', '+c')],
      }),
    ).toMatchObject({
      before: 'a',
      after: null,
      why: 'the edit could not be applied to the content before',
    })
  })

  it('applies several edits of one call in order', () => {
    const edits = [
      { old_string: 'a', new_string: 'b' },
      { old_string: 'b', new_string: 'c', replace_all: true },
    ]
    expect(readEdit({ filePath: '/f', edits, originalFileContents: 'a b', structuredPatch: [] })?.after).toBe('c c')
  })

  it('leaves results of other tools alone', () => {
    expect(readEdit({ stdout: 'x' })).toBeNull()
    expect(readEdit({ type: 'text', file: { filePath: '/f', content: 'x' } })).toBeNull()
  })
})
