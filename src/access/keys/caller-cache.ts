/** Caches the callers of secrets, without keeping the secrets. */
import type { Clock, Millis } from '../../kernel/clock.ts'
import { sha256Into } from '../../kernel/hash.ts'
import type { Caller } from './key.ts'

const rememberedMax = 100_000

/** A caller with what a look-up compares, in one object to save CPU cache misses. */
type Entry = Caller & {
  /** In the time of {@link Clock.monotonic}: a wall clock may be set back. */
  freshUntil: number
  endsAt: Millis
  /** The second to fourth word of the digest; the first is its key. */
  b: number | undefined
  c: number | undefined
  d: number | undefined
}

/**
 * Stores callers by 128 bits of the SHA-256 of their secrets. The map's keys are the first 32 bits:
 * no string is made or compared per request. Of two callers that share them the last wins.
 */
export function rememberCallers(clock: Pick<Clock, 'now' | 'monotonic'>) {
  // In the order they were read: a caller read again moves to the end.
  const entries = new Map<number, Entry>()
  const bytes = new Uint8Array(32)
  const words = new Int32Array(bytes.buffer)

  /** The caller whose digest is in `words`, unless it was read too long ago. */
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
     * Caches a caller until `endsAt` by the wall clock, and until `freshUntil` by
     * {@link Clock.monotonic}.
     */
    keep(hash: string, caller: Caller, endsAt: Millis, freshUntil: number): void {
      read(hash)
      const [first = 0, b, c, d] = words
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
