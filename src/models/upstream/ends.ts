/** Tells how a stream ended. */
import { type Batch, type Chunks, type ChunkTaker, takeEach } from './upstream.ts'

/** How a stream ended: whole, by what it threw, or because its reader stopped. */
export type End = { how: 'whole' | 'left' } | { how: 'failed'; error: unknown }

/** Passes chunks on, and tells `listener` once how they ended. */
export function onEnd(chunks: Chunks, listener: (end: End) => void): Chunks {
  let isTold = false
  const tell = (end: End): void => {
    if (isTold) return
    isTold = true
    listener(end)
  }
  const iterate = (): AsyncIterableIterator<Batch> => {
    const inner = chunks[Symbol.asyncIterator]()
    const see = (result: IteratorResult<Batch>) => {
      if (result.done) tell({ how: 'whole' })
      return result
    }
    const fail = (error: unknown): never => {
      tell({ how: 'failed', error })
      throw error
    }
    return {
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
  return {
    [Symbol.asyncIterator]: iterate,
    each: (take) => tellEach(chunks, take, tell),
  }
}

/** Hands on all batches, and tells how that ended. */
async function tellEach(
  chunks: Chunks,
  take: ChunkTaker<Batch>,
  tell: (end: End) => void,
): Promise<void> {
  let isLeft = false
  const goesOn = (more: boolean): boolean => {
    isLeft = !more
    return more
  }
  const takeOn = (batch: Batch): boolean | Promise<boolean> => {
    // Until it returns true: an error of `take` is not a failure of the stream.
    isLeft = true
    const more = take(batch)
    return typeof more === 'boolean' ? goesOn(more) : more.then(goesOn)
  }
  try {
    await takeEach(chunks, takeOn)
  } catch (error) {
    tell(isLeft ? { how: 'left' } : { how: 'failed', error })
    throw error
  }
  tell({ how: isLeft ? 'left' : 'whole' })
}
