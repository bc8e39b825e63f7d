/** Disables the webhooks that a leaked key chose. */
import { and, asc, eq, exists, inArray, isNull, type SQL } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import {
  lockedRows,
  type Query,
  rows,
  update,
  type Work,
} from '../../../storage/db/sql/query-steps.ts'
import { failWaiting } from './outcomes.ts'

export function madeByKeys(db: Db) {
  const { keys, webhooks } = db.tables

  const sending = (q: Query, made: SQL | undefined) =>
    q
      .select()
      .from(webhooks)
      .where(and(made, isNull(webhooks.disabledAt)))
      .orderBy(asc(webhooks.id))

  function* stop(q: Query, made: SQL | undefined, now: Millis): Work<void> {
    const found = yield* lockedRows(sending(q, made))
    const disabled = { disabledAt: now, disabledReason: 'leak' as const }
    const stopped = found.map((row) => ({ ...row, ...disabled }))
    yield* update(webhooks, stopped, ['disabledAt', 'disabledReason'])
    for (const { id } of stopped) yield* failWaiting(db, q, id, now)
  }

  /** Made by a key that is paused for a leak. */
  const leaked = (q: Query): SQL =>
    exists(
      q
        .select({ id: keys.id })
        .from(keys)
        .where(and(eq(keys.id, webhooks.madeBy), eq(keys.pausedReason, 'leak'))),
    )

  return {
    /** Disables the webhooks of an account whose addresses these keys chose. */
    stopMadeBy: (account: string, makers: readonly string[], now: Millis): Promise<void> =>
      db.write((q) =>
        stop(q, and(eq(webhooks.accountId, account), inArray(webhooks.madeBy, [...makers])), now),
      ),
    /**
     * Disables what was missed: a report pauses its keys in a command of its own, and the process
     * can end before the next one, or a request of such a key can be at its last step.
     */
    async stopLeaked(now: Millis): Promise<void> {
      const found = await db.read((q) => rows(sending(q, leaked(q)).limit(1)))
      if (found.length > 0) await db.write((q) => stop(q, leaked(q), now))
    },
  }
}
