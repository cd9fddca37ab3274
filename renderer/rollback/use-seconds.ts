import { useEffect, useState } from 'react'

/** Whole seconds since something began; 0 while it is not going on. */
export function useSeconds(on: boolean): number {
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    setSeconds(0)
    if (!on) return
    const timer = setInterval(() => setSeconds((now) => now + 1), 1000)
    return () => clearInterval(timer)
  }, [on])
  return seconds
}
