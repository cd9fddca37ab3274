import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { manifestBodySchema } from '../../contract/index.ts'
import { matchLazy } from '../../daemon/runtimes/claude-code/resolve/index.ts'
import { type LaidOddTree, layOddTree, oddTrees, resolveOddTree } from '../kit/claude-code-odd-trees.ts'
import { type Piece, portable, resolvedPieces } from '../kit/instruction-block.ts'

/** What the real program (2.1.332) sent for each odd tree; written by `test/agents` with REPRISE_RECORD=1. */
const recorded = z
  .record(
    z.string(),
    z.object({
      pieces: z.array(z.object({ path: z.string(), label: z.string().nullable(), text: z.string() })),
      lazy: z.array(z.string()),
    }),
  )
  .parse(
    JSON.parse(
      readFileSync(path.resolve(import.meta.dirname, '../fixtures/claude-code/odd-trees-2.1.332.json'), 'utf8'),
    ),
  )

let laid: LaidOddTree | null = null
afterEach(() => {
  laid?.remove()
  laid = null
})

/** Rules come in directory order, which differs between file systems: they and their imports are compared as a set. */
function apart(pieces: readonly Piece[], byRule: ReadonlySet<string>) {
  const rules = pieces.filter((piece) => byRule.has(piece.path)).sort((a, b) => (a.path < b.path ? -1 : 1))
  return { inOrder: pieces.filter((piece) => !byRule.has(piece.path)), rules }
}

describe('odd trees, against the record of the real program', () => {
  it('has a record of every tree', () => {
    expect(Object.keys(recorded).sort()).toEqual(Object.keys(oddTrees).sort())
  })
  for (const [name, tree] of Object.entries(oddTrees)) {
    it(name, () => {
      laid = layOddTree(tree)
      const { root } = laid
      const resolution = resolveOddTree(laid)
      expect(manifestBodySchema.safeParse(resolution.body).error).toBeUndefined()
      const byRule = new Set(
        resolution.body.instructions.sources
          .filter((source) => source.kind === 'rule' || source.imported_by[0]?.includes('/rules/'))
          .map((source) => (source.path ?? '').replaceAll(root, '<root>')),
      )
      const want = recorded[name]
      if (want === undefined) throw new Error('not recorded')
      expect(apart(portable(resolvedPieces(resolution), root), byRule)).toEqual(apart(want.pieces, byRule))
      const loaded = new Set<string>()
      for (const file of laid.touch) for (const one of matchLazy(resolution, file, loaded)) loaded.add(one)
      const names = (files: Iterable<string>) => [...files].map((file) => file.replaceAll(root, '<root>'))
      const lazy = names(loaded)
      expect([...lazy].sort()).toEqual([...want.lazy].sort())
      expect(lazy.filter((file) => !byRule.has(file))).toEqual(want.lazy.filter((file) => !byRule.has(file)))
    })
  }
})

describe('nothing that exists is silently absent', () => {
  it('every import that looks like one and is none has its reason', () => {
    laid = layOddTree(oddTrees.imports ?? { files: {} })
    const { root } = laid
    const { body } = resolveOddTree(laid)
    const byPath = new Map(
      body.instructions.sources.map((source) => [(source.path ?? '').replace(`${root}/ws/`, ''), source]),
    )
    const reason = (file: string) => byPath.get(file)?.reason ?? byPath.get(file)?.status ?? 'absent'
    expect({
      codeSpan: reason('i/lcode.md'),
      fence: reason('i/lfence.md'),
      tildes: reason('i/tildef.md'),
      comment: reason('i/inlinec.md'),
      htmlBlock: reason('i/htmlblock.md'),
      linkTarget: reason('i/link2.md'),
      image: reason('i/img.md'),
      definition: reason('i/defn.md'),
      word: reason('i/email.md'),
      comma: reason('i/comma.md'),
      parenthesis: reason('i/cparen.md'),
      quotes: reason('i/quoteD.md'),
      ending: reason('e/f.png'),
      outside: reason('lnk.md'),
      missing: reason('i/none/x.md'),
      directory: reason('i/dirx'),
    }).toMatchInlineSnapshot(`
      {
        "codeSpan": "written in a code span, where the runtime imports nothing",
        "comma": "punctuation directly after the path is read as part of it, and no such file exists",
        "comment": "written in an HTML comment, which the runtime removes or skips",
        "definition": "written as a link target, which is no import",
        "directory": "the import names a directory",
        "ending": "the runtime does not import files that end in .png",
        "fence": "written in a code block, where the runtime imports nothing",
        "htmlBlock": "written in an HTML block, where the runtime imports nothing",
        "image": "written in the description of an image, where the runtime imports nothing",
        "linkTarget": "written as a link target, which is no import",
        "missing": "the import names a file that does not exist",
        "outside": "import from outside the start directory, which this project has not approved",
        "parenthesis": "the @ directly follows another character, so the runtime does not take it for an import",
        "quotes": "the @ directly follows another character, so the runtime does not take it for an import",
        "tildes": "written in a code block, where the runtime imports nothing",
        "word": "the @ directly follows another character, so the runtime does not take it for an import",
      }
    `)
  })
})
