/** The row of an event: its id, and its place among those of its account. */
import type { Millis } from '../../kernel/clock.ts'
import { sha256 } from '../../kernel/hash.ts'
import { makeIds } from '../../kernel/ids.ts'
import type { EventRow } from '../db/schema/schema.ts'
import type { NewEvent } from './event.ts'

/** Places per millisecond; further events of one account take those of the next. */
export const placesPerMs = 1000

/** The place of the next event of an account whose last one has `last`. */
export const placeAfter = (last: number, now: Millis): number =>
  Math.max(last + 1, now * placesPerMs)

/** A `webhook.test` goes to one webhook alone. */
type AnyEvent = Omit<NewEvent, 'type'> & { type: EventRow['type'] }

/** The id follows from the event, so a repeated transaction keeps it. */
export function toEventRow(event: AnyEvent, place: number, now: Millis): EventRow {
  const { type, account: accountId, subject, data } = event
  const cause = sha256(JSON.stringify([type, accountId, subject, place, data]))
  const id = makeIds({ now: () => now }, { bytes: (count) => cause.slice(0, count) }).make('evt')
  return { id, type, accountId, subject, place, at: now, data, routedAt: null }
}
