import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { SampleStage } from './sample-stage.ts'
import { seeded } from './seeded.ts'
import { tellShopStory } from './shop-story.ts'
import { tellStockStory } from './stock-story.ts'

export interface SampleHome {
  /** To be used as the user's home directory. */
  readonly home: string
  readonly claudeHome: string
  /** Real Git repositories the sessions worked in. */
  readonly workspaces: readonly string[]
  /** The last run before the rule was widened that made the tests pass. */
  readonly goodSession: string
  /** The two runs of the story: the same agent and the same task, a rule in between. */
  readonly triedSession: string
  readonly badSession: string
}

/**
 * Writes a home and two workspaces into `dir`, which should be empty: fourteen sessions of the last nine days before `now`, among them
 * a good run and a bad one of the same task in the shop client. Equal arguments give equal files. `dir` appears in the files, so it
 * should be the place where they stay. Needs `git`.
 */
export function writeSampleHome(options: {
  readonly dir: string
  readonly now: Date
  readonly seed?: number
}): SampleHome {
  const home = join(options.dir, 'home')
  mkdirSync(home, { recursive: true })
  const stage = new SampleStage(home, seeded(options.seed ?? 20_261_130), options.now)
  const stock = tellStockStory(stage, join(home, 'work', 'stock-notes'))
  const shop = tellShopStory(stage, join(home, 'work', 'shop-client'))
  stage.writeHome([shop.tree, stock.tree], [shop.lastSession, stock.lastSession])
  return {
    home,
    claudeHome: stage.claudeHome,
    workspaces: [shop.tree.root, stock.tree.root],
    goodSession: shop.goodSession,
    triedSession: shop.triedSession,
    badSession: shop.badSession,
  }
}
