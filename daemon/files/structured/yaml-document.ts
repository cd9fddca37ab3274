import { type Document, type ParsedNode, parseDocument } from 'yaml'

/** As Hermes reads it (PyYAML): YAML 1.1, the last of two equal keys counts. */
export function readYaml(text: string): Document.Parsed<ParsedNode, true> {
  return parseDocument<ParsedNode, true>(text, {
    version: '1.1',
    uniqueKeys: false,
    keepSourceTokens: true,
    logLevel: 'error',
  })
}
