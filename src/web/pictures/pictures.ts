/** Draws the pictures of links one after the other, keeps the newest, and refuses a crowd. */

import { LRUCache } from 'lru-cache'
import { sha256Hex } from '../../kernel/hash.ts'
import { refuse } from '../../kernel/refusal.ts'
import { retryHeaders } from '../../kernel/retry-headers.ts'
import type { Png, Renderer } from './renderer.ts'

/** The most bytes of cached pictures. */
export const keptBytes = 8 * 2 ** 20
/** The most pictures in drawing or waiting; one more is refused. */
export const waitingMax = 16
/** How long an idle thread is kept, in ms: it holds some 30 MB. */
const idleMs = 60_000

/** The pictures of one process. */
export type Pictures = {
  /**
   * Returns the PNG of an SVG. Concurrent callers share one drawing.
   * @throws Refusal 'unavailable' when too many others wait
   */
  png(svg: string): Promise<Png>
  /** The number of drawn pictures, and the bytes in the cache. */
  readonly drawn: number
  readonly bytes: number
}

/** Calls `start` for a thread when there is none. */
export function makePictures(start = startThread): Pictures {
  const kept = new LRUCache<string, Png>({
    maxSize: keptBytes,
    sizeCalculation: ({ byteLength }) => byteLength,
  })
  const going = new Map<string, Promise<Png>>()
  let renderer: Promise<Renderer> | undefined
  let idle: ReturnType<typeof setTimeout> | undefined
  let turn: Promise<unknown> = Promise.resolve()
  let drawn = 0

  async function draw(svg: string): Promise<Png> {
    clearTimeout(idle)
    renderer ??= start()
    const started = renderer
    try {
      const png = await (await started).draw(svg)
      drawn++
      return png
    } catch (error) {
      renderer = undefined
      throw error
    } finally {
      idle = setTimeout(() => void rest(), idleMs)
      idle.unref()
    }
  }

  async function rest(): Promise<void> {
    if (going.size > 0 || !renderer) return
    const thread = await renderer
    renderer = undefined
    thread.stop()
  }

  function inTurn(name: string, svg: string): Promise<Png> {
    const drawing = turn
      .then(() => draw(svg))
      .then((png) => {
        kept.set(name, png)
        return png
      })
      .finally(() => going.delete(name))
    turn = drawing.catch(() => undefined)
    going.set(name, drawing)
    return drawing
  }

  return {
    async png(svg) {
      const name = sha256Hex(svg)
      const known = kept.get(name) ?? going.get(name)
      if (known) return known
      if (going.size >= waitingMax) refuse('unavailable', tooMany)
      return inTurn(name, svg)
    },
    get drawn() {
      return drawn
    },
    get bytes() {
      return kept.calculatedSize
    },
  }
}

const tooMany = {
  message: 'Too many pictures are being drawn. Try again in a few seconds.',
  headers: retryHeaders(3000),
}

async function startThread(): Promise<Renderer> {
  const { startRenderer } = await import('./renderer.ts')
  return startRenderer()
}
