/** The source of randomness. Production asks the CSPRNG; tests count. */
export type Random = { bytes(count: number): Uint8Array }

/** Draws a number of 0 to 1, below 1, for choices that may be guessed. */
export const drawShare = (): number => Math.random()

/** The operating system's CSPRNG, drawn in 4 KiB pools because one call costs a microsecond. */
export function systemRandom(): Random {
  const pool = new Uint8Array(4096)
  let used = pool.length
  return {
    bytes(count) {
      if (count > pool.length) return crypto.getRandomValues(new Uint8Array(count))
      if (used + count > pool.length) {
        crypto.getRandomValues(pool)
        used = 0
      }
      const out = pool.slice(used, used + count)
      // Some of these bytes become secrets: no copy may stay in the pool.
      pool.fill(0, used, used + count)
      used += count
      return out
    },
  }
}
