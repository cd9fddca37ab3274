import { resolve } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'electron-vite'

const at = (path: string) => resolve(import.meta.dirname ?? process.cwd(), path)

/** One output for Node 20 and for every Electron since 25 (Node 18, Chromium 114). */
const node = { target: 'node18', sourcemap: true, minify: false } as const

/**
 * electron-vite 6 sets `./` whatever the configuration says; but the page lives at many paths (`/runs/…/at/41`), and relative addresses
 * would be sought beside each of them.
 */
const absoluteBase = { name: 'absolute-base', enforce: 'post', config: () => ({ base: '/' }) } as const

export default defineConfig({
  main: {
    build: {
      ...node,
      outDir: at('out/node'),
      externalizeDeps: true,
      rolldownOptions: {
        input: {
          main: at('main/index.ts'),
          launch: at('main/launch.ts'),
          daemon: at('daemon/index.ts'),
          app: at('daemon/app.ts'),
          'index-worker': at('daemon/capture/index-worker.ts'),
          cli: at('cli/index.ts'),
        },
        output: { format: 'cjs', entryFileNames: '[name].cjs', chunkFileNames: 'chunks/[name]-[hash].cjs' },
      },
    },
  },
  preload: {
    build: {
      ...node,
      outDir: at('out/preload'),
      externalizeDeps: false, // a sandboxed preload cannot require packages
      rolldownOptions: {
        input: { index: at('preload/index.ts') },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    root: at('renderer'),
    plugins: [react(), tailwindcss(), absoluteBase],
    build: {
      outDir: at('out/renderer'),
      target: 'chrome114',
      cssTarget: 'chrome114',
      minify: true, // the default is false
      rolldownOptions: { input: { index: at('renderer/index.html') } },
    },
  },
})
