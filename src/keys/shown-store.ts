import { and, asc, desc, eq, gt, inArray, lt, type SQL, sql } from 'drizzle-orm'
import { type Db, type Query, rows, type Work } from '../db/db.ts'
import { isUnder } from '../db/lineage.ts'
import type { KeyRow } from '../db/schema.ts'
import type { Millis } from '../kernel/clock.ts'
import { type Page, type PageRequest, toPage } from '../kernel/page.ts'
import { windowStart } from '../ledger/window.ts'
import { inTreeOrder, type ShownKey } from './shown.ts'

/** Keys together with all that is shown of them: a page takes one query, whatever is on it. */
export function shownKeys({ tables, ...db }: Db) {
  const { keys, keyWindows, keySecrets } = tables

  /** The windows that `now` falls into are joined, and the secret that is on its way out. */
  function select(q: Query, now: Millis) {
    const start = (window: KeyRow['capWindow']) =>
      sql`when ${window} then cast(${windowStart(window, now)} as bigint)`
    const kinds = [start('lifetime'), start('day'), start('week'), start('month')]
    const present = sql`case ${keys.capWindow} ${sql.join(kinds, sql` `)} end`
    const isPresent = and(eq(keyWindows.keyId, keys.id), eq(keyWindows.windowStart, present))
    const isEnding = and(eq(keySecrets.keyId, keys.id), gt(keySecrets.validUntil, now))
    return q
      .select({ key: keys, window: keyWindows, overlapUntil: keySecrets.validUntil })
      .from(keys)
      .leftJoin(keyWindows, isPresent)
      .leftJoin(keySecrets, isEnding)
  }

  /** Adds the chains, reading the keys above that are not among those found. */
  function* withChains(q: Query, found: Found[]): Work<ShownKey[]> {
    const known = new Map(found.map(({ key }) => [key.id, key]))
    const lineages = found.flatMap(({ key }) => key.lineage)
    const absent = [...new Set(lineages.filter((id) => !known.has(id)))]
    if (absent.length > 0) {
      const above: KeyRow[] = yield* rows(q.select().from(keys).where(inArray(keys.id, absent)))
      for (const key of above) known.set(key.id, key)
    }
    return found.map(({ key, window, overlapUntil }) => ({
      key,
      chain: key.lineage.flatMap((id) => known.get(id) ?? []),
      window: window ?? undefined,
      overlapUntil,
    }))
  }

  const all = (where: SQL | undefined, now: Millis): Promise<ShownKey[]> =>
    db.read(function* (q) {
      const found: Found[] = yield* rows(select(q, now).where(where).orderBy(asc(keys.id)))
      return yield* withChains(q, found)
    })

  return {
    /** One key with its chain. @throws when there is none: ask {@link KeyStore.find} first. */
    show: async (id: string, now: Millis): Promise<ShownKey> => {
      const [shown] = await all(eq(keys.id, id), now)
      if (!shown) throw new Error(`there is no key ${id}`)
      return shown
    },
    /** All keys there are, or all of an account, the oldest first: for the command line. */
    list: (account: string | undefined, now: Millis): Promise<ShownKey[]> =>
      all(account === undefined ? undefined : eq(keys.accountId, account), now),
    /** A key and all below it, newest first; `after` is the id of one of them. */
    listBelow: (top: KeyRow, page: PageRequest, now: Millis): Promise<Page<ShownKey>> =>
      db.read(function* (q) {
        const listed = and(
          eq(keys.accountId, top.accountId),
          isUnder(keys, top.id),
          page.after === undefined ? undefined : lt(keys.id, page.after),
        )
        const found: Found[] = yield* rows(
          select(q, now)
            .where(listed)
            .orderBy(desc(keys.id))
            .limit(page.limit + 1),
        )
        const { items, hasMore } = toPage(found, page.limit)
        return { items: yield* withChains(q, items), hasMore }
      }),
    /**
     * The keys of an account for its owner, in tree order: each below its parent, the newest
     * first. Without those that are revoked, which {@link listRevoked} has.
     */
    tree: (account: string, now: Millis): Promise<ShownKey[]> =>
      db.read(function* (q) {
        const listed = and(eq(keys.accountId, account), sql`${keys.revokedAt} is null`)
        const found: Found[] = yield* rows(select(q, now).where(listed).orderBy(desc(keys.id)))
        return inTreeOrder(yield* withChains(q, found))
      }),
    /** The revoked keys of an account, newest first; `after` is the id of one of them. */
    listRevoked: (account: string, page: PageRequest, now: Millis): Promise<Page<ShownKey>> =>
      db.read(function* (q) {
        const listed = and(
          eq(keys.accountId, account),
          sql`${keys.revokedAt} is not null`,
          page.after === undefined ? undefined : lt(keys.id, page.after),
        )
        const found: Found[] = yield* rows(
          select(q, now)
            .where(listed)
            .orderBy(desc(keys.id))
            .limit(page.limit + 1),
        )
        const { items, hasMore } = toPage(found, page.limit)
        return { items: yield* withChains(q, items), hasMore }
      }),
  }
}

type Found = Pick<ShownKey, 'key' | 'overlapUntil'> & { window: ShownKey['window'] | null }
