/** Shares a limited number of places, or of bytes, among accounts. */

/** An account may hold this many times the free places. */
const factor = 8

/**
 * Whether an account that holds `own` places may take `wanted` of those `free`. Its share shrinks
 * with what is left (dynamic thresholds, as switches share their memory): alone it gets eight
 * ninths, and later accounts still find some. Up to eight places none is kept back.
 */
export const mayTake = (own: number, free: number, wanted = 1): boolean =>
  wanted <= free && (own === 0 || own + wanted - 1 < factor * (free - wanted + 1))
