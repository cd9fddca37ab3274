import { expect, type Page, test } from '@playwright/test'
import { expectAccessible } from './axe.ts'
import { beginLiveSession, makeEmptyHome, makeFixtureHome } from './fixture-home.ts'
import { describeGoingBack } from './going-back.ts'
import { describeInvestigations } from './investigations.ts'
import { type OpenWindow, withScene } from './scene.ts'

/** What a person does with the window, step by step; the same in the desktop window and in a browser. */
export function describeJourneys(host: string, open: OpenWindow): void {
  describeInvestigations(host, open)
  describeGoingBack(host, open)
  test.describe(`${host}:`, () => {
    test('first look: what is on this machine, and its runs', () =>
      withScene(makeFixtureHome(), open, async ({ page, daemon }) => {
        const found = page.getByRole('region', { name: 'What is on this machine' })
        await expect(found.getByRole('row', { name: /Claude Code/ })).toContainText('sessions')
        await expect(found).toContainText('nothing was changed, nothing was sent')
        const rows = runRows(page)
        await expect(rows.filter({ hasText: 'Add a median function' }).first()).toBeVisible()
        const { runs } = await daemon.call('runs.list', {})
        expect(runs.length).toBeGreaterThan(8)
        await expectAccessible(page, 'the first look')
        // The way on has the focus, so that Enter is enough.
        await expect(found.getByRole('button', { name: 'Open the timeline' })).toBeFocused()
        await page.keyboard.press('Enter')
        await expect(found).toBeHidden()
        await expectAccessible(page, 'the timeline')
        await reload(page)
        await expect(rows.first()).toBeVisible()
        await expect(found).toBeHidden()
      }))

    test('a run: opened, stepped through and left with the keyboard alone', () =>
      withScene(makeFixtureHome(), open, async ({ page, daemon }) => {
        await closeWelcome(page)
        const { runs } = await daemon.call('runs.list', {})
        const run = runs.find(({ title, calls }) => title === 'Add a median function' && calls.total > 3)
        if (run === undefined) throw new Error('the recorded run is missing')
        const grid = page.getByRole('treegrid', { name: 'All runs, newest first' })
        await grid.focus()
        for (let i = 0; i < 40 && !(await pointsAt(page, grid, run.title)); i += 1)
          await page.keyboard.press('ArrowDown')
        await page.keyboard.press('Enter')
        await expect(page.getByRole('heading', { name: run.title, level: 1 })).toBeVisible()
        await expect(page).toHaveURL(/\/runs\/[^/]+\/at\/\d+/)
        await expectAccessible(page, 'a run')

        await page.getByRole('slider', { name: 'Point in the run' }).focus()
        await page.keyboard.press('Home')
        await expect.poll(() => pointOf(page)).toBe(1)
        const events = (await daemon.call('runs.events', { run: run.id, limit: 1000 })).events
        const seqs = events.map(({ seq }) => seq)
        for (const seq of seqs.slice(1, 6)) {
          await page.keyboard.press('ArrowRight')
          await expect.poll(() => pointOf(page)).toBe(seq)
        }
        await page.keyboard.press('ArrowLeft')
        await expect.poll(() => pointOf(page)).toBe(seqs[4])
        await page.keyboard.press('Shift+ArrowRight')
        const changed = (await daemon.call('runs.ticks', { run: run.id })).changed
        const next = seqs.findIndex((seq, index) => seq > (seqs[4] ?? 0) && changed[index] === true)
        await expect.poll(() => pointOf(page)).toBe(seqs[next])
        await page.keyboard.press('End')
        await expect.poll(() => pointOf(page)).toBe(seqs.at(-1))

        // Back is the row one came from; forward and a reload keep the point.
        await page.goBack()
        await expect(grid).toBeVisible()
        await expect.poll(() => pointsAt(page, grid, run.title)).toBe(true)
        await page.goForward()
        await expect.poll(() => pointOf(page)).toBe(seqs.at(-1))
        await reload(page)
        await expect(page.getByRole('heading', { name: run.title, level: 1 })).toBeVisible()
        expect(pointOf(page)).toBe(seqs.at(-1))

        for (const tab of ['Transcript', 'Actual use', 'Coverage', 'Usage']) {
          await page.getByRole('tab', { name: new RegExp(`^${tab}`) }).click()
          await expect(page.getByRole('tabpanel')).not.toBeEmpty()
          await expectAccessible(page, `the tab ${tab}`)
        }
      }))

    test('the manifest of a run', () =>
      withScene(makeFixtureHome(), open, async ({ page, daemon }) => {
        await closeWelcome(page)
        const { runs } = await daemon.call('runs.list', {})
        const run = runs.find(({ manifest }) => manifest !== null)
        if (run === undefined) throw new Error('no run has a manifest')
        await go(page, `/runs/${run.id}`)
        await page
          .getByRole('link', { name: /^Manifest/ })
          .first()
          .click()
        await expect(page).toHaveURL(/\/manifest/)
        const digest = (run.manifest ?? '').replace('sha256:', '')
        await expect(page.getByRole('main')).toContainText(digest.slice(0, 6))
        await expectAccessible(page, 'a manifest')
      }))

    test('words are found and lead to their event', () =>
      withScene(makeFixtureHome(), open, async ({ page, daemon }) => {
        await closeWelcome(page)
        await expect
          .poll(async () => (await daemon.call('search.run', { text: 'median' })).total, { timeout: 15_000 })
          .toBeGreaterThan(0)
        await page.keyboard.press('Control+k')
        const palette = page.getByRole('dialog', { name: 'Search or do anything' })
        await expect(palette).toBeVisible()
        await page.keyboard.type('median')
        const hit = palette.getByRole('option').filter({ hasText: '@' }).first()
        await expect(hit).toBeVisible()
        await expectAccessible(page, 'the palette')
        await palette.getByRole('option', { name: /^All \d+ hits?/ }).click()
        await expect(page).toHaveURL(/\/search\?q=median/)
        const results = page.getByRole('main').getByRole('row').filter({ hasText: 'median' })
        await expect(results.first()).toBeVisible()
        await expectAccessible(page, 'the search')
        await results.first().click()
        await page.keyboard.press('Enter')
        await expect(page).toHaveURL(/\/runs\/[^/]+\/at\/\d+/)
      }))

    test('a session that is being written appears and grows by itself', () =>
      withScene(makeFixtureHome(), open, async ({ page, made, daemon }) => {
        await closeWelcome(page)
        await expect(runRows(page).first()).toBeVisible()
        const live = beginLiveSession(made.home)
        const other = beginLiveSession(made.home, 'a2000000-0000-4000-8000-0000000000aa')
        // With the focus in the list nothing may move under it: the new run is announced on a button.
        await page.getByRole('treegrid', { name: 'All runs, newest first' }).focus()
        other.append(10)
        await expect(page.getByRole('button', { name: '1 new' })).toBeVisible({ timeout: 3000 })
        await page.getByRole('button', { name: '1 new' }).click()
        await expect(runRows(page).filter({ hasText: 'Count the words of a page' })).toHaveCount(1)
        // Without it the run appears by itself.
        await page.getByPlaceholder(/^Filter/).focus()
        live.append(10)
        const row = runRows(page).filter({ hasText: 'Count the words of a page' })
        await expect(row).toHaveCount(2, { timeout: 3000 })
        const { runs } = await daemon.call('runs.list', {})
        const run = runs.find(({ session }) => session === live.id)
        if (run === undefined) throw new Error('the live run is not listed')
        await go(page, `/runs/${run.id}/at/1`)
        const slider = page.getByRole('slider', { name: 'Point in the run' })
        await expect(slider).toBeVisible()
        const before = Number(await slider.getAttribute('aria-valuemax'))
        live.append(1000)
        await expect
          .poll(async () => Number(await slider.getAttribute('aria-valuemax')), { timeout: 3000 })
          .toBeGreaterThan(before)
        // What one reads does not move.
        expect(await pointOf(page)).toBe(1)
      }))

    test('no agent: the places looked in, a folder to name, and the sample', () =>
      withScene(makeEmptyHome(), open, async ({ page, made }) => {
        await expect(page.getByRole('heading', { name: 'No agent was found on this machine' })).toBeVisible()
        await expect(page.getByRole('main')).toContainText(`${made.home}/.claude`)
        await expect(page.getByRole('main')).toContainText('npm run demo')
        await expectAccessible(page, 'nothing found')
        const fixture = makeFixtureHome()
        try {
          await page.getByLabel('Folder').fill(`${fixture.home}/.claude`)
          await page.getByRole('button', { name: 'Watch this folder' }).click()
          await expect(runRows(page).first()).toBeVisible({ timeout: 15_000 })
        } finally {
          fixture.remove()
        }
      }))

    test('every other screen can be used by everybody', () =>
      withScene(makeFixtureHome(), open, async ({ page, daemon }) => {
        await closeWelcome(page)
        const { homes } = await daemon.call('status.get', {})
        for (const [path, name] of [
          ['/homes', '.claude'],
          [`/homes?history=${homes[0]?.id}`, 'History of configuration'],
          ['/search?q=median&in=configuration', 'Configuration'],
          ['/compare', 'Pick two to compare'],
          ['/health', 'Health'],
          ['/health/gaps', 'Gaps'],
          ['/rollback', 'Choose what to go back to'],
          ['/rollbacks', 'Nothing was rolled back yet'],
          ['/settings', 'Appearance'],
          ['/settings/collection', 'Collection'],
          ['/nowhere', 'There is no such page'],
        ] as const) {
          await go(page, path)
          await expect(page.getByRole('main')).toContainText(name)
          await expectAccessible(page, path)
        }
      }))

    test('the smallest window never scrolls sideways', () =>
      withScene(makeFixtureHome(), open, async ({ page, daemon }) => {
        await closeWelcome(page)
        const { runs } = await daemon.call('runs.list', { limit: 2 })
        await page.setViewportSize({ width: 420, height: 480 })
        for (const path of [
          '/timeline',
          '/welcome',
          `/runs/${runs[0]?.id}`,
          `/runs/${runs[0]?.id}/manifest`,
          `/runs/${runs[0]?.id}?tab=use`,
          `/compare?a=${runs[0]?.id}&b=${runs[1]?.id}`,
          `/compare?a=${runs[0]?.id}&b=${runs[1]?.id}&view=steps`,
          '/search?q=median',
          '/homes',
          '/health',
          '/rollbacks',
          '/rollback',
          '/settings',
        ]) {
          await go(page, path)
          await expect(page.getByRole('main')).toBeVisible()
          await page.waitForTimeout(250)
          const overflow = await page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          )
          expect(overflow, `${path} at 420 pixels`).toBeLessThanOrEqual(0)
        }
      }))
  })
}

const runRows = (page: Page) => page.getByRole('treegrid', { name: 'All runs, newest first' }).getByRole('row')

/** By the page's own address, so that the key of a browser session is kept. */
async function go(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
  }, path)
}

async function reload(page: Page): Promise<void> {
  await page.reload()
  await expect(page.getByRole('main')).toBeVisible()
}

async function closeWelcome(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Open the timeline' }).click()
}

const pointOf = (page: Page) => Number(/\/at\/(\d+)/.exec(page.url())?.[1] ?? Number.NaN)

/** Whether the list points at a row with this text. */
async function pointsAt(page: Page, grid: ReturnType<Page['getByRole']>, text: string): Promise<boolean> {
  const id = await grid.getAttribute('aria-activedescendant')
  return id !== null && ((await page.locator(`[id="${id}"]`).textContent()) ?? '').includes(text)
}
