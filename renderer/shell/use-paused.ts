import { useEffect, useState } from 'react'

/** Passes a value on after a pause, so that not every letter asks the daemon. */
export function usePaused<T>(value: T, ms: number): T {
  const [paused, setPaused] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return paused
}
