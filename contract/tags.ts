import type { EndpointName, MutationName } from './endpoints.ts'

/** Names for pieces of truth. Reads say which they show, mutations and pushed facts which they change; nobody guesses what to fetch again. */
export const tagNames = [
  'status',
  'homes',
  'runs',
  'timeline',
  'events',
  'manifests',
  'search',
  'health',
  'settings',
  'sensitive',
  'store',
  'drift',
] as const
export type Tag = (typeof tagNames)[number]

/** What each read shows. Plain data without the schema library, so that the window can import it. */
export const provides = {
  'daemon.handshake': [],
  'status.get': ['status', 'homes', 'store', 'health'],
  'folders.complete': [],
  'timeline.page': ['timeline', 'runs'],
  'runs.list': ['runs'],
  'runs.get': ['runs', 'events'],
  'runs.events': ['events'],
  'runs.event': ['events'],
  'runs.context': ['events'],
  'runs.ticks': ['events'],
  'runs.files': ['events'],
  'runs.recover': ['events'],
  'runs.use': ['events', 'manifests'],
  'compare.partners': ['runs'],
  'drift.get': ['drift'],
  'drift.list': ['drift'],
  'search.configuration': ['drift'],
  'manifest.get': ['manifests'],
  'manifest.instructions': ['manifests'],
  'search.run': ['search', 'events'],
  'health.gaps': ['health'],
  'health.unreadable': ['health'],
  'health.facts': [],
  'settings.get': ['settings'],
  'sensitive.reads': ['sensitive'],
  'store.check': ['store'],
} as const satisfies Record<Exclude<EndpointName, MutationName>, readonly Tag[]>

/** What each mutation changes. */
export const invalidates = {
  'daemon.stop': [],
  'browser.open': ['status'],
  'browser.close': ['status'],
  'homes.watch': ['status', 'homes', 'settings'],
  'homes.forget': ['status', 'homes', 'settings', 'timeline', 'runs'],
  'sync.now': ['status', 'runs', 'timeline', 'events', 'health', 'search'],
  'manifest.resolve': ['manifests', 'store'],
  'compare.run': ['manifests', 'store'],
  'drift.look': ['drift', 'timeline'],
  'export.run': ['sensitive'],
  'export.incident': ['sensitive'],
  'settings.set': ['settings'],
  'sensitive.reveal': ['sensitive'],
  'store.reindex': ['status', 'runs', 'timeline', 'events', 'search', 'health', 'store'],
} as const satisfies Record<MutationName, readonly Tag[]>
