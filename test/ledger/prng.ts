/** Randomness that a seed replays, the same on every machine. */
export type Prng = { below(n: number): number; pick<T>(items: readonly T[]): T }

/** Mulberry32. */
export function prng(seed: number): Prng {
  let state = seed >>> 0
  const below = (n: number): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) % n
  }
  return {
    below,
    pick(items) {
      const item = items[below(items.length)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
  }
}
