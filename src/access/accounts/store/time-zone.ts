/** SQL of the time zone of a person, which is a setting of the own account of the wallet. */
import { eq } from 'drizzle-orm'
import { utcZone, type ZoneName } from '../../../kernel/zone.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import { lockedRows, rows } from '../../../storage/db/sql/query-steps.ts'

/** Settings of an account that has none yet. */
const fresh = { retention: 'none', consoleKeyId: null, keepsResponses: null } as const

export async function writeZone(db: Db, wallet: string, zone: ZoneName): Promise<void> {
  const { accountSettings } = db.tables
  await db.write(function* (q) {
    const row = { accountId: wallet, ...fresh }
    yield* rows(q.insert(accountSettings).values(row).onConflictDoNothing().returning())
    const named = eq(accountSettings.accountId, wallet)
    yield* lockedRows(q.select().from(accountSettings).where(named))
    const timeZone = zone === utcZone ? null : zone
    yield* rows(q.update(accountSettings).set({ timeZone }).where(named).returning())
  })
}
