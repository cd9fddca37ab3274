import { entropyOf } from './entropy.ts'
import type { Finding } from './redactor.ts'

/**
 * Addresses of MCP servers that are keys themselves: `https://host/s/<key>/sse`. Other addresses are full of random ids, so only one that
 * speaks of MCP, or stands in what does, is looked at.
 */
const ADDRESS = /:\\{0,4}\/\\{0,4}\/[^\s"'`<>\\/]{1,253}((?:\\{0,4}\/|[?#])[^\s"'`<>]{16,1000})/g
const PART = /[A-Za-z0-9_~.+=%-]{20,}/g
const MCP = /mcp/i
/** How far before an address the list of servers may be named. */
const BEFORE = 400
/** Words and numbers, as in `weather-server-2024-preview`. */
const NAME =
  /^(?:[a-z]+|[A-Z][a-z]+|[A-Z]+|v?\d{1,8}|[a-z]+\d{1,2})(?:[-_.+%=~](?:[a-z]+|[A-Z][a-z]+|[A-Z]+|v?\d{1,8}|[a-z]+\d{1,2}))*$/

/** `always`: the text is known to be about an MCP server. */
export function findUrlKeys(text: string, always = false): Finding[] {
  const findings: Finding[] = []
  if (!text.includes('://') && !text.includes(':\\/')) return findings
  if (!always && !MCP.test(text)) return findings
  ADDRESS.lastIndex = 0
  for (let hit = ADDRESS.exec(text); hit !== null; hit = ADDRESS.exec(text)) {
    const path = hit[1] ?? ''
    const from = hit.index + hit[0].length - path.length
    if (!always && !MCP.test(text.slice(Math.max(0, hit.index - BEFORE), from + path.length))) continue
    for (const part of path.matchAll(PART)) {
      const [query] = /^[\w.-]{1,30}=(?=.)/.exec(part[0]) ?? ['']
      const key = part[0].slice(query.length).replace(/\.(?:[a-z]{2,5})$|\.+$/, '')
      if (key.length < 20 || !/\d/.test(key) || !/[A-Za-z]/.test(key) || NAME.test(key) || entropyOf(key) < 3) continue
      const start = from + part.index + query.length
      findings.push({ start, end: start + key.length, family: 'url-key' })
    }
  }
  return findings
}
