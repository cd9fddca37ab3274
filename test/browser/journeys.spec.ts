import { type Browser, test } from '@playwright/test'
import { launchBrowser, openInBrowser } from '../kit/chromium.ts'
import { describeJourneys } from '../kit/journeys.ts'

let browser: Browser
test.beforeAll(async () => {
  browser = await launchBrowser()
})
test.afterAll(() => browser.close())

describeJourneys('browser', async (_made, daemon) => {
  const page = await openInBrowser(browser, daemon)
  return { page, close: () => page.close() }
})
