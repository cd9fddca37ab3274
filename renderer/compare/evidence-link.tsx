import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { EvidenceRef } from '../../contract/compare.ts'
import { changePath, manifestPath, pathWith, runPath } from '../shell/address.ts'
import { words } from '../words/en.ts'

/** Where an evidence can be looked at; null when it rests on nothing that has a page. */
export function evidencePath(ref: EvidenceRef | null): string | null {
  if (ref === null) return null
  switch (ref.type) {
    case 'event':
      return runPath(ref.run, ref.seq)
    case 'run':
      return runPath(ref.run)
    case 'source':
      return pathWith(manifestPath(ref.manifest), '', { source: ref.uri })
    case 'field':
      return pathWith(manifestPath(ref.manifest), '', { tab: tabOfField(ref.path), field: ref.path })
    case 'drift':
      return changePath(ref.id)
    default:
      return ref satisfies never
  }
}

function tabOfField(path: string): string | null {
  const area = path.split('.')[0]
  if (area === 'settings') return 'values'
  if (area === 'capabilities') return 'capabilities'
  if (area === 'policy') return 'policy'
  if (area === 'execution' || area === 'principal' || area === 'task') return 'environment'
  return null
}

export function EvidenceLink({
  reference,
  children,
}: {
  readonly reference: EvidenceRef | null
  readonly children: ReactNode
}) {
  const path = evidencePath(reference)
  if (path === null) return <span>{children}</span>
  return (
    <Link href={path} className="rounded-chip text-accent hover:underline" title={words.compare.openEvidence}>
      {children}
    </Link>
  )
}
