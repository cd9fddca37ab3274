import { Command } from 'cmdk'
import { Filter, X } from 'lucide-react'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { IconButton } from '../parts/button.tsx'
import { words } from '../words/en.ts'
import { type FilterKey, filterKeys, knownValues, parseTokens, tokenText } from './filter.ts'

interface FilterFieldProps {
  readonly value: string
  readonly onChange: (value: string) => void
  /** Values seen in the data, by key. */
  readonly values: Partial<Record<FilterKey, readonly string[]>>
}

interface Completion {
  readonly text: string
  /** What the field holds afterwards. */
  readonly result: string
}

/** Completions for the token before the caret. */
export function complete(text: string, caret: number, values: FilterFieldProps['values']): readonly Completion[] {
  const before = text.slice(0, caret)
  const token = parseTokens(before).find((entry) => entry.end === before.length)
  const rest = text.slice(caret)
  const put = (start: number, word: string, tail: string): Completion => ({
    text: word,
    result: `${before.slice(0, start)}${word}${tail}${rest}`,
  })
  if (token === undefined) return filterKeys.map((key) => put(before.length, `${key}:`, ''))
  const raw = before.slice(token.start)
  if (token.key === null)
    return filterKeys.filter((key) => key.startsWith(raw) && raw !== '').map((key) => put(token.start, `${key}:`, ''))
  const { key, value } = token
  const all = [...new Set([...(values[key] ?? []), ...(knownValues[key] ?? [])])]
  const wanted = value.toLowerCase()
  const starts = (entry: string) => (entry.toLowerCase().startsWith(wanted) ? 0 : 1)
  return all
    .filter((entry) => entry.toLowerCase().includes(wanted) && entry !== value)
    .sort((one, other) => starts(one) - starts(other))
    .slice(0, 12)
    .map((entry) => put(token.start, tokenText(key, entry), ' '))
}

/** One field of tokens with completion; words search titles. Tab or an arrow and Enter take a completion. */
export function FilterField({ value, onChange, values }: FilterFieldProps) {
  const [text, setText] = useState(value)
  const [caret, setCaret] = useState(value.length)
  const [open, setOpen] = useState(false)
  const [picked, setPicked] = useState('')
  const moved = useRef(false)
  const input = useRef<HTMLInputElement>(null)
  const sent = useRef(value)
  useEffect(() => {
    if (value === sent.current) return
    sent.current = value
    setText(value)
  }, [value])
  useEffect(() => {
    if (text === sent.current) return
    const timer = setTimeout(() => {
      sent.current = text
      onChange(text)
    }, 200)
    return () => clearTimeout(timer)
  }, [text, onChange])
  const completions = useMemo(() => (open ? complete(text, caret, values) : []), [open, text, caret, values])
  const take = (completion: Completion) => {
    setText(completion.result)
    setCaret(completion.result.length)
    moved.current = false
    input.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      moved.current = true
      setOpen(true)
    }
    const chosen = completions.find((entry) => entry.text === picked) ?? completions[0]
    if (
      event.key === 'Tab' &&
      !event.shiftKey &&
      open &&
      chosen !== undefined &&
      text.trim() !== '' &&
      !text.endsWith(' ')
    ) {
      event.preventDefault()
      take(chosen)
    } else if (event.key === 'Enter' && !moved.current) {
      event.preventDefault()
      event.stopPropagation()
      setOpen(false)
    } else if (event.key === 'Escape') {
      if (open && completions.length > 0) setOpen(false)
      else if (text !== '') setText('')
      else input.current?.blur()
      event.preventDefault()
    }
  }
  return (
    <Command
      vimBindings={false}
      shouldFilter={false}
      label={words.timeline.filter}
      value={picked}
      onValueChange={setPicked}
      className="relative min-w-0 flex-1 basis-64 @max-3xl:basis-full"
      onKeyDown={onKeyDown}
    >
      <div className="flex h-7 items-center gap-1.5 rounded-control border border-line-strong bg-raised pl-2 focus-within:border-focus max-sm:h-11">
        <Filter size={14} strokeWidth={1.75} className="shrink-0 text-text-3" aria-hidden="true" />
        <Command.Input
          ref={input}
          data-filter
          value={text}
          placeholder={words.timeline.filterPlaceholder}
          spellCheck={false}
          autoComplete="off"
          className="min-w-0 flex-1 bg-transparent text-ui outline-none"
          onValueChange={(next) => {
            setText(next)
            moved.current = false
            setOpen(true)
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart ?? text.length)}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
        />
        {text !== '' && (
          <IconButton label={words.timeline.clearFilter} className="size-6" onClick={() => setText('')}>
            <X size={14} strokeWidth={1.75} aria-hidden="true" />
          </IconButton>
        )}
      </div>
      <Command.List
        hidden={!open || completions.length === 0}
        className="layer absolute top-full left-0 z-40 mt-1 max-h-80 w-72 overflow-y-auto rounded-control bg-raised p-1 shadow-layer"
        onMouseDown={(event) => event.preventDefault()}
      >
        {completions.map((completion) => (
          <Command.Item
            key={completion.text}
            value={completion.text}
            onSelect={() => take(completion)}
            className="flex min-h-7 cursor-default items-center truncate rounded-chip px-2 font-mono text-dense select-none data-[selected=true]:bg-select-strong max-sm:min-h-11"
          >
            {completion.text}
          </Command.Item>
        ))}
      </Command.List>
    </Command>
  )
}
