import { and, eq, gt, inArray, isNull, or } from 'drizzle-orm'
import type { Clock, Millis } from '../../kernel/clock.ts'
import { isBeside } from '../../storage/db/beside.ts'
import type { Db } from '../../storage/db/db.ts'
import { isUnder } from '../../storage/db/lineage.ts'
import type { Notice } from '../../storage/db/notices.ts'
import { first, prepared, rows, type Work } from '../../storage/db/query-steps.ts'
import type { KeyRow, WindowRow } from '../../storage/db/schema.ts'
import type { Plans } from '../plan.ts'
import { rememberCallers } from './caller-cache.ts'
import { type Caller, makeCaller } from './key.ts'
import { shownKeys, windowAt } from './store/shown-key.ts'

export type KeyStore = ReturnType<typeof keyStore>

export function keyStore(db: Db, clock: Pick<Clock, 'now' | 'monotonic'>, plans: Plans) {
  const { keys, keySecrets, keyWindows, accounts, runs } = db.tables
  const remembered = rememberCallers(clock)
  const used = new Map<string, Millis>()
  let changes = 0

  function* callerOf(q: Parameters<Parameters<Db['read']>[0]>[0], hash: string): Work<Found> {
    const [found] = yield* prepared('key_by_secret', { hash }, (v) =>
      q
        .select({
          key: keys,
          status: accounts.status,
          plan: accounts.plan,
          planUntil: accounts.planUntil,
          validUntil: keySecrets.validUntil,
        })
        .from(keySecrets)
        .innerJoin(keys, eq(keys.id, keySecrets.keyId))
        .innerJoin(accounts, eq(accounts.id, keys.accountId))
        .where(eq(keySecrets.hash, v.hash)),
    )
    if (!found) return undefined
    const { key, status, validUntil } = found
    const ancestors = key.lineage.slice(1)
    const above =
      ancestors.length === 0
        ? []
        : yield* rows(q.select().from(keys).where(inArray(keys.id, ancestors)))
    const chain = [key, ...ancestors.map((id) => above.find((row) => row.id === id))]
    if (!chain.every((row): row is KeyRow => row !== undefined)) {
      throw new Error(`key ${key.id} lacks an ancestor`)
    }
    const plan = plans.of(found, clock.now())
    const suspended = status === 'suspended'
    const caller = makeCaller({ account: key.accountId, suspended, plan, chain, key })
    return { caller, validUntil: validUntil ?? Number.POSITIVE_INFINITY }
  }

  const read = async (hash: string): Promise<Caller | undefined> => {
    const before = changes
    const readAt = clock.monotonic()
    const found = await db.read((q) => callerOf(q, hash))
    if (!found || found.validUntil <= clock.now()) return undefined
    // What was read before a change of ours must not be remembered after it.
    if (before === changes) remembered.keep(hash, found.caller, found.validUntil, readAt)
    return found.caller
  }

  const drop = (isChanged: (caller: Caller) => boolean): void => {
    changes++
    remembered.drop(isChanged)
  }

  // The next connection may reach a database that knows keys, plans and states of another time.
  db.onConnectionLost(() => drop(() => true))

  const isBelow = (key: KeyRow) => and(eq(keys.accountId, key.accountId), isUnder(keys, key.id))

  return {
    ...shownKeys(db),
    /** The caller of a secret that was asked for within the last second. */
    knownCaller: (secret: string): Caller | undefined => remembered.ofSecret(secret),
    /** Who a secret's hash belongs to; at once when it was asked for within the last second. */
    findCaller: (hash: string): Caller | Promise<Caller | undefined> =>
      remembered.ofHash(hash) ?? read(hash),
    /** Drops what is remembered of a key and of all below it, here and at other nodes. */
    forget(keyId: string): void {
      drop(isOfKey(keyId))
      void db.notices?.tell(`key ${keyId}`)
    },
    /** Drops what is remembered of all keys of an account, here and at other nodes. */
    forgetAccount(account: string): void {
      drop(isOfAccount(account))
      void db.notices?.tell(`account ${account}`)
    },
    /** Drops what another node says has changed; false when that is no news of keys. */
    hear(notice: Notice): boolean {
      const [what, id = ''] = notice.split(' ')
      if (what === 'key') drop(isOfKey(id))
      else if (what === 'account') drop(isOfAccount(id))
      else return false
      return true
    },
    find: (id: string): Promise<KeyRow | undefined> =>
      db.read((q) => first(q.select().from(keys).where(eq(keys.id, id)))),
    /** The ids of a key and of all keys below it. */
    subtree: async (key: KeyRow): Promise<string[]> => {
      const found = await db.read((q) =>
        rows(q.select({ id: keys.id }).from(keys).where(isBelow(key))),
      )
      return found.map(({ id }) => id)
    },
    /** A key and all keys below it. */
    below: (key: KeyRow): Promise<KeyRow[]> =>
      db.read((q) => rows(q.select().from(keys).where(isBelow(key)))),
    /** The key of each run of an account that has not ended, on any node. */
    runsInFlight: (account: string): Promise<{ keyId: string }[]> =>
      db.read((q) => {
        // Not counted here: a GROUP BY would read an index of all runs there ever were.
        const open = and(isNull(runs.finishedAt), isBeside(runs.accountId, account))
        return rows(q.select({ keyId: runs.keyId }).from(runs).where(open))
      }),
    windows: (wanted: { keyId: string; start: Millis }[]): Promise<WindowRow[]> =>
      db.read(function* (q) {
        // In process, where there is no round trip, a compiled look-up for each.
        if (db.exclusive) {
          const found: WindowRow[] = []
          for (const { keyId, start } of wanted) {
            found.push(...(yield* windowAt(db.tables, q, keyId, start)))
          }
          return found
        }
        const named = wanted.map(({ keyId, start }) =>
          and(eq(keyWindows.keyId, keyId), eq(keyWindows.windowStart, start)),
        )
        return yield* rows(
          q
            .select()
            .from(keyWindows)
            .where(or(...named)),
        )
      }),
    /** Which of these keys were revoked: asked for the runs in flight. */
    revokedAmong: (ids: string[]): Promise<{ id: string }[]> =>
      db.read((q) =>
        rows(
          q
            .select({ id: keys.id })
            .from(keys)
            .where(and(inArray(keys.id, ids), gt(keys.revokedAt, 0))),
        ),
      ),
    /** Notes a use; {@link KeyStore.writeUses} stores it within the minute. */
    noteUse: (keyId: string, at: Millis): void => void used.set(keyId, at),
    writeUses: async (): Promise<void> => {
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

const isOfKey = (keyId: string) => (caller: Caller) => caller.key.lineage.includes(keyId)
const isOfAccount = (account: string) => (caller: Caller) => caller.account === account

type Found = { caller: Caller; validUntil: Millis } | undefined
