import { defineConfig } from '@playwright/test'

/** The same journeys twice: in the desktop window and in a browser. Neither downloads a browser of its own. */
export default defineConfig({
  outputDir: 'test-results',
  timeout: 60_000,
  expect: { timeout: 10_000 },
  forbidOnly: Boolean(process.env.CI),
  workers: 1,
  reporter: [['list']],
  use: { trace: 'retain-on-failure', screenshot: 'only-on-failure' },
  projects: [
    { name: 'browser', testDir: 'test/browser' },
    { name: 'desktop', testDir: 'test/desktop' },
  ],
})
