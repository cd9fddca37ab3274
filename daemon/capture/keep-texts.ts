import type { Digest } from '../../contract/index.ts'
import type { Store } from '../store/store.ts'
import type { CollectedPlace, Collection } from './collection.ts'
import type { KeepOriginals } from './keep-originals.ts'

export interface KeepTextsParts {
  readonly store: Pick<Store, 'texts'>
  readonly collection: Collection
  readonly originals: KeepOriginals
}

/** Brings texts of sources into the store, as far as texts of the place are kept: secrets covered, and the originals of those that had any. */
export const keepTexts = async (
  { store, collection, originals }: KeepTextsParts,
  place: CollectedPlace,
  texts: readonly { readonly digest: Digest; readonly text: string }[],
): Promise<void> => {
  const level = collection(place)
  if (level === 'digests' || texts.length === 0) return
  if (level === 'originals') await originals.texts(texts)
  await store.texts.put(texts)
}
