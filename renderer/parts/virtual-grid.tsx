import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual'
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { cx } from './classes.ts'
import { placeOf, rememberPlace } from './grid-memory.ts'

export interface RowState {
  /** The row the list points at. */
  readonly active: boolean
  /** The list has the focus as well. */
  readonly focused: boolean
}

export interface GridRow {
  readonly key: string
  /** The row as a sentence, for assistive technology; without one its cells are read. */
  readonly label?: string
  /** A day header, a stretch, a band: shown and read, never pointed at. */
  readonly heading?: boolean
  readonly level?: number
  readonly expanded?: boolean
  readonly selected?: boolean
}

export interface VirtualGridProps {
  readonly label: string
  readonly tree?: boolean
  readonly count: number
  /** Rows of all pages, when more exist than are loaded. */
  readonly total?: number
  readonly row: (index: number) => GridRow
  /** The key alone, asked for many rows at once; the same as `row(index).key`. */
  readonly keyOf: (index: number) => string
  readonly rowHeight: (index: number) => number
  readonly render: (index: number, state: RowState) => ReactNode
  readonly active: string | null
  readonly onActive: (key: string, index: number) => void
  readonly onOpen?: (index: number) => void
  readonly onPeek?: (index: number) => void
  readonly onToggle?: (index: number, open: boolean) => void
  readonly onMenu?: (index: number, at: { readonly x: number; readonly y: number }) => void
  /** Keys the list does not know; true when it was handled. */
  readonly onKey?: (event: KeyboardEvent, index: number) => boolean
  readonly onVisible?: (first: number, last: number) => void
  readonly onTop?: (atTop: boolean) => void
  readonly onFocusChange?: (focused: boolean) => void
  /** Name under which row and scroll are kept. */
  readonly memory?: string
  readonly header?: ReactNode
  /** Indexes of headings that stay on top while their rows scroll. */
  readonly sticky?: readonly number[]
  readonly region?: string
  readonly className?: string
  /** Row to bring into view when it changes from outside. */
  readonly follow?: string | null
  /** One click opens, as in a list of pages; otherwise a double click does. */
  readonly openOnClick?: boolean
}

const none: readonly number[] = []

/**
 * Every list of the window: windowed, one tab stop, the container holds the focus and points at a row with
 * `aria-activedescendant`, so that a row scrolled away cannot lose it.
 */
export function VirtualGrid(props: VirtualGridProps) {
  const { label, tree = false, count, row, keyOf, rowHeight, active, memory, sticky = none } = props
  const scroller = useRef<HTMLDivElement>(null)
  const body = useRef<HTMLDivElement>(null)
  const id = useId()
  const [focused, setFocused] = useState(false)
  const activeIndex = useActiveIndex(count, keyOf, active)
  const stuck = useRef(-1)

  const extract = useCallback(
    (range: Range) => {
      const shown = new Set(defaultRangeExtractor(range))
      stuck.current = -1
      for (const index of sticky) if (index <= range.startIndex) stuck.current = index
      if (stuck.current >= 0) shown.add(stuck.current)
      if (activeIndex >= 0) shown.add(activeIndex)
      return [...shown].sort((a, b) => a - b)
    },
    [sticky, activeIndex],
  )
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: rowHeight,
    getItemKey: keyOf,
    overscan: 12,
    rangeExtractor: extract,
    initialOffset: () => (memory === undefined ? 0 : (placeOf(memory)?.offset ?? 0)),
  })
  // Rows change their height when the pane becomes narrow or the density changes.
  const firstHeight = count > 0 ? rowHeight(count - 1) : 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height is what asks for measuring again
  useLayoutEffect(() => virtualizer.measure(), [firstHeight])

  // Coming back to a list one stood in: the focus is there again, unless it is somewhere already.
  useEffect(() => {
    if (memory !== undefined && placeOf(memory)?.focused === true && document.activeElement === document.body)
      scroller.current?.focus({ preventScroll: true })
  }, [memory])

  const items = virtualizer.getVirtualItems()
  const range = virtualizer.range
  const { onVisible, onTop } = props
  useEffect(() => {
    if (range !== null) onVisible?.(range.startIndex, range.endIndex)
  }, [range?.startIndex, range?.endIndex, onVisible, range])

  const follow = props.follow ?? null
  const followed = useRef<string | null>(memory === undefined || placeOf(memory) === undefined ? null : follow)
  useEffect(() => {
    if (follow === null || followed.current === follow) return
    const index = findRow(count, keyOf, follow)
    if (index < 0) return
    virtualizer.scrollToIndex(index, { align: followed.current === null ? 'center' : 'auto' })
    followed.current = follow
  }, [follow, count, keyOf, virtualizer])

  const go = (index: number, step: number) => {
    let next = Math.max(0, Math.min(count - 1, index))
    while (next >= 0 && next < count && row(next).heading === true) next += step
    if (next < 0 || next >= count) return
    virtualizer.scrollToIndex(next, { align: 'auto' })
    // A heading that sticks would cover the row.
    if (next > 0 && row(next - 1).heading === true && step < 0) virtualizer.scrollToIndex(next - 1, { align: 'auto' })
    props.onActive(keyOf(next), next)
    if (memory !== undefined) rememberPlace(memory, { key: keyOf(next), focused: true })
  }
  const menuAt = (index: number) => {
    const box = body.current?.querySelector(`[data-index="${index}"]`)?.getBoundingClientRect()
    if (box !== undefined) props.onMenu?.(index, { x: box.left + 48, y: box.bottom })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return
    const index = activeIndex
    const page = Math.max(
      1,
      Math.floor((scroller.current?.clientHeight ?? 300) / Math.max(1, rowHeight(Math.max(0, index)))) - 1,
    )
    const handled = ((): boolean => {
      switch (event.key) {
        case 'ArrowDown':
          if (event.shiftKey) return false
          go(index + 1, 1)
          return true
        case 'ArrowUp':
          if (event.shiftKey) return false
          go(index < 0 ? 0 : index - 1, index <= 0 ? 1 : -1)
          return true
        case 'PageDown':
          go(index + page, 1)
          return true
        case 'PageUp':
          go(index - page, -1)
          return true
        default:
          break
      }
      if (index >= 0 && props.onKey?.(event, index) === true) return true
      switch (event.key) {
        case 'Home':
          go(0, 1)
          return true
        case 'End':
          go(count - 1, -1)
          return true
        default:
          break
      }
      if (index < 0) return false
      const now = row(index)
      switch (event.key) {
        case 'Enter':
          props.onOpen?.(index)
          return props.onOpen !== undefined
        case ' ':
          props.onPeek?.(index)
          return true
        case 'ArrowRight':
          if (now.expanded === false) props.onToggle?.(index, true)
          return now.expanded === false
        case 'ArrowLeft':
          if (now.expanded === true) props.onToggle?.(index, false)
          return now.expanded === true
        case 'ContextMenu':
          menuAt(index)
          return true
        case 'F10':
          if (event.shiftKey) menuAt(index)
          return event.shiftKey
        default:
          return false
      }
    })()
    if (handled) {
      event.preventDefault()
      event.stopPropagation()
    }
  }
  const indexOf = (event: MouseEvent): number => {
    const target = event.target instanceof Element ? event.target : null
    if (target?.closest('a,button,input,[data-own-click]') != null) return -1
    const found = target?.closest('[data-index]')?.getAttribute('data-index')
    return found == null || row(Number(found)).heading === true ? -1 : Number(found)
  }
  const onClick = (event: MouseEvent) => {
    const index = indexOf(event)
    if (index < 0 || window.getSelection()?.isCollapsed === false) return
    props.onActive(keyOf(index), index)
    if (memory !== undefined) rememberPlace(memory, { key: keyOf(index), focused: true })
    if (props.openOnClick === true) props.onOpen?.(index)
  }
  const onContextMenu = (event: MouseEvent) => {
    const found =
      event.target instanceof Element ? event.target.closest('[data-index]')?.getAttribute('data-index') : null
    if (found == null || props.onMenu === undefined || row(Number(found)).heading === true) return
    event.preventDefault()
    props.onActive(row(Number(found)).key, Number(found))
    props.onMenu(Number(found), { x: event.clientX, y: event.clientY })
  }

  return (
    <div className={cx('flex min-h-0 flex-1 flex-col', props.className)}>
      {props.header}
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: a role chosen at run time, grid and treegrid allow all of them */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the same: its role is grid or treegrid */}
      <div
        ref={scroller}
        role={tree ? 'treegrid' : 'grid'}
        aria-label={label}
        aria-rowcount={props.total ?? count}
        aria-activedescendant={activeIndex >= 0 ? `${id}-${activeIndex}` : undefined}
        tabIndex={0}
        data-keys="list"
        data-region={props.region ?? 'list'}
        className={cx(
          'relative min-h-0 flex-1 overflow-x-hidden overflow-y-auto overscroll-contain [overflow-anchor:none]',
          activeIndex >= 0 && 'outline-none',
        )}
        onKeyDown={onKeyDown}
        onClick={onClick}
        onDoubleClick={(event) => {
          const index = indexOf(event)
          if (index >= 0 && props.openOnClick !== true) props.onOpen?.(index)
        }}
        onContextMenu={onContextMenu}
        onFocus={(event) => {
          if (event.target !== event.currentTarget) return
          setFocused(true)
          props.onFocusChange?.(true)
        }}
        onBlur={() => {
          setFocused(false)
          props.onFocusChange?.(false)
        }}
        onScroll={(event) => {
          const top = event.currentTarget.scrollTop
          onTop?.(top < 4)
          if (memory !== undefined) rememberPlace(memory, { offset: top })
        }}
      >
        <div ref={body} role="presentation" style={{ height: virtualizer.getTotalSize(), position: 'relative' }}>
          {items.map((item) => {
            const { heading = false, label: rowLabel, level, expanded, selected } = row(item.index)
            const isActive = item.index === activeIndex
            const isStuck = item.index === stuck.current
            return (
              // biome-ignore lint/a11y/useFocusableInteractive: the grid holds the focus and points at its rows
              <div
                key={item.key}
                id={`${id}-${item.index}`}
                role="row"
                aria-label={rowLabel}
                aria-rowindex={item.index + 1}
                aria-level={tree ? (level ?? 1) : undefined}
                aria-expanded={expanded}
                aria-selected={heading ? undefined : isActive || selected === true}
                data-index={item.index}
                data-active={isActive}
                className={cx(
                  'left-0 w-full',
                  isStuck ? 'sticky top-0 z-10' : 'absolute top-0',
                  !heading &&
                    (isActive
                      ? focused
                        ? 'bg-select-strong'
                        : 'bg-select'
                      : selected === true
                        ? 'bg-select'
                        : 'hover:bg-hover'),
                )}
                style={
                  isStuck ? { height: item.size } : { height: item.size, transform: `translateY(${item.start}px)` }
                }
              >
                {isActive && (
                  <span
                    aria-hidden="true"
                    className={cx('absolute inset-y-0 left-0 w-0.5', focused ? 'bg-focus' : 'bg-accent')}
                  />
                )}
                {props.render(item.index, { active: isActive, focused: isActive && focused })}
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}

function findRow(count: number, keyOf: (index: number) => string, key: string): number {
  for (let index = 0; index < count; index += 1) if (keyOf(index) === key) return index
  return -1
}

/** The index of the active key; looked up near where it was first, since rows mostly keep their place. */
function useActiveIndex(count: number, keyOf: (index: number) => string, key: string | null): number {
  const last = useRef(-1)
  if (key === null) return -1
  if (last.current >= 0 && last.current < count && keyOf(last.current) === key) return last.current
  last.current = findRow(count, keyOf, key)
  return last.current
}

export function Cell({ className, children }: { readonly className?: string; readonly children?: ReactNode }) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the grid holds the focus and points at rows
    <span role="gridcell" className={cx('min-w-0', className)}>
      {children}
    </span>
  )
}
