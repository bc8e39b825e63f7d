/** Disables the webhooks that a leaked key chose. */
import { and, asc, eq, inArray, isNull } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import type { Db } from '../../../storage/db/db.ts'
import { lockedRows, update } from '../../../storage/db/query-steps.ts'
import { failWaiting } from './outcomes.ts'

export function madeByKeys(db: Db) {
  const { webhooks } = db.tables
  return {
    /** Disables the webhooks of an account whose addresses these keys chose. */
    stopMadeBy: (account: string, makers: readonly string[], now: Millis): Promise<void> =>
      db.write(function* (q) {
        const made = and(eq(webhooks.accountId, account), inArray(webhooks.madeBy, [...makers]))
        const found = yield* lockedRows(
          q
            .select()
            .from(webhooks)
            .where(and(made, isNull(webhooks.disabledAt)))
            .orderBy(asc(webhooks.id)),
        )
        const disabled = { disabledAt: now, disabledReason: 'leak' as const }
        const stopped = found.map((row) => ({ ...row, ...disabled }))
        yield* update(webhooks, stopped, ['disabledAt', 'disabledReason'])
        for (const { id } of stopped) yield* failWaiting(db, q, id, now)
      }),
  }
}
