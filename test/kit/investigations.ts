import fs from 'node:fs'
import path from 'node:path'
import { expect, type Page, test } from '@playwright/test'
import { writeSampleHome } from '../../daemon/demo/sample-home.ts'
import { SampleStage } from '../../daemon/demo/sample-stage.ts'
import { seeded } from '../../daemon/demo/seeded.ts'
import type { Step } from '../../daemon/demo/steps.ts'
import { WorkTree } from '../../daemon/demo/work-tree.ts'
import { expectAccessible } from './axe.ts'
import type { TestDaemon } from './daemon.ts'
import { makeEmptyHome, type TestHome } from './fixture-home.ts'
import { type OpenWindow, withScene } from './scene.ts'

/** Why did today differ from yesterday? From the task to the cause and its evidence, and what that costs in clicks. */
export function describeInvestigations(host: string, open: OpenWindow): void {
  test.describe(`${host}, investigating:`, () => {
    test('from the task to the cause: two runs, why, evidence, fields, use, text, and the event itself', () => {
      const made = makeEmptyHome()
      const sample = writeSampleHome({ dir: path.dirname(made.home), now: new Date() })
      return withScene(made, open, async ({ page, daemon }) => {
        const bad = await runOf(daemon, sample.badSession)
        const tried = await runOf(daemon, sample.triedSession)
        expect(bad.task).toBe(tried.task)
        await closeWelcome(page)

        // The task: both runs of it, and nothing else.
        await page.getByPlaceholder(/^Filter/).fill(`task:${bad.task}`)
        const grid = timeline(page)
        const runs = grid.getByRole('row').filter({ hasText: bad.title })
        await expect(grid.getByRole('row').filter({ hasText: 'Explain the retry delays' })).toHaveCount(0)
        await expect(runs).toHaveCount(2)

        // Why: the partner is found by a rule that is said, cause 1 and its evidence are there at once.
        await grid.focus()
        await page.keyboard.press('ArrowDown')
        await page.keyboard.press('w')
        await expect(page.getByRole('main')).toContainText('the run before it that was given the same task')
        await expect(page).toHaveURL(new RegExp(`a=${tried.id}&b=${bad.id}|b=${bad.id}&a=${tried.id}`))
        const causes = page.getByRole('listbox', { name: 'Causes, the likeliest first' })
        await expect(causes).toBeFocused()
        await expect(causes.getByRole('option').first()).toHaveAttribute('aria-selected', 'true')
        await expect(causes.getByRole('option').first()).toContainText('payments.md')
        const evidence = page.getByRole('region', { name: 'Evidence for 1' })
        await expect(evidence).toContainText('Set `retries` to 0')

        await openTab(page, 'Fields')
        await page.getByRole('searchbox', { name: 'Filter fields' }).fill('payments')
        await expect(page.getByRole('grid', { name: 'Fields' }).getByRole('row')).toHaveCount(1)

        await openTab(page, 'Text')
        await expect(page.getByRole('region', { name: /payments\.md$/ })).toContainText('only in B')

        await openTab(page, 'Steps')
        await expect(page.getByRole('main')).toContainText('The runs part at step')

        await openTab(page, 'Actual use')
        const newly = page.getByRole('region', { name: 'Newly used in B' })
        await expect(newly).toContainText('payments.md')

        // The evidence is the event in the run.
        await openTab(page, 'Causes')
        await evidence.getByRole('link', { name: /entered the context/ }).click()
        await expect(page).toHaveURL(new RegExp(`/runs/${bad.id}/at/\\d+`))
        const seq = Number(/\/at\/(\d+)/.exec(page.url())?.[1])
        const { events } = await daemon.call('runs.events', { run: bad.id, limit: 1000 })
        expect(events.find((event) => event.seq === seq)).toMatchObject({ kind: 'rule' })
        await expect(
          page
            .getByRole('grid', { name: /events/i })
            .getByText(/payments\.md/)
            .first(),
        ).toBeVisible()
        await page.goBack()
        await expect(causes.getByRole('option').first()).toContainText('payments.md')
      })
    })

    test('Compare can be used by everybody, in both themes', () => {
      const made = makeEmptyHome()
      const sample = writeSampleHome({ dir: path.dirname(made.home), now: new Date() })
      return withScene(made, open, async ({ page, daemon }) => {
        const bad = await runOf(daemon, sample.badSession)
        await go(page, `/compare?b=${bad.id}`)
        await expect(page.getByRole('listbox', { name: 'Causes, the likeliest first' })).toBeVisible()
        for (const theme of ['dark', 'light'] as const) {
          await daemon.call('settings.set', { theme })
          await expect(page.locator(`html[data-theme=${theme}]`)).toBeAttached()
          await expectAccessible(page, `the causes, ${theme}`)
        }
        for (const tab of ['Fields', 'Text', 'Actual use', 'Steps']) {
          await openTab(page, tab)
          await expect(page.getByRole('tabpanel')).not.toBeEmpty()
          await expectAccessible(page, `the tab ${tab}`)
        }
      })
    })

    test('why did today differ: 2 clicks, or 2 keys, after a rule was planted while the daemon watched', () => {
      const made = makeEmptyHome()
      const stage = plantedHome(made)
      return withScene(made, open, async ({ page, daemon }) => {
        const before = stage.run('yes')
        await daemon.call('sync.now', {})
        await daemon.call('drift.look', {})
        stage.plantRule()
        await daemon.call('drift.look', {})
        const after = stage.run('no')
        await daemon.call('sync.now', {})
        const [a, b] = [await runOf(daemon, before), await runOf(daemon, after)]
        const grid = timeline(page)
        const row = grid.getByRole('row').filter({ hasText: b.title }).first()
        await expect(grid.getByRole('row').filter({ hasText: 'limits.md' })).toHaveCount(1)
        await expect(grid.getByRole('row').filter({ hasText: b.title })).toHaveCount(2)
        await closeWelcome(page)

        const first = page.getByRole('listbox', { name: 'Causes, the likeliest first' }).getByRole('option').first()
        const expectAnswer = async () => {
          await expect(first).toHaveAttribute('aria-selected', 'true')
          await expect(first).toContainText('Rule limits.md is new and matches src/config.js')
          await expect(page.getByRole('region', { name: 'Evidence for 1' })).toContainText('Never name a limit')
          await expect(page).toHaveURL(new RegExp(`a=${a.id}`))
        }
        const counted = await countActs(page)
        await page.keyboard.press('ArrowDown')
        await page.keyboard.press('w')
        await expectAnswer()
        expect(await counted()).toEqual({ clicks: 0, keys: 2 })

        await page.goBack()
        await row.click()
        await page.getByRole('link', { name: 'Why?' }).click()
        await expectAnswer()
        expect(await counted()).toEqual({ clicks: 2, keys: 2 })

        // What happened between the two runs stands between them, with the way to both states.
        await page.goBack()
        await grid.getByRole('row').filter({ hasText: 'limits.md' }).click()
        const inspector = page.getByRole('region', { name: 'Inspector' })
        await expect(inspector).toContainText('Appeared')
        await inspector.getByRole('link', { name: 'Compare', exact: true }).click()
        await expect(first).toContainText('limits.md')
        await expectAccessible(page, 'two states of a configuration')
      })
    })
  })
}

/** A home with one workspace, and an agent that is run in it when the test says so. */
export function plantedHome({ home }: TestHome) {
  const tree = new WorkTree(path.join(home, 'shop'))
  tree.write('CLAUDE.md', '# shop\n\nPrices are in cents.\n')
  tree.write('src/config.js', 'export const config = {\n  retries: 3,\n}\n')
  tree.commit('Begin', new Date(Date.now() - 86_400_000))
  const stage = new SampleStage(home, seeded(7), new Date())
  stage.writeHome([tree], [])
  const rule = '.claude/rules/limits.md'
  return {
    plantRule() {
      tree.write(rule, '---\npaths:\n  - "src/**"\n---\n\n# Limits\n\nNever name a limit in this folder.\n')
      tree.save()
    },
    /** One run of the one task; what was read brings the rule in when it is there. */
    run(answer: string): string {
      const session = stage.begin({ tree, startedAt: new Date() })
      const read: Step = {
        read: 'src/config.js',
        ...(tree.read(rule) === null ? {} : { rule: stage.rule(tree, rule) }),
      }
      session.ask('Name a limit for the orders of one day.', [[read], [{ text: answer }]])
      session.stop()
      const file = stage.finish(session, tree)
      fs.utimesSync(file, new Date(), new Date())
      return session.session
    },
  }
}

export const timeline = (page: Page) => page.getByRole('treegrid', { name: 'All runs, newest first' })

export async function runOf(daemon: TestDaemon, session: string) {
  const { runs } = await daemon.call('runs.list', {})
  const run = runs.find((entry) => entry.session === session)
  if (run === undefined) throw new Error(`the session ${session} is not listed`)
  return run
}

export async function closeWelcome(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Open the timeline' }).click()
}

const openTab = (page: Page, name: string) => page.getByRole('tab', { name: new RegExp(`^${name}`) }).click()

export async function go(page: Page, to: string): Promise<void> {
  await page.evaluate((path) => {
    history.pushState(null, '', path)
    dispatchEvent(new PopStateEvent('popstate'))
  }, to)
}

/** Counts what a person does from here on; the answer is taken from the page itself. */
export async function countActs(page: Page): Promise<() => Promise<{ clicks: number; keys: number }>> {
  await page.evaluate(() => {
    const counted = { clicks: 0, keys: 0 }
    const count = (what: keyof typeof counted) => () => {
      counted[what] += 1
    }
    addEventListener('pointerdown', count('clicks'), true)
    addEventListener('keydown', count('keys'), true)
    Object.assign(window, { counted })
  })
  return () => page.evaluate(() => (window as unknown as { counted: { clicks: number; keys: number } }).counted)
}
