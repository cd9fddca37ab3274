import { type RefObject, useLayoutEffect, useRef, useState } from 'react'

/** Width and height of an element, kept up to date; panes follow their own width, not the window's. */
export function useSize<T extends HTMLElement>(): {
  readonly ref: RefObject<T | null>
  readonly width: number
  readonly height: number
} {
  const ref = useRef<T>(null)
  const [size, setSize] = useState({ width: 0, height: 0 })
  useLayoutEffect(() => {
    const element = ref.current
    if (element === null) return
    const measure = () => {
      const { width, height } = element.getBoundingClientRect()
      setSize((now) => (now.width === width && now.height === height ? now : { width, height }))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { ref, ...size }
}
