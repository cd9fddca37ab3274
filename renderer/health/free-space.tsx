import { Dialog } from 'radix-ui'
import { useEffect } from 'react'
import type { PruneResult } from '../../contract/workspace.ts'
import { Button } from '../parts/button.tsx'
import { CommandHint } from '../parts/command-hint.tsx'
import { Failure, Loading } from '../parts/feedback.tsx'
import { formatBytes, formatNumber } from '../parts/format.ts'
import { TableHead } from '../parts/tables.tsx'
import { useChange } from '../transport/queries.ts'
import { words } from '../words/en.ts'

const w = words.sizes

/** What would go and what stays, with the reason of each, before anything is given up. */
export function FreeSpace({ onClose }: { readonly onClose: () => void }) {
  const dry = useChange('store.prune')
  const prune = useChange('store.prune')
  const { mutate } = dry
  useEffect(() => mutate({ dry_run: true }), [mutate])
  const plan = prune.data ?? dry.data
  const freed = plan === undefined ? 0 : Math.max(0, plan.before - plan.after)
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="scrim fixed inset-0 z-40" />
        <Dialog.Content className="layer fixed top-[8vh] left-1/2 z-50 flex max-h-[84vh] w-[min(52rem,calc(100vw-2rem))] -translate-x-1/2 flex-col rounded-card bg-raised p-4 shadow-layer">
          <Dialog.Title className="text-read font-semibold">{w.freeTitle}</Dialog.Title>
          <Dialog.Description className="mt-1 text-dense text-text-2">{w.freeHint}</Dialog.Description>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
          <div tabIndex={0} className="mt-3 min-h-0 flex-1 overflow-y-auto">
            {dry.error !== null && (
              <Failure what={w.looking} failure={dry.error} onRetry={() => mutate({ dry_run: true })} />
            )}
            {plan === undefined && dry.error === null && <Loading what={w.looking} rows={4} />}
            {plan !== undefined && <Lists plan={plan} done={prune.data !== undefined} />}
            {prune.error !== null && <Failure what={w.freeTitle} failure={prune.error} />}
          </div>
          <div className="mt-4 flex flex-wrap items-center justify-end gap-2">
            <span className="mr-auto">
              <CommandHint command="reprise prune" />
            </span>
            <Button onClick={onClose}>{prune.data === undefined ? words.cancel : words.close}</Button>
            {prune.data === undefined && (
              <Button
                look="danger"
                disabled={plan === undefined || plan.dropped.length === 0 || prune.isPending}
                onClick={() => prune.mutate({})}
              >
                {prune.isPending
                  ? w.freeing
                  : plan === undefined || plan.dropped.length === 0
                    ? w.nothingToDrop
                    : w.act(formatBytes(freed), plan.dropped.length)}
              </Button>
            )}
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Lists({ plan, done }: { readonly plan: PruneResult; readonly done: boolean }) {
  const { before, after, cap_bytes, enough, dropped, kept } = plan
  return (
    <>
      <p role={done ? 'status' : undefined} className="text-ui">
        {done && <span className="font-medium">{w.freed(formatBytes(Math.max(0, before - after)))}. </span>}
        {w.willFree(formatBytes(before), formatBytes(after), formatBytes(cap_bytes))}
      </p>
      {!enough && <p className="mt-1 text-dense text-warn">{w.notEnough}</p>}
      {dropped.length === 0 && enough && <p className="mt-1 text-dense text-text-2">{w.nothingGoes}</p>}
      {dropped.length > 0 && (
        <details open className="mt-3">
          <summary className="cursor-pointer rounded-chip text-dense font-medium">
            {(done ? w.went : w.goes)(formatNumber(dropped.length))}
          </summary>
          <div className="overflow-x-auto">
            <table className="w-full text-dense">
              <TableHead columns={[w.what, w.size, w.why]} right={[w.size]} />
              <tbody>
                {dropped.map((entry) => (
                  <tr
                    key={`${entry.what}\0${entry.run}\0${entry.workspace}`}
                    className="border-b border-line align-top [contain-intrinsic-size:auto_28px] [content-visibility:auto]"
                  >
                    <td className="py-1 pr-3 break-words">{entry.what}</td>
                    <td className="py-1 pr-3 text-right whitespace-nowrap tabular-nums">{formatBytes(entry.bytes)}</td>
                    <td className="py-1 text-text-2">{entry.why}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      )}
      {kept.length > 0 && (
        <details open={!enough} className="mt-3">
          <summary className="cursor-pointer rounded-chip text-dense font-medium">
            {w.stays(formatNumber(kept.length))}
          </summary>
          <table className="w-full text-dense">
            <TableHead columns={[w.what, w.why]} />
            <tbody>
              {kept.map((entry) => (
                <tr key={`${entry.what}\0${entry.run}`} className="border-b border-line align-top">
                  <td className="py-1 pr-3 break-words">{entry.what}</td>
                  <td className="py-1 text-text-2">{entry.why}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </>
  )
}
