import { useState } from 'react'
import { CONTRACT_VERSION } from '../../contract/version.ts'
import { desktop } from '../desktop.ts'
import { Button } from '../parts/button.tsx'
import { Band } from '../parts/feedback.tsx'
import { formatClockSeconds } from '../parts/format.ts'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { useLink } from './link-state.ts'

/** What concerns the whole window: the daemon is away, or newer than the page. */
export function WindowBands() {
  const { link, awaySince, retry } = useLink()
  const { data } = useRead('status.get', {}, { select: (status) => status.daemon })
  const [message, setMessage] = useState<string | null>(null)
  const bridge = desktop()
  if (link === 'away' && awaySince !== null)
    return (
      <Band
        tone="danger"
        role="alert"
        acts={
          <>
            <Button small onClick={retry}>
              {words.link.retryNow}
            </Button>
            {bridge !== null && (
              <Button
                small
                onClick={() => {
                  void bridge.startDaemon().then((answer) => {
                    setMessage(answer.message)
                    retry()
                  })
                }}
              >
                {words.link.start}
              </Button>
            )}
          </>
        }
      >
        {words.link.away(formatClockSeconds(new Date(awaySince).toISOString()))} {message}
      </Band>
    )
  if (data !== undefined && data.contract > CONTRACT_VERSION)
    return (
      <Band
        acts={
          <Button small onClick={() => location.reload()}>
            {words.link.reload}
          </Button>
        }
      >
        {words.link.newer}
      </Band>
    )
  if (data?.sample === true) return <Band tone="accent">{words.link.sample}</Band>
  if (data?.state === 'draining') return <Band>{words.link.draining}</Band>
  return null
}
