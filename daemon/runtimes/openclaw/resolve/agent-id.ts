/** The form of an agent's name that the runtime uses for folders and session keys (2026.9.6). */
export function agentIdOf(given: string): string {
  const trimmed = given.trim()
  const lower = trimmed.toLowerCase()
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(trimmed)) return lower
  return (
    lower
      .replace(/[^a-z0-9_-]+/g, '-')
      .replace(/^-+/, '')
      .replace(/-+$/, '')
      .slice(0, 64) || 'main'
  )
}
