/** How much an account has, as its pages say beside their entries. */

/** Runs and keys are counted up to this number. */
export const extentMax = 1000

/** Runs that have ended, and keys that are neither revoked nor expired. */
export type Extent = { runs: number; keys: number }

export type Extents = {
  /** Counts, and remembers it for the page that is made next. */
  note(account: string, now: number): Promise<void>
  /** The counts as they were last noted. */
  last(account: string): Extent | undefined
}
