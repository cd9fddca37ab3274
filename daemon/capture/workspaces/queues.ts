/** Work for one key follows in order; different keys do not wait for each other. */
export function createQueues<K>(): <T>(key: K, work: () => Promise<T>) => Promise<T> {
  const last = new Map<K, Promise<unknown>>()
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve()
    const run = before.then(work, work)
    const settled = run.then(
      () => {},
      () => {},
    )
    last.set(key, settled)
    void settled.then(() => {
      if (last.get(key) === settled) last.delete(key)
    })
    return run
  }
}
