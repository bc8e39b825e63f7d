/** Reads passports by page, each with its record. */
import { and, desc, eq, inArray, lt, sql } from 'drizzle-orm'
import { type Page, type PageRequest, toPage } from '../../../kernel/pagination.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { PassportRow } from '../../../storage/db/schema/schema.ts'
import { rows, type Work } from '../../../storage/db/sql/query-steps.ts'
import type { Kind } from '../profile.ts'
import { type Standing, standingQueries } from './standing.ts'

/** How the public list is read. */
export type Listing = { kind: Kind | undefined; sort: 'newest' | 'runs' }

export type PassportLists = {
  /** An account's own passports, newest first. */
  listOwn(account: string, page: PageRequest): Promise<Page<Standing>>
  /** The public passports behind `after`, newest or busiest first. */
  listPublic(
    listing: Listing,
    page: { after: PassportRow | undefined; limit: number },
  ): Promise<Page<Standing>>
  /** The names of accounts in their oldest public passports; accounts without one are left out. */
  publicNames(accounts: readonly string[]): Promise<Map<string, string>>
}

export function passportLists(db: Db): PassportLists {
  const { passports } = db.tables
  const { accountId, handle, id, publishedAt, runs, status } = passports
  const standings = standingQueries(db)

  return {
    listOwn: (account, { after, limit }) =>
      db.read(function* (q): Work<Page<Standing>> {
        const own = and(eq(accountId, account), after === undefined ? undefined : lt(id, after))
        const found = standings.select(q).where(own).orderBy(desc(id))
        const { items, hasMore } = toPage(yield* rows(found.limit(limit + 1)), limit)
        return { items: yield* standings.withModels(q, items), hasMore }
      }),
    listPublic: ({ kind, sort }, { after, limit }) =>
      db.read(function* (q): Work<Page<Standing>> {
        const by = sort === 'runs' ? runs : publishedAt
        const last = sort === 'runs' ? after?.runs : after?.publishedAt
        const listed = and(
          // Not a parameter: only so the index of the public ones is used.
          sql`${status} = 'public'`,
          kind === undefined ? undefined : eq(passports.kind, kind),
          after && sql`(${by}, ${handle}) < (${last}, ${after.handle})`,
        )
        const found = standings.select(q).where(listed).orderBy(desc(by), desc(handle))
        const { items, hasMore } = toPage(yield* rows(found.limit(limit + 1)), limit)
        return { items: yield* standings.withModels(q, items), hasMore }
      }),
    publicNames: async (accounts) => {
      const listed = and(inArray(accountId, [...accounts]), eq(status, 'public'))
      const found = await db.read((q) =>
        rows(
          q
            .select({ account: accountId, name: passports.displayName })
            .from(passports)
            .where(listed)
            .orderBy(desc(publishedAt), desc(handle)),
        ),
      )
      // The last one of an account is kept.
      return new Map(found.map(({ account, name }) => [account, name]))
    },
  }
}
