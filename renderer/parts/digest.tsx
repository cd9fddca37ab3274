import { words } from '../words/en.ts'
import { copyText } from './copy.ts'
import { shortDigest, shortId } from './format.ts'

/** Eight digits; a click copies the whole. */
export function Digest({ digest }: { readonly digest: string }) {
  return (
    <button
      type="button"
      className="rounded-chip font-mono text-[0.75rem] text-text-2 hover:bg-hover hover:text-text"
      title={digest}
      aria-label={`${words.copy} ${digest}`}
      onClick={() => void copyText(digest, shortDigest(digest))}
    >
      {shortDigest(digest)}
    </button>
  )
}

export function IdText({ id }: { readonly id: string }) {
  return (
    <button
      type="button"
      className="rounded-chip font-mono text-[0.75rem] text-text-2 hover:bg-hover hover:text-text"
      title={id}
      aria-label={`${words.copy} ${id}`}
      onClick={() => void copyText(id, id)}
    >
      {shortId(id)}
    </button>
  )
}
