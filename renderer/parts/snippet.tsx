const START = '\u{e000}'
const END = '\u{e001}'

/** A line of text whose matched words stand between U+E000 and U+E001. */
export function Snippet({ text }: { readonly text: string }) {
  let at = 0
  return text.split(START).flatMap((piece, index) => {
    at += piece.length + 1
    if (index === 0) return [<span key="first">{piece}</span>]
    const [marked = '', rest = ''] = piece.split(END)
    return [
      <mark key={`m${at}`} className="rounded-[2px] bg-select-strong px-px font-medium text-text">
        {marked}
      </mark>,
      <span key={`r${at}`}>{rest}</span>,
    ]
  })
}
