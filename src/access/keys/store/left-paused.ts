/** Lists the keys and webhooks that a leak stopped, and that still are. */
import { and, eq, inArray } from 'drizzle-orm'
import type { Db } from '../../../storage/db/engine/db.ts'
import { isUnder } from '../../../storage/db/sql/lineage.ts'
import { rows } from '../../../storage/db/sql/query-steps.ts'
import type { LeftPausedKeys, StoppedItem } from '../keys.ts'

export function leftPausedKeys(db: Db): LeftPausedKeys {
  const { keys, webhooks } = db.tables
  return {
    leftPaused: ({ id: top, accountId }) =>
      db.read(function* (q) {
        const under = and(eq(keys.accountId, accountId), isUnder(keys, top))
        const below = yield* rows(q.select().from(keys).where(under).orderBy(keys.id))
        const makers = below.map(({ id }) => id)
        const chosen = and(eq(webhooks.accountId, accountId), inArray(webhooks.madeBy, makers))
        const stopped = yield* rows(
          q
            .select()
            .from(webhooks)
            .where(and(chosen, eq(webhooks.disabledReason, 'leak')))
            .orderBy(webhooks.id),
        )
        return [
          ...below
            .filter((key) => key.id !== top && key.pausedReason === 'leak' && !key.revokedAt)
            .map(({ id, name }): StoppedItem => ({ object: 'key', id, name })),
          ...stopped.map(({ id, url }): StoppedItem => {
            return { object: 'webhook', id, name: URL.parse(url)?.host ?? '' }
          }),
        ]
      }),
  }
}
