import { DropdownMenu } from 'radix-ui'
import { Button } from '../parts/button.tsx'
import { formatExact, shortId } from '../parts/format.ts'
import { useAddress } from '../shell/address.ts'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'

const w = words.compare

/** Other runs worth comparing with, each with its rule. */
export function PartnerMenu({ run, current }: { readonly run: string; readonly current: string }) {
  const { set } = useAddress()
  const { data } = useRead('compare.partners', { run })
  const partners = data?.partners ?? []
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>
        <Button small disabled={partners.length === 0}>
          {w.partner}
        </Button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          className="layer z-50 max-h-96 max-w-[min(36rem,calc(100vw-1rem))] overflow-y-auto rounded-card border border-line bg-raised p-1 text-dense shadow-layer"
        >
          {partners.map((partner) => (
            <DropdownMenu.Item
              key={`${partner.run.id}\0${partner.rule}`}
              onSelect={() => set({ a: partner.run.id, rule: partner.rule, cause: null })}
              className="cursor-pointer rounded-chip px-2 py-1 outline-none data-[highlighted]:bg-hover"
            >
              <span className="flex items-baseline gap-2">
                <span className="shrink-0 text-text-3 tabular-nums">
                  {partner.run.started_at === null
                    ? words.timeline.noTime
                    : formatExact(partner.run.started_at).slice(0, 16)}
                </span>
                <span className="min-w-0 truncate">{partner.run.title || words.timeline.noTitle}</span>
                <span className="shrink-0 font-mono text-[0.75rem] text-text-3">{shortId(partner.run.id)}</span>
              </span>
              <span className="block text-text-2">
                {partner.rule}
                {current.startsWith(partner.run.id) && `, ${w.chosen}`}
              </span>
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
