import type { JsonObject } from './upstream.ts'

/** How a stream ended: whole, by what it threw, or because nobody wanted more of it. */
export type End = { how: 'whole' | 'left' } | { how: 'failed'; error: unknown }

type Chunks = AsyncIterableIterator<JsonObject[]>
type Watched = Chunks & { listeners: ((end: End) => void)[] }

/**
 * The same chunks; `listener` is told once how they ended. All who listen to one stream share one
 * iterator: each more would cost every chunk some promises.
 */
export function onEnd(
  chunks: AsyncIterable<JsonObject[]>,
  listener: (end: End) => void,
): AsyncIterable<JsonObject[]> {
  const watched = isWatched(chunks) ? chunks : watch(chunks)
  watched.listeners.push(listener)
  return watched
}

const isWatched = (chunks: AsyncIterable<JsonObject[]>): chunks is Watched => 'listeners' in chunks

function watch(chunks: AsyncIterable<JsonObject[]>): Watched {
  const inner = chunks[Symbol.asyncIterator]()
  const listeners: Watched['listeners'] = []
  const tell = (end: End): void => {
    for (const listener of listeners.splice(0)) listener(end)
  }
  const see = (result: IteratorResult<JsonObject[]>) => {
    if (result.done) tell({ how: 'whole' })
    return result
  }
  const fail = (error: unknown): never => {
    tell({ how: 'failed', error })
    throw error
  }
  return {
    listeners,
    [Symbol.asyncIterator]() {
      return this
    },
    next: () => inner.next().then(see, fail),
    async return() {
      try {
        await inner.return?.()
      } finally {
        tell({ how: 'left' })
      }
      return { done: true, value: undefined }
    },
  }
}
