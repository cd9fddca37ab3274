import { EyeOff } from 'lucide-react'
import { words } from '../words/en.ts'

interface Valued {
  readonly value?: unknown
  readonly value_ref?: unknown
}

/** A value as JSON on one line; a secret is its reference only. */
export function SettingValue({ of }: { readonly of: Valued }) {
  if (typeof of.value_ref === 'string')
    return (
      <span
        className="inline-flex items-center gap-1 text-text-2"
        title={`${words.manifest.values.secretHint} ${of.value_ref}`}
      >
        <EyeOff size={12} strokeWidth={1.75} aria-hidden="true" />
        {words.manifest.values.secret}
      </span>
    )
  return (
    <code className="font-mono text-[0.75rem]">
      {of.value === undefined ? words.unknown : JSON.stringify(of.value)}
    </code>
  )
}
