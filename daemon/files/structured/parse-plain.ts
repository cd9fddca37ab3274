import JSON5 from 'json5'
import { type ParseError, parse as parseJsonc, printParseErrorCode } from 'jsonc-parser'
import { parse as parseToml, TomlError } from 'smol-toml'
import type { StructuredFormat } from './format.ts'
import type { Refused } from './key-path.ts'
import { readYaml } from './yaml-document.ts'

/** The value as an agent reads it, or the first error with its place. The text has no byte-order mark. */
export function parsePlain(text: string, format: StructuredFormat): { readonly value: unknown } | Refused {
  switch (format) {
    case 'json':
      return parseStrictJson(text)
    case 'jsonc': {
      const errors: ParseError[] = []
      const value: unknown = parseJsonc(text, errors, { allowTrailingComma: true })
      const first = errors[0]
      return first === undefined
        ? { value }
        : { refused: printParseErrorCode(first.error), ...placeOf(text, first.offset) }
    }
    case 'json5':
      try {
        const value: unknown = JSON5.parse(text)
        return { value }
      } catch (error) {
        return { refused: messageOf(error), ...json5Place(error) }
      }
    case 'toml':
      try {
        return { value: parseToml(text, { integersAsBigInt: 'asNeeded' }) }
      } catch (error) {
        const place = error instanceof TomlError ? { line: error.line, column: error.column } : {}
        return { refused: messageOf(error).split('\n')[0] ?? 'no TOML', ...place }
      }
    case 'yaml': {
      const document = readYaml(text)
      const first = document.errors[0]
      if (first !== undefined) {
        const place = first.linePos?.[0]
        return {
          refused: (first.message.split('\n')[0] ?? first.code).replace(/ at line \d+, column \d+:?$/, ''),
          ...(place === undefined ? {} : { line: place.line, column: place.col }),
        }
      }
      try {
        const value: unknown = document.toJS({ maxAliasCount: 1000 })
        return { value }
      } catch (error) {
        return { refused: messageOf(error) }
      }
    }
  }
}

function parseStrictJson(text: string): { readonly value: unknown } | Refused {
  try {
    const value: unknown = JSON.parse(text)
    return { value }
  } catch (error) {
    const errors: ParseError[] = []
    parseJsonc(text, errors, { allowTrailingComma: false, disallowComments: true })
    const first = errors[0]
    return first === undefined
      ? { refused: messageOf(error) }
      : { refused: printParseErrorCode(first.error), ...placeOf(text, first.offset) }
  }
}

function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - (before.lastIndexOf('\n') + 1) + 1 }
}

function json5Place(error: unknown): { readonly line?: number; readonly column?: number } {
  if (!(error instanceof Error) || !('lineNumber' in error) || !('columnNumber' in error)) return {}
  const { lineNumber, columnNumber } = error
  return typeof lineNumber === 'number' && typeof columnNumber === 'number'
    ? { line: lineNumber, column: columnNumber }
    : {}
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
