/** Loads and writes the parts that commands of a batch bring, in the order of their ranks. */
import type { Work } from '../../storage/db/sql/query-steps.ts'
import type { Command } from '../command.ts'
import { byRank, type Part, type PartRows, type PartStore } from '../part.ts'
import type { TrackedRows } from '../unit-of-work.ts'

type NamedParts = Map<Part, unknown[]>

/** The ids that commands name of each part; undefined for a batch without parts, as most are. */
export function namedParts(commands: readonly Command<unknown>[]): NamedParts | undefined {
  let named: NamedParts | undefined
  for (const { parts } of commands) {
    if (!parts) continue
    named ??= new Map()
    for (const { part, id } of parts) {
      const ids = named.get(part)
      if (ids) ids.push(id)
      else named.set(part, [id])
    }
  }
  return named
}

/** Requires the locks of all rows of the ledger that the batch names. */
export function* loadParts(store: PartStore, tracked: TrackedRows, named: NamedParts): Work<void> {
  const loaded: PartRows = new Map()
  tracked.parts = loaded
  for (const [part, ids] of byRank(named)) {
    const rows = part.empty()
    if (part.load) yield* part.load(store, rows as never, ids as never[])
    loaded.set(part, rows)
  }
}

export function* writeParts(store: PartStore, parts: PartRows): Work<void> {
  for (const [part, rows] of byRank(parts)) {
    if (part.write) yield* part.write(store, rows as never)
  }
}
