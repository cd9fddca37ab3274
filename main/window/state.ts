import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { type BrowserWindow, type Rectangle, screen } from 'electron'
import { LowSync } from 'lowdb'
import { JSONFileSync } from 'lowdb/node'
import { z } from 'zod'

const stateSchema = z.object({
  version: z.literal(1),
  x: z.number().int().nullable(),
  y: z.number().int().nullable(),
  width: z.number().int().min(420).max(20_000),
  height: z.number().int().min(480).max(20_000),
  maximized: z.boolean(),
})
export type WindowState = Readonly<z.infer<typeof stateSchema>>

const firstState: WindowState = { version: 1, x: null, y: null, width: 1280, height: 820, maximized: false }

/** Where the window was. A damaged file or a place on a screen that is gone counts as never seen. */
export function readWindowState(file: string): WindowState {
  try {
    const parsed = stateSchema.safeParse(new JSONFileSync<unknown>(file).read())
    if (!parsed.success) return firstState
    return isOnScreen(parsed.data) ? parsed.data : { ...parsed.data, x: null, y: null }
  } catch {
    return firstState
  }
}

function isOnScreen({ x, y, width, height }: WindowState): boolean {
  if (x === null || y === null) return true
  const overlaps = (area: Rectangle) =>
    x < area.x + area.width - 80 && x + width > area.x + 80 && y >= area.y - 8 && y < area.y + area.height - 80
  return height > 0 && screen.getAllDisplays().some((display) => overlaps(display.workArea))
}

/** Writes the place of a window half a second after it last moved, and when it closes. */
export function rememberWindow(window: BrowserWindow, file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const document = new LowSync<WindowState>(new JSONFileSync<WindowState>(file), firstState)
  let timer: NodeJS.Timeout | undefined
  const save = () => {
    clearTimeout(timer)
    if (window.isDestroyed() || window.isMinimized()) return
    document.data = { version: 1, ...window.getNormalBounds(), maximized: window.isMaximized() }
    try {
      document.write()
    } catch {
      // A full or read-only disk must not keep a window from closing; the place is then forgotten.
    }
  }
  const later = () => {
    clearTimeout(timer)
    timer = setTimeout(save, 500)
  }
  window.on('resize', later)
  window.on('move', later)
  window.on('maximize', later)
  window.on('unmaximize', later)
  window.on('close', save)
}
