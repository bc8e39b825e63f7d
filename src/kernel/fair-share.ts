/** How many times the places that are left free one account may hold. */
const factor = 8

/**
 * Whether an account that holds `own` of some places may take one more, of which `free` are free.
 * What one account can hold shrinks with what is left, so it never takes all: alone it gets eight
 * ninths, and whoever comes next, and next, still finds some (dynamic thresholds, as switches
 * share their memory). Up to eight places nothing is kept back: they would be too few to use.
 */
export const mayTake = (own: number, free: number): boolean =>
  own === 0 ? free > 0 : own < factor * free
