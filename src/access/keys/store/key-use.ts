/** Collects when keys were used, and writes it from time to time. */
import { eq } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import type { Db } from '../../../storage/db/db.ts'
import { rows } from '../../../storage/db/query-steps.ts'
import type { KeyUses } from '../keys.ts'

export function keyUses(db: Db): KeyUses {
  const { keys } = db.tables
  const used = new Map<string, Millis>()
  return {
    noteUse: (keyId, at) => void used.set(keyId, at),
    async writeUses() {
      const noted = [...used]
      used.clear()
      if (noted.length === 0) return
      await db.write(function* (q) {
        for (const [id, at] of noted) {
          yield* rows(q.update(keys).set({ lastUsedAt: at }).where(eq(keys.id, id)).returning())
        }
      })
    },
  }
}
