/** The files of the two sample workspaces at their turning points. The tests in them really run: `npm test`, Node 20 or newer. */
const testCommand = 'node --test --test-reporter=tap'

export const quietTests = 'npm test --silent 2>&1 | grep -E "^(ok|not ok|# (pass|fail))"'

/** How the sample's agent runs the tests, so that its output is short and its exit code true. */
export const runTests = `${quietTests}; exit \${PIPESTATUS[0]}`

export const shop = {
  package: `${JSON.stringify({ name: 'shop-client', version: '0.4.0', private: true, type: 'module', scripts: { test: testCommand } }, null, 2)}\n`,
  claudeMd: `# shop-client

Talks to the order service of the shop.

- Run \`npm test\` after each change.
- Reading an order may be repeated. Paying must never be.
- Say in one sentence what you changed and why.
`,
  ignore: 'node_modules/\n.env*\n',
  settings: `${JSON.stringify({ permissions: { allow: ['Bash(npm test:*)'], deny: ['Read(./.env)'] }, env: { SHOP_STAGE: 'local' } }, null, 2)}\n`,
  testingRule: `# Tests

Tests never wait for real time. Hand clocks and delays in.
`,
  paymentsRule: (paths: string) => `---
paths:
  - "${paths}"
---

# Payments

Nothing here is sent twice. Set \`retries\` to 0 in every configuration you touch, and do not add loops around calls.
`,
  config: `export const config = {
  baseUrl: 'http://localhost:8080',
  retries: 3,
  baseDelayMs: 10,
}
`,
  clientFirst: `import { config } from './config.js'

export function createClient({ send, settings = config }) {
  return {
    order: (id) => send(\`\${settings.baseUrl}/orders/\${id}\`),
  }
}
`,
  clientTestFirst: `import assert from 'node:assert'
import { test } from 'node:test'
import { createClient } from '../src/client.js'

test('asks for one order', async () => {
  const client = createClient({ send: async (url) => url })
  assert.match(await client.order(7), /orders\\/7$/)
})
`,
  client: `import { config } from './config.js'
import { withRetries } from './retry.js'

export function createClient({ send, settings = config }) {
  return {
    order: (id) => withRetries(() => send(\`\${settings.baseUrl}/orders/\${id}\`), settings),
  }
}
`,
  clientTest: `import assert from 'node:assert'
import { test } from 'node:test'
import { createClient } from '../src/client.js'

test('asks for one order', async () => {
  const client = createClient({ send: async (url) => url })
  assert.match(await client.order(7), /orders\\/7$/)
})

test('gets an order although the service fails twice', async () => {
  let calls = 0
  const send = async () => {
    calls += 1
    if (calls < 3) throw new Error('503 service unavailable')
    return { id: 7 }
  }
  const client = createClient({ send })
  assert.deepStrictEqual(await client.order(7), { id: 7 })
})
`,
  retryFlaky: `/** Calls \`action\` again after failures, waiting longer each time. */
export async function withRetries(action, { retries, baseDelayMs }) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await action()
    } catch (error) {
      if (attempt >= retries) throw error
      const delay = baseDelayMs * 2 ** attempt * (0.5 + Math.random())
      await new Promise((resolve) => setTimeout(resolve, delay))
    }
  }
}
`,
  retry: `/** Calls \`action\` again after failures, waiting longer each time. \`sleep\` and \`random\` are handed in by tests. */
export async function withRetries(action, { retries, baseDelayMs, sleep = wait, random = Math.random }) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await action()
    } catch (error) {
      if (attempt >= retries) throw error
      await sleep(baseDelayMs * 2 ** attempt * (0.5 + random()))
    }
  }
}

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
`,
  retryTestFlaky: `import assert from 'node:assert'
import { test } from 'node:test'
import { withRetries } from '../src/retry.js'

test('waits longer each time', async () => {
  const started = Date.now()
  await assert.rejects(withRetries(async () => Promise.reject(new Error('down')), { retries: 3, baseDelayMs: 10 }))
  const took = Date.now() - started
  assert.ok(took >= 60 && took < 90, \`took \${took} ms\`)
})
`,
  retryTest: `import assert from 'node:assert'
import { test } from 'node:test'
import { withRetries } from '../src/retry.js'

test('waits longer each time', async () => {
  const waited = []
  const sleep = async (ms) => waited.push(ms)
  const settings = { retries: 3, baseDelayMs: 10, sleep, random: () => 0.5 }
  await assert.rejects(withRetries(async () => Promise.reject(new Error('down')), settings))
  assert.deepStrictEqual(waited, [10, 20, 40])
})
`,
  pay: `import { config } from '../config.js'

/** A payment is sent once. Who does not know how it ended asks for its state. */
export function createPayments({ send, settings = { ...config, retries: 0 } }) {
  return {
    pay: (order, cents) => send(\`\${settings.baseUrl}/payments\`, { order, cents }),
    state: (order) => send(\`\${settings.baseUrl}/payments/\${order}\`),
  }
}
`,
  payTest: `import assert from 'node:assert'
import { test } from 'node:test'
import { createPayments } from '../src/payments/pay.js'

test('sends a payment once', async () => {
  let calls = 0
  const payments = createPayments({ send: async () => { calls += 1; throw new Error('504') } })
  await assert.rejects(payments.pay(7, 1250))
  assert.strictEqual(calls, 1)
})
`,
} as const

export const stock = {
  package: `${JSON.stringify({ name: 'stock-notes', version: '0.2.0', private: true, type: 'module', scripts: { test: testCommand } }, null, 2)}\n`,
  claudeMd: `# stock-notes

Reads stock levels and says what to order.

- Amounts are whole pieces.
- Ask before adding a dependency.
`,
  levels: `export function readLevels(text) {
  return text
    .trim()
    .split('\\n')
    .slice(1)
    .map((line) => {
      const [item, pieces, minimum] = line.split(',')
      return { item, pieces: Number(pieces), minimum: Number(minimum) }
    })
}
`,
  levelsQuoted: `export function readLevels(text) {
  return text
    .trim()
    .split('\\n')
    .slice(1)
    .map((line) => {
      const [item, pieces, minimum] = splitLine(line)
      return { item, pieces: Number(pieces), minimum: Number(minimum) }
    })
}

function splitLine(line) {
  return [...line.matchAll(/"([^"]*)"|([^,]+)/g)].map((found) => found[1] ?? found[2])
}
`,
  levelsTest: `import assert from 'node:assert'
import { test } from 'node:test'
import { readLevels } from '../src/levels.js'

test('reads items', () => {
  assert.deepStrictEqual(readLevels('item,pieces,minimum\\ntea,4,10\\n'), [{ item: 'tea', pieces: 4, minimum: 10 }])
})
`,
  report: `import { readLevels } from './levels.js'

export function whatToOrder(text) {
  return readLevels(text)
    .filter((level) => level.pieces < level.minimum)
    .map((level) => \`\${level.item}: \${level.minimum - level.pieces}\`)
}
`,
  reportGrouped: `import { readLevels } from './levels.js'

export function whatToOrder(text) {
  const missing = readLevels(text).filter((level) => level.pieces < level.minimum)
  const urgent = missing.filter((level) => level.pieces === 0)
  const later = missing.filter((level) => level.pieces > 0)
  return { urgent: urgent.map(line), later: later.map(line) }
}

const line = (level) => \`\${level.item}: \${level.minimum - level.pieces}\`
`,
  csv: 'item,pieces,minimum\ntea,4,10\ncups,120,40\nfilters,0,25\n',
} as const

export const homeFiles = {
  claudeMd: `# How I like to work

- Small steps, tests first when a bug is fixed.
- Never push.
`,
  styleRule: `# Style

Plain words. No abbreviations in names.
`,
  releaseSkill: `---
name: release-notes
description: Writes release notes from the commits since the last tag
---

Read \`git log\` since the last tag. Group by what a user notices. Leave refactorings out.
`,
  stockSkill: `---
name: stock-report
description: Turns stock levels into an order list
---

Run \`node src/report.js\`, sort by urgency, and show a table with item, missing pieces and supplier.
`,
  testReader: `---
name: test-reader
description: Reads failing tests and says what they expect
tools: Read, Bash
---

Read the failing tests and the code they call. Say what is expected and what happens instead, with file and line. Change nothing.
`,
  settings: `${JSON.stringify({ cleanupPeriodDays: 30, permissions: { allow: ['Bash(git status:*)', 'Bash(git diff:*)'], deny: ['Read(~/.ssh/**)'] }, env: { NO_COLOR: '1' } }, null, 2)}\n`,
  memory: `# Memory

- The order service answers 503 for a few seconds after each deployment.
- Payments go through a different team's service; see src/payments.
`,
} as const
