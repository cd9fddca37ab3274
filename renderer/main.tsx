import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { desktop } from './desktop.ts'
import './styles.css'
import { App } from './app.tsx'
import { createHttpTransport } from './transport/http.ts'
import { createQueryClient } from './transport/queries.ts'
import { takeToken } from './transport/token.ts'

const token = desktop() === null ? takeToken(window) : null
const transport = createHttpTransport({ fetch: (input, init) => window.fetch(input, init), token })
const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no #root')
createRoot(root).render(
  <StrictMode>
    <App transport={transport} client={createQueryClient()} />
  </StrictMode>,
)
