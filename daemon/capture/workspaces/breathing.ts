/** Other work waits no longer than this. */
const SLICE_MS = 15

/** Called often within long work: gives a promise to wait for when others should have their turn, else null. */
export function createBreathing(clock: () => number): () => Promise<void> | null {
  let since = clock()
  return () =>
    clock() - since < SLICE_MS
      ? null
      : new Promise((resolve) =>
          setImmediate(() => {
            since = clock()
            resolve()
          }),
        )
}
