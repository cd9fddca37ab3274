import { type Browser, expect, test } from '@playwright/test'
import { expectAccessible } from '../kit/axe.ts'
import { launchBrowser, openInBrowser } from '../kit/chromium.ts'
import { startDaemon } from '../kit/daemon.ts'
import { makeFixtureHome } from '../kit/fixture-home.ts'

let browser: Browser
test.beforeAll(async () => {
  browser = await launchBrowser()
})
test.afterAll(() => browser.close())

test('the context of an event: exact, what is new, and the way to the request before', async () => {
  const made = makeFixtureHome()
  const daemon = await startDaemon(made)
  try {
    await daemon.idle()
    const { run } = await daemon.call('runs.get', { run: '10000000-0000-4000-8000-000000000001' })
    const { events } = await daemon.call('runs.events', { run: run.id, limit: 1000 })
    const replies = events.filter(({ kind }) => kind === 'model').map(({ seq }) => seq)
    const page = await openInBrowser(browser, daemon)
    await page.getByRole('button', { name: 'Open the timeline' }).click()
    await page.evaluate((to) => {
      history.pushState(null, '', to)
      dispatchEvent(new PopStateEvent('popstate'))
    }, `/runs/${run.id}/at/${replies[2]}`)
    await page.getByRole('tab', { name: 'Context', exact: true }).click()
    const panel = page.getByRole('tabpanel', { name: 'Context' })
    await expect(panel).toContainText('Exact')
    await expect(panel).toContainText(`Since the request of @${replies[1]}: 2 new messages`)
    await expect(panel.getByRole('list', { name: 'Messages of the request' }).getByRole('listitem')).toHaveCount(2)
    await panel.getByText('4 earlier messages').click()
    await expect(panel.getByText('Add a median function')).toBeVisible()
    await panel.getByText('Tools', { exact: true }).click()
    await panel.getByText('Bash', { exact: true }).click()
    await expect(panel).toContainText('"input_schema"')
    await expectAccessible(page, 'the context of an event')

    await panel.getByRole('button', { name: `@${replies[1]}` }).click()
    await expect(page).toHaveURL(new RegExp(`/at/${replies[1]}$`))
    await expect(panel).toContainText(`Since the request of @${replies[0]}`)
    await page.close()
  } finally {
    await daemon.stop()
    made.remove()
  }
})
