import { and, asc, eq, gt, inArray, lte } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Json } from '../../kernel/canonical.ts'
import type { Clock, Millis } from '../../kernel/clock.ts'
import type { Db } from '../db/db.ts'
import { first, insert, lockedRows, type Query, rows, type Work } from '../db/query-steps.ts'
import type { AuditRow, Tables } from '../db/schema.ts'
import { type Retention, retentionMs } from './retention.ts'

export type TextStore = ReturnType<typeof textStore>

/** What a run was given and what came out, as its receipt commits to them. */
export type Texts = { input: Json; output: Json | null }
export type RunText = Texts & { runId: string; accountId: string }

/** How long a retention may be answered from memory: another process may have changed it. */
const rememberedMs = 1000
/** For so many accounts; room is taken as they come. */
const room = { maxSize: 10_000, sizeCalculation: () => 1 }

/** Texts deleted in one transaction; settles wait for it. */
const dropBatch = 50

export function textStore(db: Db, clock: Pick<Clock, 'now' | 'monotonic'>) {
  const { accountSettings, runTexts } = db.tables
  const remembered = new LRUCache<string, { retention: Retention; readAt: number }>(room)
  db.onConnectionLost(() => remembered.clear())
  /** What an earlier process deleted may still stand in the files. */
  let isScrubbed = false

  const read = async (account: string): Promise<Retention> => {
    const readAt = clock.monotonic()
    const row = await db.read((q) =>
      first(q.select().from(accountSettings).where(eq(accountSettings.accountId, account))),
    )
    const retention = row?.retention ?? 'none'
    remembered.set(account, { retention, readAt })
    return retention
  }

  /** Deletes batch by batch what `due` names, and returns how many there were. */
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

  /** Takes deleted bytes out of the files; what a reader holds up is tried again by the job. */
  const scrub = async (): Promise<void> => {
    isScrubbed = false
    isScrubbed = await db.scrub()
  }

  return {
    scrub,
    /** How long an account's texts are kept; at once when it was asked within the last second. */
    retentionOf(account: string): Retention | Promise<Retention> {
      const known = remembered.get(account)
      // Not by the time of day: a clock that is set back comes to the same time again.
      const isFresh = known && clock.monotonic() - known.readAt < rememberedMs
      return isFresh ? known.retention : read(account)
    },
    /** Of how many runs an account's texts are kept beyond a moment; `most` if there are more. */
    countBeyond: async (account: string, moment: Millis, most: number): Promise<number> => {
      const { runId, accountId, until } = runTexts
      const kept = and(eq(accountId, account), gt(until, moment))
      const found = await db.read((q) =>
        rows(q.select({ runId }).from(runTexts).where(kept).limit(most)),
      )
      return found.length
    },
    setRetention: async (
      account: string,
      retention: Retention,
      now: Millis,
      auditOf: (before: Retention) => AuditRow,
    ): Promise<void> => {
      await db.write(function* (q) {
        const fresh = { accountId: account, retention: 'none', consoleKeyId: null } as const
        yield* rows(q.insert(accountSettings).values(fresh).onConflictDoNothing().returning())
        const named = eq(accountSettings.accountId, account)
        const [row] = yield* lockedRows(q.select().from(accountSettings).where(named))
        if (!row || row.retention === retention) return
        yield* rows(q.update(accountSettings).set({ retention }).where(named).returning())
        const until = now + retentionMs[retention]
        const longer = and(eq(runTexts.accountId, account), gt(runTexts.until, until))
        const shown = { runId: runTexts.runId }
        if (retention !== 'none') {
          yield* rows(q.update(runTexts).set({ until }).where(longer).returning(shown))
        }
        yield* insert(db.tables.auditEntries, [auditOf(row.retention)])
      })
      remembered.delete(account)
    },
    /** Deletes all texts of an account, and what of them is left in the files. */
    dropAll: async (account: string): Promise<void> => {
      await drop((q) => dueOf(q, eq(runTexts.accountId, account)))
      await scrub()
    },
    /** Deletes the texts that were kept long enough. */
    dropPast: async (now: Millis): Promise<void> => {
      const dropped = await drop((q) => dueOf(q, lte(runTexts.until, now)))
      if (dropped > 0 || !isScrubbed) await scrub()
    },
    /** The texts of a run, where they are kept. */
    find: (runId: string): Promise<Texts | undefined> =>
      db.read((q) => {
        const kept = and(eq(runTexts.runId, runId), gt(runTexts.until, clock.now()))
        const shown = { input: runTexts.input, output: runTexts.output }
        return first(q.select(shown).from(runTexts).where(kept))
      }),
  }
}

/**
 * Keeps the texts of runs in the transaction that ends them, of the accounts that want it at this
 * moment: a retention that was taken back meanwhile holds for the runs in flight too.
 */
export function* keepTexts(
  q: Query,
  { accountSettings, runTexts }: Tables,
  texts: readonly RunText[],
  now: Millis,
): Work<void> {
  if (texts.length === 0) return
  const accounts = [...new Set(texts.map(({ accountId }) => accountId))]
  const named = inArray(accountSettings.accountId, accounts)
  const ordered = q
    .select()
    .from(accountSettings)
    .where(named)
    .orderBy(asc(accountSettings.accountId))
  const retentionOf = new Map<string, Retention>()
  for (const row of yield* lockedRows(ordered)) retentionOf.set(row.accountId, row.retention)
  const kept = texts.flatMap((text) => {
    const retention = retentionOf.get(text.accountId) ?? 'none'
    return retention === 'none' ? [] : [{ ...text, until: now + retentionMs[retention] }]
  })
  yield* insert(runTexts, kept)
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
