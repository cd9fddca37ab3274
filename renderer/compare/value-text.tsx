import { Digest } from '../parts/digest.tsx'
import { Unknown } from '../parts/marks.tsx'
import { words } from '../words/en.ts'

/** A value of a manifest as one reads it; nothing is a word. */
export function ValueText({ value }: { readonly value: unknown }) {
  if (value === null || value === undefined) return <span className="text-text-3">{words.compare.nothing}</span>
  if (value === 'unknown') return <Unknown />
  if (typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value)) return <Digest digest={value} />
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return (
    <span className="font-mono text-[0.75rem] break-words">{text.length > 600 ? `${text.slice(0, 600)}…` : text}</span>
  )
}
