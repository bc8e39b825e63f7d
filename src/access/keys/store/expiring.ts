/** Tells that keys expire soon: seven days before, and one. */
import { and, asc, gt, isNull, lte, sql } from 'drizzle-orm'
import { type Millis, toRfc3339 } from '../../../kernel/clock.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { KeyRow } from '../../../storage/db/schema/schema.ts'
import { ensureFactIn, lockFact, writeFact } from '../../../storage/db/sql/facts.ts'
import { type Query, rows, type Work } from '../../../storage/db/sql/query-steps.ts'
import type { NewEvent } from '../../../storage/outbox/event.ts'
import { addEvents } from '../../../storage/outbox/store.ts'

const dayMs = 86_400_000
/** Keys of one transaction; charges wait for it. */
const atOnce = 200

/** Up to which end keys were told, those of that very end up to an id. */
type ExpiryMark = { at: Millis; id: string }

/**
 * Each key is told once for each of its warnings, by whichever node comes first: the end up to
 * which keys were told moves on in the transaction of their events. A key that is made with less
 * time than a warning needs goes without that one.
 */
export async function tellExpiring(db: Db, now: Millis, atMost = atOnce): Promise<void> {
  for (const days of [7, 1]) {
    while (await db.write((q) => tellSome(db, q, { days, now, atMost })));
  }
}

/** Whether more keys may be left. */
function* tellSome(
  db: Db,
  q: Query,
  { days, now, atMost }: { days: number; now: Millis; atMost: number },
): Work<boolean> {
  const { keys } = db.tables
  const fact = `keys.expiring.${days}`
  const first: ExpiryMark = { at: now, id: '' }
  yield* ensureFactIn(db, q, fact, JSON.stringify(first))
  const told: ExpiryMark = JSON.parse((yield* lockFact(db, fact)) ?? JSON.stringify(first))
  const until = now + days * dayMs
  if (until < told.at) return false
  const beyond = sql`(${keys.expiresAt}, ${keys.id}) > (${told.at}, ${told.id})`
  const ending = and(isNull(keys.revokedAt), gt(keys.expiresAt, now), lte(keys.expiresAt, until))
  const sorted = q
    .select()
    .from(keys)
    .where(and(ending, beyond))
    .orderBy(asc(keys.expiresAt), asc(keys.id))
  const found = yield* rows(sorted.limit(atMost))
  // A key that expires within a day gets the one-day warning alone.
  const due = days === 1 ? found : found.filter((key) => key.expiresAt > now + dayMs)
  const events = due.map((key) => toEvent(key, days))
  if (events.length > 0) yield* addEvents(db.tables, events, now)
  const last = found.length < atMost ? undefined : found.at(-1)
  const next: ExpiryMark = last ? { at: last.expiresAt, id: last.id } : { at: until + 1, id: '' }
  yield* writeFact(db, fact, JSON.stringify(next))
  return last !== undefined
}

const toEvent = ({ id, accountId, name, parentId, expiresAt }: KeyRow, days: number): NewEvent => ({
  type: 'key.expiring',
  account: accountId,
  subject: id,
  data: { key_id: id, name, parent_id: parentId, expires_at: toRfc3339(expiresAt), days },
})
