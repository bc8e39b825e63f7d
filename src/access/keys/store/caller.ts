/** Finds the caller of a secret, and caches callers until they change. */
import { eq, inArray } from 'drizzle-orm'
import type { Clock, Millis } from '../../../kernel/clock.ts'
import type { Nusd } from '../../../kernel/money.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { KeyRow } from '../../../storage/db/schema/schema.ts'
import { prepared, type Query, rows, type Work } from '../../../storage/db/sql/query-steps.ts'
import type { Plans } from '../../plan.ts'
import { rememberCallers } from '../caller-cache.ts'
import { type Caller, makeCaller } from '../key.ts'
import type { Callers } from '../keys.ts'

/** How long a caller is cached, in ms: a node may miss the notice of a revocation. */
const unsureMs = 1000
/** The lifetime if this process writes alone or sees other writes within milliseconds, in ms. */
const knownMs = 60_000
/** With less, an account may soon be empty, and its callers are treated otherwise then. */
const ampleBalance: Nusd = 1_000_000_000n

export function callers(
  db: Db,
  clock: Pick<Clock, 'now' | 'monotonic'>,
  plans: Pick<Plans, 'of' | 'since'>,
): Callers {
  const { keys, keySecrets, accounts } = db.tables
  const remembered = rememberCallers(clock)
  let changes = 0
  let plansSince = plans.since

  function* callerOf(q: Query, hash: string): Work<CachedCaller> {
    const [found] = yield* prepared('key_by_secret', { hash }, (v) =>
      q
        .select({
          key: keys,
          status: accounts.status,
          balance: accounts.balance,
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
    const { key, status, balance, validUntil, planUntil } = found
    const now = clock.now()
    const ancestors = key.lineage.slice(1)
    const above =
      ancestors.length === 0
        ? []
        : yield* rows(q.select().from(keys).where(inArray(keys.id, ancestors)))
    const chain = [key, ...ancestors.map((id) => above.find((row) => row.id === id))]
    if (!chain.every((row): row is KeyRow => row !== undefined)) {
      throw new Error(`key ${key.id} lacks an ancestor`)
    }
    const plan = plans.of(found, now)
    const suspended = status === 'suspended'
    const isEmpty = balance === 0n
    const caller = makeCaller({ account: key.accountId, suspended, isEmpty, plan, chain, key })
    const isSure = db.exclusive && balance >= ampleBalance
    return {
      caller,
      validUntil: validUntil ?? Number.POSITIVE_INFINITY,
      planUntil: planUntil !== null && planUntil > now ? planUntil : Number.POSITIVE_INFINITY,
      freshMs: isSure ? knownMs : unsureMs,
    }
  }

  const read = async (hash: string): Promise<Caller | undefined> => {
    const before = changes
    const readAt = clock.monotonic()
    const found = await db.read((q) => callerOf(q, hash))
    if (!found || found.validUntil <= clock.now()) return undefined
    // A row read before one of our changes must not be cached after it.
    if (before === changes) {
      const endsAt = Math.min(found.validUntil, found.planUntil)
      remembered.keep(hash, found.caller, endsAt, readAt + found.freshMs)
    }
    return found.caller
  }

  const drop = (isChanged: (caller: Caller) => boolean): void => {
    changes++
    remembered.drop(isChanged)
  }

  // The next connection may reach a database in an earlier or later state.
  db.onConnectionLost(() => drop(() => true))
  db.onForeignWrite(() => drop(() => true))

  /** Forgets all callers if another process wrote, or if other plans are on offer. */
  const notice = (): void => {
    db.noticeForeign()
    if (plans.since === plansSince) return
    plansSince = plans.since
    drop(() => true)
  }

  return {
    knownCaller(secret) {
      notice()
      return remembered.ofSecret(secret)
    },
    findCaller(hash) {
      notice()
      return remembered.ofHash(hash) ?? read(hash)
    },
    forget(keyId) {
      drop(isOfKey(keyId))
      void db.notices?.tell(`key ${keyId}`)
    },
    forgetAccount(account) {
      drop(isOfAccount(account))
      void db.notices?.tell(`account ${account}`)
    },
    forgetAll: () => drop(() => true),
    hear(notice) {
      const [what, id = ''] = notice.split(' ')
      if (what === 'key') drop(isOfKey(id))
      else if (what === 'account') drop(isOfAccount(id))
      else return false
      return true
    },
  }
}

const isOfKey = (keyId: string) => (caller: Caller) => caller.key.lineage.includes(keyId)
const isOfAccount = (account: string) => (caller: Caller) => caller.account === account

type CachedCaller =
  | { caller: Caller; validUntil: Millis; planUntil: Millis; freshMs: number }
  | undefined
