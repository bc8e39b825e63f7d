/** The SQL of public pages: listed receipts and published passports alone. */
import { and, asc, desc, eq, lt } from 'drizzle-orm'
import type { PriceList } from '../../models/model.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import type { ShareRow } from '../../storage/db/schema/schema.ts'
import { first, rows } from '../../storage/db/sql/query-steps.ts'

export type SiteStore = {
  /** The share of the newest listed receipt. */
  newestShare(): Promise<ShareRow | undefined>
  /** The place of a price version among the leaves of all logs, once it has one. */
  placeOfPrices(prices: PriceList): Promise<number | undefined>
  /** Ids of listed receipts before an id, newest first. */
  publicReceipts(before: string, limit: number): Promise<string[]>
  /** The last of `size` listed receipts before an id; undefined if there are fewer. */
  lastOfPage(before: string, size: number): Promise<string | undefined>
  /** Handles of published passports, earliest first. */
  publicPassports(limit: number): Promise<string[]>
}

export function siteStore(db: Db): SiteStore {
  const { shares, passports, priceLists } = db.tables
  const isPublic = eq(shares.visibility, 'public')
  const isPublished = eq(passports.status, 'public')
  return {
    newestShare: () =>
      db.read((q) =>
        first(q.select().from(shares).where(isPublic).orderBy(desc(shares.receiptId)).limit(1)),
      ),
    placeOfPrices: async ({ id, version }) => {
      const named = and(eq(priceLists.id, id), eq(priceLists.version, version))
      const found = await db.read((q) =>
        first(q.select({ place: priceLists.logPlace }).from(priceLists).where(named)),
      )
      return found?.place ?? undefined
    },
    publicReceipts: async (before, limit) => {
      const listed = and(isPublic, lt(shares.receiptId, before))
      const order = desc(shares.receiptId)
      const select = { id: shares.receiptId }
      const found = await db.read((q) =>
        rows(q.select(select).from(shares).where(listed).orderBy(order).limit(limit)),
      )
      return found.map(({ id }) => id)
    },
    lastOfPage: async (before, size) => {
      const listed = and(isPublic, lt(shares.receiptId, before))
      const order = desc(shares.receiptId)
      const select = { id: shares.receiptId }
      const passed = size - 1
      const found = await db.read((q) =>
        first(q.select(select).from(shares).where(listed).orderBy(order).limit(1).offset(passed)),
      )
      return found?.id
    },
    publicPassports: async (limit) => {
      const order = [asc(passports.publishedAt), asc(passports.handle)]
      const select = { handle: passports.handle }
      const found = await db.read((q) =>
        rows(
          q
            .select(select)
            .from(passports)
            .where(isPublished)
            .orderBy(...order)
            .limit(limit),
        ),
      )
      return found.map(({ handle }) => handle)
    },
  }
}
