import { and, asc, desc, eq, gt } from 'drizzle-orm'
import { type Db, first, rows } from '../db/db.ts'
import type { ShareRow } from '../db/schema.ts'

export type SiteStore = ReturnType<typeof siteStore>

/** What there is to see for everybody: never anything unlisted, private or hidden. */
export function siteStore(db: Db) {
  const { shares, passports } = db.tables
  const isPublic = eq(shares.visibility, 'public')
  return {
    /** The share of the newest receipt that is in lists. */
    newestShare: (): Promise<ShareRow | undefined> =>
      db.read((q) =>
        first(q.select().from(shares).where(isPublic).orderBy(desc(shares.receiptId)).limit(1)),
      ),
    /** Ids of public receipts, oldest first, behind the one named. */
    publicReceipts: async (after: string, limit: number): Promise<string[]> => {
      const listed = and(isPublic, gt(shares.receiptId, after))
      const found = await db.read((q) =>
        rows(
          q
            .select({ id: shares.receiptId })
            .from(shares)
            .where(listed)
            .orderBy(asc(shares.receiptId))
            .limit(limit),
        ),
      )
      return found.map(({ id }) => id)
    },
    /** Handles of published passports in their order, behind the one named. */
    publicPassports: async (after: string, limit: number): Promise<string[]> => {
      const listed = and(eq(passports.status, 'public'), gt(passports.handle, after))
      const found = await db.read((q) =>
        rows(
          q
            .select({ handle: passports.handle })
            .from(passports)
            .where(listed)
            .orderBy(asc(passports.handle))
            .limit(limit),
        ),
      )
      return found.map(({ handle }) => handle)
    },
  }
}
