/** SQL of {@link Keys}. */
import { and, eq, gt, inArray, or } from 'drizzle-orm'
import type { Clock, Millis } from '../../kernel/clock.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import type { KeyRow, SecretRow, WindowRow } from '../../storage/db/schema/schema.ts'
import { keysOfBranch } from '../../storage/db/sql/branch-runs.ts'
import { isUnder } from '../../storage/db/sql/lineage.ts'
import { first, rows } from '../../storage/db/sql/query-steps.ts'
import { windowWithHolds } from '../../storage/holds/open-runs.ts'
import type { Plans } from '../plan.ts'
import { dayMs } from './key.ts'
import type { Keys } from './keys.ts'
import { callers } from './store/caller.ts'
import { keyUses } from './store/key-use.ts'
import { leftPausedKeys } from './store/left-paused.ts'
import { shownKeys, windowAt } from './store/shown-key.ts'
import { keySpending } from './store/spent-lately.ts'

export function keyStore(
  db: Db,
  clock: Pick<Clock, 'now' | 'monotonic'>,
  plans: Pick<Plans, 'of' | 'since'>,
): Keys {
  const { keys, keyWindows, keySecrets } = db.tables

  const isBelow = (key: KeyRow) => and(eq(keys.accountId, key.accountId), isUnder(keys, key.id))

  return {
    ...callers(db, clock, plans),
    ...shownKeys(db),
    ...keyUses(db),
    ...keySpending(db),
    ...leftPausedKeys(db),
    find: (id) => db.read((q) => first(q.select().from(keys).where(eq(keys.id, id)))),
    async ofLeakedSecret(hash, now) {
      const found = await db.read((q) =>
        first(
          q
            .select({ key: keys, secret: keySecrets })
            .from(keySecrets)
            .innerJoin(keys, eq(keys.id, keySecrets.keyId))
            .where(eq(keySecrets.hash, hash)),
        ),
      )
      return found && isLeakable(found.secret, found.key, now) ? found.key : undefined
    },
    async subtree(key) {
      const found = await db.read((q) =>
        rows(q.select({ id: keys.id }).from(keys).where(isBelow(key))),
      )
      return found.map(({ id }) => id)
    },
    ofBranch: async (branch) => (await db.read((q) => keysOfBranch(q, db.tables, branch))) ?? [],
    below: (key) => db.read((q) => rows(q.select().from(keys).where(isBelow(key)))),
    runsInFlight: (account) =>
      db.read(function* (q) {
        const { keyId, accountId } = db.tables.openRuns
        const stored = q.select({ keyId }).from(db.tables.openRuns).where(eq(accountId, account))
        const inMemory = [...db.open.all()].filter((run) => run.accountId === account)
        return [...inMemory.map(({ keyId }) => ({ keyId })), ...(yield* rows(stored))]
      }),
    windows: (wanted) =>
      db.read(function* (q) {
        // In process there is no round trip: a compiled look-up for each is faster.
        if (db.exclusive) {
          const found: WindowRow[] = []
          for (const { keyId, start } of wanted) {
            const [row] = yield* windowAt(db.tables, q, keyId, start)
            const unused = { keyId, windowStart: start, limit: 0n }
            const window = windowWithHolds(db.open, row, unused)
            if (window) found.push(window)
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
    stoppedAmong: async (ids) => {
      const isStopped = or(
        gt(keys.revokedAt, 0),
        and(eq(keys.pausedReason, 'brake'), eq(keys.brakeRunning, 'stop')),
      )
      const some = { id: keys.id, revokedAt: keys.revokedAt }
      const found = await db.read((q) =>
        rows(
          q
            .select(some)
            .from(keys)
            .where(and(inArray(keys.id, ids), isStopped)),
        ),
      )
      return found.map(({ id, revokedAt }) => ({
        id,
        reason: revokedAt === null ? 'brake' : 'key_revoked',
      }))
    },
  }
}

/** How long the leak of a secret that its key rotated away still pauses it. */
const leakableMs = 90 * dayMs

function isLeakable(
  { validUntil, selfRotated }: SecretRow,
  { leakAnsweredAt }: KeyRow,
  now: Millis,
): boolean {
  if (validUntil === null || validUntil > now) return true
  return selfRotated && validUntil > Math.max(now - leakableMs, leakAnsweredAt ?? 0)
}
