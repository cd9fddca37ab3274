/** F6 moves between the parts of the window in reading order; each remembers what had the focus in it. */
const last = new WeakMap<Element, HTMLElement>()
const FOCUSABLE = 'a[href],button:not([disabled]),input:not([disabled]),select,textarea,[tabindex]:not([tabindex="-1"])'

const visible = (element: Element): element is HTMLElement =>
  element instanceof HTMLElement && element.getClientRects().length > 0

export function moveRegion(step: 1 | -1) {
  const regions = [...document.querySelectorAll('[data-region]')].filter(visible)
  if (regions.length === 0) return
  const focus = document.activeElement
  // The innermost region that holds the focus, so that a list inside a pane counts as itself.
  let now = -1
  regions.forEach((region, index) => {
    if (focus !== null && region.contains(focus)) now = index
  })
  if (now >= 0 && focus instanceof HTMLElement) last.set(regions[now] as Element, focus)
  for (let tries = 0; tries < regions.length; tries += 1) {
    now = (now + step + regions.length) % regions.length
    const region = regions[now] as HTMLElement
    const remembered = last.get(region)
    const own = region.matches(FOCUSABLE) ? region : [...region.querySelectorAll<HTMLElement>(FOCUSABLE)].find(visible)
    const target = remembered?.isConnected === true && region.contains(remembered) ? remembered : own
    if (target !== undefined && visible(target)) {
      target.focus()
      return
    }
  }
}
