import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Push } from '../../contract/push.ts'
import { useLink } from '../shell/link-state.ts'
import { invalidateTags, useTransport } from './queries.ts'

/** Counters on screen change at most twice a second. */
const PAUSE_MS = 500

/** Connects pushed facts to the caches, once, at the root of the window. */
export function useLiveFacts() {
  const transport = useTransport()
  const client = useQueryClient()
  useEffect(() => {
    const { setLink, setProgress, noteRun, setRetry } = useLink.getState()
    let tags = new Set<string>()
    let timer: ReturnType<typeof setTimeout> | null = null
    const flush = () => {
      timer = null
      const named = [...tags]
      tags = new Set()
      void invalidateTags(client, named)
    }
    const gather = (more: readonly string[]) => {
      for (const tag of more) tags.add(tag)
      timer ??= setTimeout(flush, PAUSE_MS)
    }
    const onPush = (push: Push) => {
      switch (push.type) {
        case 'changed':
          return gather(push.tags)
        case 'progress':
          setProgress(push.progress)
          return gather(['status'])
        case 'run':
          noteRun(push.run, push.events)
          return gather(['events', 'timeline'])
        case 'reset':
          return void client.invalidateQueries()
        case 'draining':
          return setLink('away')
        default:
          return push satisfies never
      }
    }
    let wasAway = false
    const subscription = transport.subscribe(onPush, (link) => {
      // What was missed while away is read again; facts older than the daemon's memory come as `reset`.
      if (link === 'open' && wasAway)
        void client.invalidateQueries({ predicate: (query) => query.meta?.manual !== true })
      wasAway = link === 'away'
      setLink(link)
    })
    setRetry(() => subscription.retryNow())
    return () => {
      if (timer !== null) clearTimeout(timer)
      subscription.close()
    }
  }, [transport, client])
}
