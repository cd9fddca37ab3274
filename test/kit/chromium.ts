import { type Browser, chromium, type Page } from '@playwright/test'
import { findBrowser } from '../../main/launch/hosts.ts'
import type { TestDaemon } from './daemon.ts'

const flags = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export async function launchBrowser(): Promise<Browser> {
  const executablePath = findBrowser(process.env)
  if (executablePath === null)
    throw new Error('no Chromium was found; make it ready with: node scripts/setup-system.mjs')
  return chromium.launch({ executablePath, args: flags })
}

/** Opens what the daemon serves on loopback the way people do: through the file that redirects to it. */
export async function openInBrowser(browser: Browser, daemon: TestDaemon): Promise<Page> {
  const { page: file, port } = await daemon.call('browser.open', {})
  const page = await browser.newPage({ viewport: { width: 1280, height: 820 } })
  await page.goto(`file://${encodeURI(file)}`)
  await page.waitForURL(`http://127.0.0.1:${port}/**`)
  return page
}
