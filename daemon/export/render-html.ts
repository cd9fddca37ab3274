import type { EventDetail } from '../../contract/index.ts'
import { HTML_MARK } from './our-export.ts'
import { factsOf, oneLine, withoutControls } from './render-markdown.ts'
import type { Lacking, RunDetails } from './run-material.ts'

/** One page that needs nothing else: no script, no request, every text escaped. The policy in its head holds even if one were not. */
export const htmlHead = ({ run, coverage }: RunDetails, lacking: readonly Lacking[]): string => {
  const title = oneLine(run.title) || `Run ${run.id}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
${HTML_MARK}
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${escapeHtml(title)}</h1>
<dl>${factsOf(run, coverage)
    .map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`)
    .join('')}</dl>
<h2>How completely it was captured</h2>
<ul>${[
    ...coverage.items.map(({ what, state, why }) => `${what}: ${state}${why === null ? '' : ` (${why})`}`),
    ...lacking.map(({ what, why }) => `not in this export: ${what} (${why})`),
  ]
    .map((line) => `<li>${escapeHtml(line)}</li>`)
    .join('')}</ul>
</header>
<main>
<h2>Events</h2>
`
}

export const htmlEvent = ({ event, parts, changes }: EventDetail): string => {
  const state = event.ok === null ? '' : event.ok ? ' <span>ok</span>' : ' <strong>failed</strong>'
  const open = ['prompt', 'model', 'error'].includes(event.kind) ? ' open' : ''
  return `<article id="e${event.seq}"><h3><a href="#e${event.seq}">${event.seq}</a> ${escapeHtml(event.tool ?? event.kind)}${state}</h3>
<p>${escapeHtml(event.at ?? 'no time')} ${escapeHtml(oneLine(event.summary))}</p>
${parts.map(({ label, body }) => block(label, body.text, open)).join('')}${changes
  .map(
    ({ path, change, before, after, why }) =>
      `<section><p><b>${escapeHtml(change)}</b> <code>${escapeHtml(path)}</code>${why === null ? '' : ` (${escapeHtml(why)})`}</p>${
        before === null ? '' : block('before', before.text, '')
      }${after === null ? '' : block('after', after.text, '')}</section>`,
  )
  .join('')}</article>
`
}

export const HTML_END = '</main>\n</body>\n</html>\n'

const block = (label: string, text: string, open: string): string =>
  `<details${open}><summary>${escapeHtml(label)}</summary><pre>${escapeHtml(withoutControls(text))}</pre></details>\n`

const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')

const STYLE = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}
body{max-width:60rem;margin:0 auto;padding:1.5rem 1rem}
h1{font-size:1.4rem;overflow-wrap:anywhere}h2{font-size:1.1rem;margin-top:2rem}h3{font-size:1rem;margin:1.5rem 0 0}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem}dt{opacity:.7}dd{margin:0;overflow-wrap:anywhere}
pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid;border-radius:6px;padding:.6rem;font:13px/1.45 ui-monospace,monospace}
code{font-family:ui-monospace,monospace;overflow-wrap:anywhere}summary{cursor:pointer}p{margin:.3rem 0;overflow-wrap:anywhere}
@media print{details>pre{display:block}}`
