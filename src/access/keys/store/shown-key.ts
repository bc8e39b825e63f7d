/** SQL of keys with their chains and windows. */
import {
  type AnyColumn,
  and,
  asc,
  desc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import { type Page, type PageRequest, toPage } from '../../../kernel/pagination.ts'
import { windowStart } from '../../../ledger/window.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { KeyRow, Tables, WindowRow } from '../../../storage/db/schema/schema.ts'
import { inKeyScope } from '../../../storage/db/sql/key-scope.ts'
import { isUnder } from '../../../storage/db/sql/lineage.ts'
import { prepared, type Query, rows, type Work } from '../../../storage/db/sql/query-steps.ts'
import { windowWithHolds } from '../../../storage/holds/open-runs.ts'
import { maxDepth } from '../key.ts'
import type { ShownKeys } from '../keys.ts'
import { inTreeOrder, type ShownKey } from '../shown-key.ts'

/** A page of keys takes one query, and one more for ancestors outside the page. */
export function shownKeys({ tables, ...db }: Db): ShownKeys {
  const { keys } = tables

  const select = (q: Query, now: Millis) => selectShown(tables, q, startsAt(now))

  /** One round trip to a server; in process, for a single chain, a compiled look-up for each. */
  function* keysOf(q: Query, ids: string[]): Work<KeyRow[]> {
    if (!db.exclusive || ids.length > maxDepth) {
      return yield* rows(q.select().from(keys).where(inArray(keys.id, ids)))
    }
    const found: KeyRow[] = []
    for (const id of ids) {
      found.push(...(yield* keyAt(tables, q, id)))
    }
    return found
  }

  /** Adds the chains, reading the keys above that are not among those found. */
  function* withChains(q: Query, found: KeyRecord[], now: Millis): Work<ShownKey[]> {
    const known = new Map(found.map(({ key }) => [key.id, key]))
    const lineages = found.flatMap(({ key }) => key.lineage)
    const absent = [...new Set(lineages.filter((id) => !known.has(id)))]
    if (absent.length > 0) {
      for (const key of yield* keysOf(q, absent)) known.set(key.id, key)
    }
    return found.map(({ key, window, overlapUntil }) => ({
      key,
      chain: key.lineage.flatMap((id) => known.get(id) ?? []),
      window: windowWithHolds(db.open, window ?? undefined, {
        keyId: key.id,
        windowStart: windowStart(key.capWindow, now),
        limit: key.capLimit,
      }),
      overlapUntil,
    }))
  }

  const all = (where: SQL | undefined, now: Millis): Promise<ShownKey[]> =>
    db.read(function* (q) {
      const found: KeyRecord[] = yield* rows(select(q, now).where(where).orderBy(asc(keys.id)))
      return yield* withChains(q, found, now)
    })

  /** Newest first; `after` is the id of one of them. */
  const paged = (
    where: SQL | undefined,
    { after, limit }: PageRequest,
    now: Millis,
  ): Promise<Page<ShownKey>> =>
    db.read(function* (q) {
      const older = after === undefined ? undefined : lt(keys.id, after)
      const found: KeyRecord[] = yield* rows(
        select(q, now)
          .where(and(where, older))
          .orderBy(desc(keys.id))
          .limit(limit + 1),
      )
      const { items, hasMore } = toPage(found, limit)
      return { items: yield* withChains(q, items, now), hasMore }
    })

  return {
    show: (id, now) =>
      db.read(function* (q) {
        const found = db.exclusive
          ? yield* lookUp(tables, q, id, now)
          : yield* join(tables, q, id, now)
        const [shown] = yield* withChains(q, found, now)
        if (!shown) throw new Error(`key ${id} does not exist`)
        return shown
      }),
    list: (account, now) =>
      all(account === undefined ? undefined : eq(keys.accountId, account), now),
    listBelow: (top, page, now) =>
      paged(and(eq(keys.accountId, top.accountId), isUnder(keys, top.id)), page, now),
    tree: (whose, now) =>
      db.read(function* (q) {
        const active = and(isNull(keys.revokedAt), gt(keys.expiresAt, now))
        const listed = and(inKeyScope(keys, whose), active)
        // Sorted here: an order by id would walk all keys that the account ever had.
        const found: KeyRecord[] = yield* rows(select(q, now).where(listed))
        found.sort((a, b) => (a.key.id < b.key.id ? 1 : -1))
        return inTreeOrder(yield* withChains(q, found, now))
      }),
    listAll: (whose, { ended, name }, page, now) => {
      const states = {
        revoked: isNotNull(keys.revokedAt),
        expired: and(isNull(keys.revokedAt), lte(keys.expiresAt, now)),
      }
      const named = name === undefined ? undefined : isNamed(keys.name, name)
      return paged(and(inKeyScope(keys, whose), ended && states[ended], named), page, now)
    },
  }
}

/** In process three compiled look-ups cost a third of one join. */
function* lookUp(tables: Tables, q: Query, id: string, now: Millis): Work<KeyRecord[]> {
  const { keySecrets } = tables
  const [key] = yield* keyAt(tables, q, id)
  if (!key) return []
  const [window] = yield* windowAt(tables, q, id, windowStart(key.capWindow, now))
  const [ending] = yield* prepared('key.ending', { id, now }, (values) =>
    q
      .select({ validUntil: keySecrets.validUntil })
      .from(keySecrets)
      .where(and(eq(keySecrets.keyId, values.id), gt(keySecrets.validUntil, values.now))),
  )
  return [{ key, window: window ?? null, overlapUntil: ending?.validUntil ?? null }]
}

/** From a server one query is one round trip. */
const join = (tables: Tables, q: Query, id: string, now: Millis): Work<KeyRecord[]> =>
  prepared('key.shown', { id, ...startsAt(now) }, ({ id: named, ...starts }) =>
    selectShown(tables, q, starts).where(eq(tables.keys.id, named)),
  )

const keyAt = ({ keys }: Tables, q: Query, id: string): Work<KeyRow[]> =>
  prepared('key', { id }, (values) => q.select().from(keys).where(eq(keys.id, values.id)))

/** The window of a key that began at `start`, if it counted anything. */
export const windowAt = (
  { keyWindows }: Tables,
  q: Query,
  keyId: string,
  start: Millis,
): Work<WindowRow[]> =>
  prepared('key_window', { keyId, start }, (values) =>
    q
      .select()
      .from(keyWindows)
      .where(and(eq(keyWindows.keyId, values.keyId), eq(keyWindows.windowStart, values.start))),
  )

/** Joins the windows that contain `now`, and the old secret of a rotation. */
function selectShown(
  { keys, keyWindows, keySecrets }: Tables,
  q: Query,
  { now, ...starts }: Starts,
) {
  const start = (window: KeyRow['capWindow']) =>
    sql`when ${window} then cast(${starts[window]} as bigint)`
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

/** Whether a name contains a text, ignoring case. */
const isNamed = (column: AnyColumn, words: string): SQL => {
  const pattern = `%${words.replace(/[!%_]/g, '!$&')}%`
  return sql`lower(${column}) like lower(${pattern}) escape '!'`
}

/** A time, and when the windows of each kind that contain it began. */
type Starts = Record<KeyRow['capWindow'] | 'now', Millis>

const startsAt = (now: Millis): Starts => ({
  now,
  lifetime: windowStart('lifetime', now),
  day: windowStart('day', now),
  week: windowStart('week', now),
  month: windowStart('month', now),
})

type KeyRecord = Pick<ShownKey, 'key' | 'overlapUntil'> & { window: ShownKey['window'] | null }
