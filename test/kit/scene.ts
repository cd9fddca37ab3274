import { expect, type Page } from '@playwright/test'
import { startDaemon, type TestDaemon } from './daemon.ts'
import type { TestHome } from './fixture-home.ts'

export interface Opened {
  readonly page: Page
  close(): Promise<void>
}
export type OpenWindow = (made: TestHome, daemon: TestDaemon) => Promise<Opened>

export interface Scene extends Opened {
  readonly made: TestHome
  readonly daemon: TestDaemon
}

/** A daemon that has read everything and a window on it, for one test; nothing of them stays. */
export async function withScene(made: TestHome, open: OpenWindow, act: (scene: Scene) => Promise<void>): Promise<void> {
  try {
    const daemon = await startDaemon(made)
    try {
      await daemon.idle()
      const opened = await open(made, daemon)
      const complaints = collectComplaints(opened.page)
      try {
        await act({ ...opened, made, daemon })
        expect(complaints).toEqual([])
      } finally {
        await opened.close()
      }
    } finally {
      await daemon.stop()
    }
  } finally {
    made.remove()
  }
}

/** Anything a page complains of is a fault, whatever it shows. */
function collectComplaints(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`)
  })
  return complaints
}
