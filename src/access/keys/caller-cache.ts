import type { Clock, Millis } from '../../kernel/clock.ts'
import { sha256Into } from '../../kernel/hash.ts'
import type { Caller } from './key.ts'

/** How long an authentication may be answered from memory: a node may not hear of a revocation. */
const rememberedMs = 1000
const rememberedMax = 100_000

export type Remembered = ReturnType<typeof rememberCallers>

/** A caller with all that a look-up asks, in one object: each other one would be a cache miss. */
type Entry = Caller & {
  /** From {@link Clock.monotonic}: a clock that is set back comes to the same time again. */
  freshUntil: number
  endsAt: Millis
  /** The second to fourth word of the digest; the first one it is filed under. */
  b: number | undefined
  c: number | undefined
  d: number | undefined
}

/**
 * Callers by 128 bits of the SHA-256 of their secrets, of which nothing else is kept. They are
 * filed under the first 32: no text is made or compared for a request. Of two that share these the
 * last one read is remembered.
 */
export function rememberCallers(clock: Pick<Clock, 'now' | 'monotonic'>) {
  // In the order they were read: what is a second old is read again, and so the newest.
  const entries = new Map<number, Entry>()
  const bytes = new Uint8Array(32)
  const words = new Int32Array(bytes.buffer)

  /** The caller whose digest `words` has, unless it was read more than a second ago. */
  const lookUp = (): Caller | undefined => {
    const known = entries.get(words[0] ?? 0)
    if (!known || known.b !== words[1] || known.c !== words[2] || known.d !== words[3]) return
    const isFresh = clock.monotonic() < known.freshUntil && clock.now() < known.endsAt
    return isFresh ? known : undefined
  }

  const read = (hash: string): void => {
    const digest = Buffer.from(hash, 'hex')
    if (digest.length !== bytes.length) throw new TypeError('a digest has 32 bytes')
    bytes.set(digest)
  }

  return {
    ofSecret(secret: string): Caller | undefined {
      sha256Into(secret, bytes)
      return lookUp()
    },
    /** By the digest in hex. */
    ofHash(hash: string): Caller | undefined {
      read(hash)
      return lookUp()
    },
    /**
     * Remembers what was read for a digest until it ends by itself, or a second long from when the
     * reading began, which is from {@link Clock.monotonic}.
     */
    keep(hash: string, caller: Caller, endsAt: Millis, readAt: number): void {
      read(hash)
      const [first = 0, b, c, d] = words
      const freshUntil = readAt + rememberedMs
      entries.delete(first)
      entries.set(first, { b, c, d, freshUntil, endsAt, ...caller })
      if (entries.size <= rememberedMax) return
      for (const oldest of entries.keys()) {
        entries.delete(oldest)
        return
      }
    },
    drop(isChanged: (caller: Caller) => boolean): void {
      for (const [first, caller] of entries) {
        if (isChanged(caller)) entries.delete(first)
      }
    },
  }
}
