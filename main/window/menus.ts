import { app, Menu, type MenuItemConstructorOptions, Tray } from 'electron'
import { drawIcon, type IconState } from './icon.ts'
import type { Outlook } from './outlook.ts'

export interface MenuActs {
  readonly show: () => void
  /** Opens the plan that takes the last rollback back; nothing is undone by the menu itself. */
  readonly undoLast: () => void
  readonly stopDaemon: () => void
  readonly startDaemon: () => void
}

/** The window's menu: the platform's own roles, and the one act that is main's. The page's acts live in its palette. */
export function setWindowMenu(acts: MenuActs): void {
  const mac: MenuItemConstructorOptions[] = process.platform === 'darwin' ? [{ role: 'appMenu' }] : []
  const template: MenuItemConstructorOptions[] = [
    ...mac,
    {
      label: '&File',
      submenu: [
        { label: 'Stop Daemon…', click: acts.stopDaemon },
        { type: 'separator' },
        { role: 'quit', label: 'Quit Window' },
      ],
    },
    { role: 'editMenu' },
    {
      label: '&View',
      submenu: [
        { role: 'reload' },
        { type: 'separator' },
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { type: 'separator' },
        { role: 'togglefullscreen' },
        { role: 'toggleDevTools' },
      ],
    },
    { role: 'windowMenu' },
    { role: 'help', submenu: [{ role: 'about' }] },
  ]
  Menu.setApplicationMenu(Menu.buildFromTemplate(template))
}

/** The tray, whose menu carries everything: on many Linux desktops a click on the icon itself never arrives. */
export function openTray(acts: MenuActs): { readonly update: (outlook: Outlook) => void } {
  let tray: Tray
  try {
    tray = new Tray(drawIcon(22))
  } catch {
    return { update: () => {} } // no tray on this desktop; the window has everything the tray has
  }
  tray.on('click', acts.show)
  const update = (outlook: Outlook) => {
    tray.setImage(drawIcon(22, shapeOf(outlook)))
    tray.setToolTip(`Reprise: ${headline(outlook)}`)
    tray.setContextMenu(Menu.buildFromTemplate(trayTemplate(outlook, acts)))
  }
  update({ state: 'away' })
  return { update }
}

function shapeOf(outlook: Outlook): IconState {
  if (outlook.state === 'away') return 'attention'
  if (outlook.status.rollbacks.open.some(({ state }) => state === 'interrupted')) return 'attention'
  return outlook.running.length > 0 ? 'active' : 'plain'
}

function headline(outlook: Outlook): string {
  if (outlook.state === 'away') return 'daemon not running'
  const watched = outlook.status.homes.filter((home) => home.watched).length
  return `watching ${count(watched, 'home')}, ${Math.round(outlook.status.lag_ms / 1000)} s behind`
}

const count = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`

function trayTemplate(outlook: Outlook, acts: MenuActs): MenuItemConstructorOptions[] {
  const facts: MenuItemConstructorOptions[] = [{ label: `Reprise: ${headline(outlook)}`, enabled: false }]
  if (outlook.state === 'here') {
    const { running, status } = outlook
    if (running.length > 0) {
      facts.push({
        label: `${count(running.length, 'run')} active`,
        submenu: running.slice(0, 12).map((title) => ({ label: shorten(title), enabled: false })),
      })
    }
    const stuck = status.rollbacks.open.filter(({ state }) => state === 'interrupted').length
    if (stuck > 0)
      facts.push({ label: `${count(stuck, 'rollback')} interrupted: open Reprise to decide`, click: acts.show })
    if (status.gap_count > 0) facts.push({ label: count(status.gap_count, 'gap'), enabled: false })
  }
  const daemon: MenuItemConstructorOptions =
    outlook.state === 'here'
      ? { label: 'Stop Daemon…', click: acts.stopDaemon }
      : { label: 'Start Daemon', click: acts.startDaemon }
  return [
    ...facts,
    { type: 'separator' },
    { label: 'Open Reprise', click: acts.show },
    {
      label: 'Undo Last Rollback…',
      enabled: outlook.state === 'here' && outlook.status.rollbacks.last?.undone === false,
      click: acts.undoLast,
    },
    { type: 'separator' },
    { label: 'Quit Window', click: () => app.quit() },
    daemon,
  ]
}

/** A menu treats `&` as the mark of an access key. */
const shorten = (title: string) => (title.length > 60 ? `${title.slice(0, 59)}…` : title).replaceAll('&', '&&')
