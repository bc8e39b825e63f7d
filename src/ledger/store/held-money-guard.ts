/** Keeps a command beside a server from taking money that the server holds in memory alone. */
import { inArray } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import { liveNodes } from '../../storage/db/engine/lease.ts'
import { first, type Query, type Work } from '../../storage/db/sql/query-steps.ts'
import type { TrackedRows } from '../unit-of-work.ts'

/**
 * On SQLite another process sees only the holds that are stored. It may add money beside a server,
 * and take it from an account that never had a key, which can hold nothing.
 * @throws Refusal `conflict`
 */
export function* assertNoHeldMoneyTaken(
  q: Query,
  db: Db,
  { added }: TrackedRows,
  now: Millis,
): Work<void> {
  const taken = added.transfers.filter(({ source, kind }) => source === 'user' && kind !== 'run')
  if (!db.exclusive || taken.length === 0) return
  if ((yield* liveNodes(db, q, now)).length === 0) return
  const { accountId } = db.tables.keys
  const ids = [...new Set(taken.map((one) => one.accountId))]
  const owned = q.select({ accountId }).from(db.tables.keys).where(inArray(accountId, ids))
  if (!(yield* first(owned.limit(1)))) return
  refuse('conflict', {
    message:
      'A server runs on this database and may hold this money for runs in flight. Use the ' +
      "operator's pages, or stop the server first; a killed one counts as running for ten seconds.",
  })
}
