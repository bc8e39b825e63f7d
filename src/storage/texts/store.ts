/** Stores the texts of runs and the retention of accounts. */
import { and, eq, gt, inArray, lte } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Json } from '../../kernel/canonical.ts'
import type { Clock, Millis } from '../../kernel/clock.ts'
import type { Db } from '../db/engine/db.ts'
import type { AuditRow, Tables } from '../db/schema/schema.ts'
import {
  first,
  insert,
  lockedRows,
  prepared,
  type Query,
  rows,
  type Work,
} from '../db/sql/query-steps.ts'
import { dropItemsOf } from '../responses/store.ts'
import { type Retention, retentionMs } from './retention.ts'

/** The kept texts of runs, and how long each account keeps them. */
export type TextStore = {
  /** Takes deleted bytes out of the files; the job retries what a reader holds up. */
  scrub(): Promise<void>
  /** How long an account keeps texts; mostly synchronous after a read. */
  retentionOf(account: string): Retention | Promise<Retention>
  /** False for an account that asked to keep nothing; as fresh as {@link retentionOf}. */
  keepsResponses(account: string): boolean | Promise<boolean>
  /** Counts the account's runs whose texts are kept beyond `moment`, up to `most`. */
  countBeyond(account: string, moment: Millis, most: number): Promise<number>
  /**
   * Sets the retention, shortens what is kept already, and adds the audit entry if it changed. With
   * `none` nothing is kept of responses either.
   */
  setRetention(
    account: string,
    retention: Retention,
    now: Millis,
    auditOf: (before: Retention) => AuditRow,
  ): Promise<void>
  /** Deletes all texts of an account, in the files too, and what is kept of its responses. */
  dropAll(account: string): Promise<void>
  /** Deletes expired texts. */
  dropPast(now: Millis): Promise<void>
  /** The texts of a run; undefined unless they are kept. */
  find(runId: string): Promise<Texts | undefined>
}

/** The input and output of a run, as its receipt commits to them. */
export type Texts = { input: Json; output: Json | null }
export type RunText = Texts & { runId: string; accountId: string }

/** The choices of an account: the texts of its runs, and responses for a next turn. */
type RetentionSettings = { retention: Retention; responses: boolean }

/** How long a retention is cached, in ms, where another process may change it unseen. */
const rememberedMs = 1000
const room = { maxSize: 10_000, sizeCalculation: () => 1 }

/** Texts deleted in one transaction: ending runs wait for it. */
const dropBatch = 50

export function textStore(db: Db, clock: Pick<Clock, 'now' | 'monotonic'>): TextStore {
  const { accountSettings, runTexts } = db.tables
  const remembered = new LRUCache<string, RetentionSettings & { readAt: number }>(room)
  /** False at a start: the files may still hold what an earlier process deleted. */
  let isScrubbed = false
  let changes = 0
  const forgetAll = (): void => {
    changes++
    remembered.clear()
  }
  db.onConnectionLost(forgetAll)
  db.onForeignWrite(forgetAll)

  const read = async (account: string): Promise<RetentionSettings> => {
    const before = changes
    const readAt = clock.monotonic()
    const [row] = await db.read((q) =>
      prepared('retention_of', { account }, (v) =>
        q.select().from(accountSettings).where(eq(accountSettings.accountId, v.account)),
      ),
    )
    const kept = { retention: row?.retention ?? 'none', responses: row?.keepsResponses !== false }
    // Read before one of our changes, it must not be cached after it.
    if (before === changes) remembered.set(account, { ...kept, readAt })
    return kept
  }

  const freshOf = (account: string): RetentionSettings | undefined => {
    db.noticeForeign()
    const known = remembered.get(account)
    if (!known || db.exclusive) return known
    // Not the wall clock, which can be set back.
    return clock.monotonic() - known.readAt < rememberedMs ? known : undefined
  }

  /** Deletes what `due` selects in batches; returns the count. */
  const drop = async (due: (q: Query) => ReturnType<typeof dueOf>): Promise<number> => {
    let dropped = 0
    for (;;) {
      const count = await db.write(function* (q) {
        const ids = (yield* rows(due(q).limit(dropBatch))).map(({ runId }) => runId)
        yield* forgetTexts(q, db.tables, ids)
        return ids.length
      })
      dropped += count
      if (count < dropBatch) return dropped
    }
  }
  const dueOf = (q: Query, condition: ReturnType<typeof eq>) =>
    q.select({ runId: runTexts.runId }).from(runTexts).where(condition)

  const scrub = async (): Promise<void> => {
    isScrubbed = false
    isScrubbed = await db.scrub()
  }

  return {
    scrub,
    retentionOf(account) {
      const known = freshOf(account)
      return known ? known.retention : read(account).then(({ retention }) => retention)
    },
    keepsResponses(account) {
      const known = freshOf(account)
      return known ? known.responses : read(account).then(({ responses }) => responses)
    },
    countBeyond: async (account, moment, most) => {
      const { runId, accountId, until } = runTexts
      const kept = and(eq(accountId, account), gt(until, moment))
      const found = await db.read((q) =>
        rows(q.select({ runId }).from(runTexts).where(kept).limit(most)),
      )
      return found.length
    },
    setRetention: async (account, retention, now, auditOf) => {
      await db.write(function* (q) {
        const fresh = {
          accountId: account,
          retention: 'none',
          consoleKeyId: null,
          keepsResponses: null,
        } as const
        yield* rows(q.insert(accountSettings).values(fresh).onConflictDoNothing().returning())
        const named = eq(accountSettings.accountId, account)
        const [row] = yield* lockedRows(q.select().from(accountSettings).where(named))
        const keepsResponses = retention !== 'none'
        const isSame = row?.retention === retention && row.keepsResponses === keepsResponses
        if (!row || isSame) return
        const chosen = { retention, keepsResponses }
        yield* rows(q.update(accountSettings).set(chosen).where(named).returning())
        const until = now + retentionMs[retention]
        const longer = and(eq(runTexts.accountId, account), gt(runTexts.until, until))
        const shown = { runId: runTexts.runId }
        if (retention !== 'none') {
          yield* rows(q.update(runTexts).set({ until }).where(longer).returning(shown))
        }
        yield* insert(db.tables.auditEntries, [auditOf(row.retention)])
      })
      changes++
      remembered.delete(account)
    },
    dropAll: async (account) => {
      await dropItemsOf(db, account)
      await drop((q) => dueOf(q, eq(runTexts.accountId, account)))
      await scrub()
    },
    dropPast: async (now) => {
      const dropped = await drop((q) => dueOf(q, lte(runTexts.until, now)))
      if (dropped > 0 || !isScrubbed) await scrub()
    },
    find: (runId) =>
      db.read((q) => {
        const kept = and(eq(runTexts.runId, runId), gt(runTexts.until, clock.now()))
        const shown = { input: runTexts.input, output: runTexts.output }
        return first(q.select(shown).from(runTexts).where(kept))
      }),
  }
}

/** Deletes the texts of runs in the caller's transaction. */
export function* forgetTexts(
  q: Query,
  { runTexts }: Pick<Tables, 'runTexts'>,
  runIds: readonly string[],
): Work<void> {
  if (runIds.length === 0) return
  const named = inArray(runTexts.runId, [...runIds])
  yield* rows(q.delete(runTexts).where(named).returning({ runId: runTexts.runId }))
}
