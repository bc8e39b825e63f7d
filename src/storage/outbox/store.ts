/** Writes events in the transaction that makes them true. */
import type { Millis } from '../../kernel/clock.ts'
import { upsert, type Work } from '../db/query-steps.ts'
import type { Tables } from '../db/schema.ts'
import type { NewEvent } from './event.ts'
import { placesPerMs, toEventRow } from './event-row.ts'

/** Behind what the ledger tells in the same millisecond, as the credit of a deposit. */
const behindLedger = placesPerMs / 2

/**
 * For work that is not the ledger's, whose commands have `unit.addEvent`. It stands or falls with
 * the transaction around it.
 */
export function* addEvents(
  tables: Pick<Tables, 'events'>,
  added: readonly NewEvent[],
  now: Millis,
): Work<void> {
  const first = now * placesPerMs + behindLedger
  const found = added.map((event, i) => toEventRow(event, first + i, now))
  // Twice the same in one millisecond is once.
  yield* upsert(tables.events, found, [])
}
