import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Push } from '../../contract/push.ts'
import { useLink } from '../shell/link-state.ts'
import { toast } from '../shell/toasts.tsx'
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
    let wasAway = false
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
        case 'drift':
          if (push.alert !== null) toast(push.alert)
          return gather(['drift', 'timeline'])
        case 'reset':
          return void client.invalidateQueries()
        case 'draining':
          wasAway = true
          return setLink('away')
        default:
          return push satisfies never
      }
    }
    const subscription = transport.subscribe(onPush, (link) => {
      // Everything is read again, whatever the daemon remembers: it may be another one, that counts its facts anew. Only rows that
      // are shown and led by a head of their own stay: the head is read, and moves them by the rules of their screen.
      if (link === 'open' && wasAway)
        void client.invalidateQueries({
          predicate: (query) => query.meta?.ledByHead !== true || query.state.status === 'error',
        })
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
