import { type ReactNode, useMemo } from 'react'
import Markdown from 'react-markdown'
import type { ShownText } from '../../contract/run.ts'
import { words } from '../words/en.ts'
import { Hidden } from './hidden.tsx'

interface MarkdownTextProps {
  readonly body: ShownText
  /** The size of transcripts; otherwise that of the inspector. */
  readonly read?: boolean
}

/**
 * Markdown of models and people: raw HTML stays text, links show where they lead and open nothing, images are placeholders that
 * load nothing. Covered secrets are put back as blocks wherever their placeholder ended up.
 */
export default function MarkdownText({ body, read = false }: MarkdownTextProps) {
  const spans = useMemo(() => new Map(body.hidden.map((span) => [span.placeholder, span])), [body.hidden])
  const pattern = useMemo(() => {
    const escaped = [...spans.keys()]
      .filter((key) => key !== '')
      .map((key) => key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    return escaped.length === 0 ? null : new RegExp(`(${escaped.join('|')})`)
  }, [spans])
  const cover = (children: ReactNode): ReactNode => {
    if (pattern === null) return children
    if (Array.isArray(children)) return children.map((child: ReactNode) => cover(child))
    if (typeof children !== 'string') return children
    let at = 0
    return children.split(pattern).map((piece) => {
      at += 1
      const span = spans.get(piece)
      return span === undefined ? piece : <Hidden key={`${at}${span.ref}`} span={span} />
    })
  }
  return (
    <div className={`prose min-w-0 [overflow-wrap:anywhere] ${read ? 'text-read' : 'text-ui'}`}>
      <Markdown
        components={{
          p: ({ children }) => <p className="whitespace-pre-wrap">{cover(children)}</p>,
          h1: ({ children }) => <h3 className="pt-1 font-semibold">{cover(children)}</h3>,
          h2: ({ children }) => <h3 className="pt-1 font-semibold">{cover(children)}</h3>,
          h3: ({ children }) => <h3 className="font-semibold">{cover(children)}</h3>,
          h4: ({ children }) => <h4 className="font-semibold">{cover(children)}</h4>,
          ul: ({ children }) => <ul className="list-disc space-y-0.5 pl-5">{children}</ul>,
          ol: ({ children }) => <ol className="list-decimal space-y-0.5 pl-5">{children}</ol>,
          li: ({ children }) => <li>{cover(children)}</li>,
          strong: ({ children }) => <strong className="font-semibold">{cover(children)}</strong>,
          em: ({ children }) => <em>{cover(children)}</em>,
          blockquote: ({ children }) => (
            <blockquote className="border-l-2 border-line-strong pl-3 text-text-2">{children}</blockquote>
          ),
          code: ({ children }) => (
            <code className="rounded-chip bg-sunken px-1 font-mono text-[0.8125em]">{cover(children)}</code>
          ),
          pre: ({ children }) => (
            <pre className="overflow-x-auto rounded-control bg-sunken p-2 font-mono text-[0.75rem] leading-[1.125rem] [&_code]:bg-transparent [&_code]:p-0 [&_code]:text-[0.75rem]">
              {children}
            </pre>
          ),
          hr: () => <hr className="border-line" />,
          a: ({ children, href }) => (
            <span>
              {cover(children)} <span className="font-mono text-[0.8125em] break-all text-text-3">{href}</span>
            </span>
          ),
          img: ({ alt, src }) => (
            <span className="rounded-chip border border-dashed border-line-strong px-1 text-text-3">
              {words.run.image} {alt} {typeof src === 'string' ? src.slice(0, 120) : ''}
            </span>
          ),
        }}
      >
        {body.text}
      </Markdown>
    </div>
  )
}
