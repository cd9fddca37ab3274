import { type ExportFormat, RepriseError } from '../../contract/index.ts'

const ENDINGS: Readonly<Record<ExportFormat, readonly string[]>> = {
  bundle: ['.tar.gz', '.tgz'],
  md: ['.md', '.markdown'],
  html: ['.html', '.htm'],
  json: ['.json'],
  jsonl: ['.jsonl'],
}

/** A file is what its name says. Throws `wrong_usage`, naming the endings that fit. */
export function requireEnding(file: string, format: ExportFormat): void {
  const name = file.toLowerCase()
  if (ENDINGS[format].some((ending) => name.endsWith(ending))) return
  const [first = '', ...others] = ENDINGS[format]
  throw new RepriseError(
    'wrong_usage',
    `file: ${file} does not end like ${format === 'bundle' ? 'a bundle' : format} (${[first, ...others].join(' or ')})`,
    `name it …${first}, or choose another format: ${Object.entries(ENDINGS)
      .map(([one, endings]) => `${one} ends with ${endings.join(' or ')}`)
      .join(', ')}`,
  )
}
