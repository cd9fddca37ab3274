import { Worker } from 'node:worker_threads'
import { RepriseError } from '../../contract/index.ts'
import type { ImportNews } from './importer.ts'
import type { WorkerCalls, WorkerMethod, WorkerReply, WorkerRequest, WorkerStart } from './worker-messages.ts'

export interface IndexWorker {
  readonly ready: Promise<{ readonly rebuilt: string | null }>
  call<M extends WorkerMethod>(
    method: M,
    ...args: Parameters<WorkerCalls[M]>
  ): Promise<Awaited<ReturnType<WorkerCalls[M]>>>
  end(): Promise<void>
}

export interface WorkerListener {
  news(news: ImportNews): void
  indexReplaced(): void
  /** The thread ended without being asked to: everything pending was rejected. */
  died(error: Error): void
}

/** Old space of the thread: an import holds one batch, one long line and compact id sets, whatever the size of a file (B15). */
const HEAP_MB = 448

export const startIndexWorker = (program: string, start: WorkerStart, listener: WorkerListener): IndexWorker => {
  const worker = new Worker(program, { workerData: start, resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } })
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  let next = 1
  let ending = false
  let markReady: (value: { rebuilt: string | null }) => void
  let failReady: (error: Error) => void
  const ready = new Promise<{ rebuilt: string | null }>((resolve, reject) => {
    markReady = resolve
    failReady = reject
  })

  worker.on('message', (message: WorkerReply) => {
    switch (message.type) {
      case 'ready':
        return markReady({ rebuilt: message.rebuilt })
      case 'failed': {
        const { code, message: why, hint } = message.error
        return failReady(new RepriseError(code, why, hint))
      }
      case 'index-replaced':
        return listener.indexReplaced()
      case 'news':
        return listener.news(message.news)
      case 'reply': {
        const waiting = pending.get(message.id)
        pending.delete(message.id)
        if (message.ok) waiting?.resolve(message.value)
        else
          waiting?.reject(
            new RepriseError(
              message.error.code,
              message.error.message,
              message.error.hint,
              message.error.candidates ?? [],
            ),
          )
      }
    }
  })
  const fail = (error: Error): void => {
    failReady(error)
    for (const { reject } of pending.values()) reject(error)
    pending.clear()
    if (!ending) listener.died(error)
  }
  worker.on('error', fail)
  worker.on('exit', (code) => fail(new Error(`the index worker ended (${code})`)))

  return {
    ready,
    call: (method, ...args) =>
      new Promise((resolve, reject) => {
        const request: WorkerRequest = { id: next++, method, args }
        pending.set(request.id, { resolve: resolve as (value: unknown) => void, reject })
        worker.postMessage(request)
      }),
    async end() {
      ending = true
      await worker.terminate()
    },
  }
}
