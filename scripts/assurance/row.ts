/** A promise about security, what proves it and what keeps it. */
export type Row = {
  /** A letter of its group and a number, e.g. `A5`. */
  id: string
  /** `C`: money, an account or a secret is lost without it. `H`: something else of weight. */
  severity: 'C' | 'H'
  promise: string
} & (Kept | { /** Why it does not apply. */ absent: string })

type Kept = {
  /** A test file, and how the name of a test or of its group begins there. */
  tests: readonly Place[]
  /** A file, and the function or the setting in it without which a test fails. */
  guards: readonly Place[]
  /** What no test shows yet. */
  missing?: string
}

export type Place = readonly [file: string, name: string]

export type Group = { title: string; rows: readonly Row[] }

/** Something that breaks, what is then expected, and where that is seen. */
export type Fault = {
  fault: string
  expected: string
  tests?: readonly Place[]
  /**
   * Drills that show it, by the words after `bun run drill`; after `faults` how the name of a
   * fault begins.
   */
  drills?: readonly string[]
}
