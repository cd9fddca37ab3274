import { contextBridge, ipcRenderer } from 'electron'
import { type DesktopBridge, desktopChannels } from '../contract/desktop.ts'
import { PRODUCT_VERSION } from '../contract/version.ts'

const bridge: DesktopBridge = {
  platform: process.platform,
  version: PRODUCT_VERSION,
  pickFolder: (title) => ipcRenderer.invoke(desktopChannels.pickFolder, title),
  showInFolder: (path) => ipcRenderer.invoke(desktopChannels.showInFolder, path),
  startDaemon: () => ipcRenderer.invoke(desktopChannels.startDaemon),
  setTheme: (theme) => ipcRenderer.invoke(desktopChannels.setTheme, theme),
  copyText: (text) => ipcRenderer.invoke(desktopChannels.copyText, text),
}

contextBridge.exposeInMainWorld('reprise', bridge)
