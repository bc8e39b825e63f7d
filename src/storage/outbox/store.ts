/** Writes events in the transaction that makes them true. */
import type { Millis } from '../../kernel/clock.ts'
import type { Tables } from '../db/schema/schema.ts'
import { upsert, type Work } from '../db/sql/query-steps.ts'
import type { NewEvent } from './event.ts'
import { placesPerMs, toEventRow } from './event-row.ts'

/** Sorts after events of the ledger in the same millisecond, such as the credit of a deposit. */
const behindLedger = placesPerMs / 2

/**
 * Adds events outside of the ledger, whose commands use `unit.addEvent`. They commit with the
 * transaction around them.
 */
export function* addEvents(
  tables: Pick<Tables, 'events'>,
  added: readonly NewEvent[],
  now: Millis,
): Work<void> {
  const first = now * placesPerMs + behindLedger
  const found = added.map((event, i) => toEventRow(event, first + i, now))
  // A repeat of an event in the same millisecond has the same id and is stored once.
  yield* upsert(tables.events, found, [])
}
