/** Rows that the ledger does not know: a command brings how they are loaded and written. */
import type { Millis } from '../kernel/clock.ts'
import type { Tables } from '../storage/db/schema/schema.ts'
import type { Query, Work } from '../storage/db/sql/query-steps.ts'

/** The transaction in which the rows of a part are loaded and written. */
export type PartStore = { q: Query; tables: Tables; now: Millis }

type PartRules<Rows, Id> = {
  name: string
  /**
   * The place of its locks in the order of all parts. Every transaction locks by rank, after
   * accounts, keys, runs, windows and calls, so no two of them wait for each other.
   */
  rank: number
  /** The rows of a batch before anything is loaded. */
  empty(): Rows
  /** Loads and locks what the commands of a batch name, in which an id may repeat. */
  load?(store: PartStore, rows: Rows, ids: readonly Id[]): Work<void>
  write?(store: PartStore, rows: Rows): Work<void>
  /** The new rows that stay, for the budget of free writes. */
  kept?(rows: Rows): readonly unknown[]
}

/** Rows of one noun, as the file that knows them declares them. */
export type Part<Rows = unknown, Id = never> = PartRules<Rows, Id> & {
  /** Names rows of the part in a command. */
  of(id: Id): PartId
}

/** Rows of a part that a command names. */
export type PartId = { part: Part; id: unknown }

/** The parts that a batch loaded or added to; commands of one batch see each other's changes. */
export type PartRows = Map<Part, unknown>

export function definePart<Rows, Id = never>(rules: PartRules<Rows, Id>): Part<Rows, Id> {
  const part: Part<Rows, Id> = { ...rules, of: (id) => ({ part, id }) }
  return part
}

/** In the order of their locks. @throws Error for two parts of one rank: a bug of ours */
export function byRank<T>(parts: ReadonlyMap<Part, T>): [Part, T][] {
  const sorted = [...parts].sort(([one], [other]) => one.rank - other.rank)
  for (const [i, [{ name, rank }]] of sorted.entries()) {
    const before = sorted[i - 1]?.[0]
    if (before?.rank === rank) throw new Error(`${before.name} and ${name} have one rank: ${rank}`)
  }
  return sorted
}

/**
 * The rows of a part in this batch; those of a part that loads nothing begin empty.
 * @throws Error for rows that the command did not name
 */
export function rowsOf<Rows, Id>(
  tracked: { parts?: PartRows | undefined },
  part: Part<Rows, Id>,
): Rows {
  const found = tracked.parts?.get(part)
  if (found !== undefined) return found as Rows
  if (part.load) throw new Error(`${part.name} were not loaded`)
  const rows = part.empty()
  tracked.parts ??= new Map()
  tracked.parts.set(part, rows)
  return rows
}
