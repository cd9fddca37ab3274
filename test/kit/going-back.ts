import fs from 'node:fs'
import path from 'node:path'
import { expect, type Page, test } from '@playwright/test'
import { expectAccessible } from './axe.ts'
import { makeEmptyHome } from './fixture-home.ts'
import { closeWelcome, countActs, go, plantedHome, runOf, timeline } from './investigations.ts'
import { type OpenWindow, withScene } from './scene.ts'

const ROUNDS = process.env.REPRISE_NIGHTLY === '1' ? 10 : 3

/** Something breaks, one goes back, and forward again: counted in the page, seen on the disk. */
export function describeGoingBack(host: string, open: OpenWindow): void {
  test.describe(`${host}: going back`, () => {
    test('a planted rule: gone in 2 clicks from its cause, back in 2; 4 clicks from the timeline', () => {
      const made = makeEmptyHome()
      const stage = plantedHome(made)
      const rule = path.join(made.home, 'shop/.claude/rules/limits.md')
      return withScene(made, open, async ({ page, daemon }) => {
        const before = stage.run('yes')
        await daemon.call('sync.now', {})
        await daemon.call('drift.look', {})
        stage.plantRule()
        const planted = fs.readFileSync(rule, 'utf8')
        await daemon.call('drift.look', {})
        const after = stage.run('no')
        await daemon.call('sync.now', {})
        const [good, bad] = [await runOf(daemon, before), await runOf(daemon, after)]
        await closeWelcome(page)

        // From the cause: the plan opens with the one path ticked, and nothing has happened before the last click.
        await go(page, `/compare?a=${good.id}&b=${bad.id}`)
        await expect(page.getByRole('region', { name: 'Evidence for 1' })).toContainText('Never name a limit')
        let counted = await countActs(page)
        await page.getByRole('button', { name: 'Undo only this…' }).click()
        await expect(act(page)).toHaveText('Roll back 1 path')
        await expectAccessible(page, 'the plan of a rollback')
        expect(fs.existsSync(rule)).toBe(true)
        await act(page).click()
        await expect(page.getByRole('heading', { name: /^Rolled back to/ })).toBeFocused()
        expect(await counted()).toEqual({ clicks: 2, keys: 0 })
        expect(fs.existsSync(rule)).toBe(false)
        await expect(page.getByRole('main')).toContainText('as wanted')
        await expectAccessible(page, 'the receipt of a rollback')
        await page.setViewportSize({ width: 420, height: 800 })
        await expectNoSideways(page)
        await page.setViewportSize({ width: 1280, height: 820 })

        // Undo walks back through its own plan.
        counted = await countActs(page)
        await page.getByRole('contentinfo').getByRole('link', { name: 'Undo…' }).click()
        await expect(act(page)).toHaveText('Put back 1 path')
        await page.setViewportSize({ width: 420, height: 800 })
        await expectNoSideways(page)
        await expect(act(page)).toBeInViewport({ ratio: 1 })
        await page.setViewportSize({ width: 1280, height: 820 })
        expect(fs.existsSync(rule)).toBe(false)
        await act(page).click()
        await expect(page.getByRole('heading', { name: /^Undid rollback/ })).toBeFocused()
        expect(await counted()).toEqual({ clicks: 2, keys: 0 })
        expect(fs.readFileSync(rule, 'utf8')).toBe(planted)

        // From the timeline: nothing is ticked before a scope is.
        await go(page, '/timeline')
        const row = timeline(page).getByRole('row').filter({ hasText: good.title }).last()
        await expect(timeline(page).getByRole('row').filter({ hasText: 'rolled back 1 path' })).toHaveCount(1)
        counted = await countActs(page)
        await row.click({ button: 'right' })
        await page.getByRole('menuitem', { name: 'Roll back…' }).click()
        await expect(act(page)).toHaveText('Choose what to roll back')
        await expect(act(page)).toBeDisabled()
        await page.getByRole('checkbox', { name: /^Project files/ }).click()
        await expect(act(page)).toHaveText('Roll back 1 path')
        await act(page).click()
        await expect(page.getByRole('heading', { name: /^Rolled back to/ })).toBeFocused()
        expect(await counted()).toEqual({ clicks: 4, keys: 0 })
        expect(fs.existsSync(rule)).toBe(false)

        for (const to of ['/rollbacks', '/timeline']) {
          await go(page, to)
          await expect(page.getByRole('main')).toContainText(/rolled back 1 path/i)
          await expectAccessible(page, to)
        }
      })
    })

    test(`edit, break, one click back, ${ROUNDS} times`, () => {
      const made = makeEmptyHome()
      const stage = plantedHome(made)
      const file = path.join(made.home, 'shop/CLAUDE.md')
      const good = fs.readFileSync(file, 'utf8')
      return withScene(made, open, async ({ page, daemon }) => {
        const session = stage.run('yes')
        await daemon.call('sync.now', {})
        await daemon.call('drift.look', {})
        const run = await runOf(daemon, session)
        await closeWelcome(page)
        for (let round = 1; round <= ROUNDS; round += 1) {
          fs.writeFileSync(file, `# broken ${round}\n`)
          await go(page, `/rollback?target=${run.id}&only=${encodeURIComponent(file)}`)
          await expect(act(page)).toHaveText('Roll back 1 path')
          const counted = await countActs(page)
          await act(page).click()
          await expect(page.getByRole('heading', { name: /^Rolled back to/ })).toBeFocused()
          expect(await counted()).toEqual({ clicks: 1, keys: 0 })
          expect(fs.readFileSync(file, 'utf8')).toBe(good)
        }
      })
    })
  })
}

const expectNoSideways = (page: Page) =>
  expect
    .poll(() => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth))
    .toBeLessThanOrEqual(0)

const act = (page: Page) => page.locator('[data-rollback-act]')
