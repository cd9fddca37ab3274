import { useEffect, useState } from 'react'
import { create } from 'zustand'

/** Errors announce themselves where they stand (`role=alert`); this is for the rest: at most one polite message in five seconds; later ones replace each other while they wait. */
const PAUSE_MS = 5000

interface Announcements {
  readonly polite: string
  say(message: string): void
}

export const useAnnouncements = create<Announcements>((set) => ({
  polite: '',
  say: (message) => set({ polite: message }),
}))

export const say = (message: string) => useAnnouncements.getState().say(message)

export function Announcer() {
  const wanted = useAnnouncements((now) => now.polite)
  const [spoken, setSpoken] = useState({ text: '', at: 0 })
  useEffect(() => {
    if (wanted === spoken.text) return
    const timer = setTimeout(
      () => setSpoken({ text: wanted, at: Date.now() }),
      Math.max(0, spoken.at + PAUSE_MS - Date.now()),
    )
    return () => clearTimeout(timer)
  }, [wanted, spoken])
  return (
    <div className="sr-only" role="status" aria-live="polite">
      {spoken.text}
    </div>
  )
}
