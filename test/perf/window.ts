import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findBrowser } from './browser.ts'
import type { MeasuredDaemon } from './daemon.ts'
import { programs } from './daemon.ts'
import { type Measured, ms } from './table.ts'

/** The window in Chromium: from the call of the page until rows of the timeline stand there, and how it scrolls. */
export async function measureWindow(daemon: MeasuredDaemon, trivialMs: number): Promise<readonly Measured[]> {
  const absent = (why: string): readonly Measured[] => [
    { what: `window: not measured, ${why}`, measured: '-', baseline: '-', ratio: '-', aim: '≤ 300 ms', met: null },
  ]
  const browserPath = findBrowser()
  if (browserPath === null) return absent('no Chromium here (REPRISE_BROWSER names one)')
  if (!existsSync(join(programs, '../renderer/index.html'))) return absent('the window is not built')
  const { chromium } = await import('@playwright/test')
  const { answer } = await daemon.ask('browser.open', {})
  // The key of the address stands only in a file that nobody else can read; it leads to the window.
  const target = /location\.replace\(("[^"]*")\)/.exec(readFileSync(answer.page, 'utf8'))?.[1]
  if (target === undefined) return absent('the page that leads to it does not')
  const address: string = JSON.parse(target)
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] })
  try {
    const cold: number[] = []
    const rows = '[role="row"]'
    let frames: readonly number[] = []
    for (let n = 0; n < 4; n++) {
      const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } })
      const page = await context.newPage()
      const from = performance.now()
      await page.goto(address, { waitUntil: 'commit' })
      await page.waitForFunction((selector) => document.querySelectorAll(selector).length >= 5, rows, {
        timeout: 20_000,
        polling: 'raf',
      })
      cold.push(performance.now() - from)
      if (n === 3) frames = await page.evaluate<readonly number[]>(scrollAndCount(rows))
      await context.close()
    }
    const best = Math.min(...cold)
    const blank = await blankPageMs(browser)
    const slow = frames.filter((frame) => frame > 34).length
    return [
      {
        what: 'window: first rows in Chromium (best of 4)',
        measured: ms(best),
        baseline: `${ms(blank)} empty page`,
        ratio: (best / blank).toFixed(1),
        aim: '≤ 300 ms',
        met: best <= 300,
      },
      {
        what: `window: frames over 34 ms while scrolling (${frames.length} frames)`,
        measured: String(slow),
        baseline: `${ms(trivialMs)} handshake`,
        ratio: '-',
        aim: '0',
        met: frames.length === 0 ? null : slow === 0,
      },
    ]
  } finally {
    await browser.close()
    await daemon.ask('browser.close', {})
  }
}

async function blankPageMs(browser: import('@playwright/test').Browser): Promise<number> {
  const page = await browser.newPage()
  const from = performance.now()
  await page.goto('data:text/html,<p>empty</p>')
  const took = performance.now() - from
  await page.close()
  return took
}

/**
 * For the page: scrolls what scrolls around the rows for two seconds and gives the time of each frame. A text, because the loader of
 * these files adds calls to functions that the page does not have.
 */
const scrollAndCount = (rows: string): string => `new Promise((done) => {
  let box = document.querySelector(${JSON.stringify(rows)})
  while (box !== null && box.scrollHeight <= box.clientHeight + 50) box = box.parentElement
  if (box === null) return done([])
  const frames = []
  const started = performance.now()
  let last = started
  requestAnimationFrame(function step(now) {
    frames.push(now - last)
    last = now
    box.scrollTop += 120
    if (now - started < 2000) requestAnimationFrame(step)
    else done(frames.slice(2))
  })
})`
