import { Activity, Diff, FolderGit2, History, Search, Settings } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { cx } from '../parts/classes.ts'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'

/** Only sections that exist in this version. */
const entries = [
  {
    path: '/timeline',
    label: words.nav.timeline,
    icon: History,
    also: /^\/(timeline|welcome|runs|manifests|rollbacks?|$)/,
  },
  { path: '/compare', label: words.nav.compare, icon: Diff, also: /^\/compare/ },
  { path: '/search', label: words.nav.search, icon: Search, also: /^\/search/ },
  { path: '/homes', label: words.nav.homes, icon: FolderGit2, also: /^\/homes/ },
  { path: '/health', label: words.nav.health, icon: Activity, also: /^\/health/ },
  { path: '/settings', label: words.nav.settings, icon: Settings, also: /^\/settings/ },
] as const

export function Rail({ drawer = false, onGo }: { readonly drawer?: boolean; readonly onGo?: () => void }) {
  const [path] = useLocation()
  const { data: gaps } = useRead('status.get', {}, { select: (status) => status.gap_count })
  return (
    <nav
      aria-label={words.nav.label}
      data-region="rail"
      className={cx(
        'group/rail shrink-0 flex-col gap-0.5 bg-canvas p-2',
        drawer ? 'flex w-56' : 'hidden border-r border-line sm:flex sm:w-12 xl:w-[200px]',
      )}
    >
      {entries.map(({ path: to, label, icon: Icon, also }) => {
        const current = also.test(path)
        const attention = to === '/health' ? (gaps ?? 0) : 0
        return (
          <Link
            key={to}
            href={to}
            {...(onGo === undefined ? {} : { onClick: onGo })}
            aria-current={current ? 'page' : undefined}
            title={drawer ? undefined : label}
            className={cx(
              'relative flex h-8 items-center gap-2.5 rounded-control px-2 text-ui max-sm:h-11',
              current ? 'bg-select font-medium text-text' : 'text-text-2 hover:bg-hover hover:text-text',
            )}
          >
            <Icon
              size={16}
              strokeWidth={1.75}
              aria-hidden="true"
              className={cx('shrink-0', current && 'text-accent')}
            />
            <span className={drawer ? '' : 'sr-only xl:not-sr-only'}>{label}</span>
            {attention > 0 && (
              <span
                className={cx(
                  'text-meta text-warn tabular-nums',
                  drawer ? 'ml-auto' : 'absolute right-1 bottom-0 xl:static xl:ml-auto',
                )}
              >
                <span aria-hidden="true">{attention > 99 ? '99+' : attention}</span>
                <span className="sr-only">{words.nav.attention(attention)}</span>
              </span>
            )}
          </Link>
        )
      })}
    </nav>
  )
}
