/** Writes the events of commands in the transaction of the change. */
import type { Millis } from '../kernel/clock.ts'
import type { Rows } from '../storage/db/engine/memory.ts'
import type { AccountRow, EventRow } from '../storage/db/schema/schema.ts'
import type { NewEvent } from '../storage/outbox/event.ts'
import { placeAfter, toEventRow } from '../storage/outbox/event-row.ts'

/** The rows of a batch that an event touches. */
export type EventRows = {
  accounts: Rows<AccountRow>
  written: { alerts: Set<AccountRow> }
  added: { events: EventRow[] }
}

/** Adds an event, whose place follows the last one of its account. */
export function addEvent(rows: EventRows, event: NewEvent, now: Millis): void {
  const account = rows.accounts.get(event.account)
  if (!account) throw new Error(`${event.type} of ${event.account}, which was not loaded`)
  account.eventPlace = placeAfter(account.eventPlace ?? 0, now)
  rows.written.alerts.add(account)
  rows.added.events.push(toEventRow(event, account.eventPlace, now))
}
