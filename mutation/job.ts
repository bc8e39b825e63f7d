/** What a driver is told to do. */
export type Job = {
  /** The copy it works in. */
  root: string
  tests: string[]
  /** Mutants by number. */
  todo: number[]
  /** The one that is on from the start, for what runs when a module is loaded. */
  active?: number
  /** One whose failure broke the process before: what it says in a new one counts. */
  suspect?: number
  /** By mutant: how its file is called, which its best tests often are too. */
  stems: Record<number, string>
  /** Where is kept which tests reach what. */
  reached: string
  /** Where the driver writes what it found, a line each. */
  said: string
  /** How long one step of a test may take, and all tests of one mutant together should. */
  limitMs: number
  budgetMs: number
  /** When to stop, if there is more to do. */
  until: number
}

/** Which mutants what comes by: a test, by its name, and the mere loading of all of them. */
export type Reached = { tests: Record<string, { ms: number; hits: number[] }>; load: number[] }

export type Line = {
  id: number
  state:
    | ('killed' | 'late' | 'survived' | 'unreached')
    | ('started' | 'suspect' | 'again' | 'loaded' | 'learnt' | 'unfit' | 'done')
  by?: string
  note?: string
}
