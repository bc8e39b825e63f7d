/** Stores the calls that were made with an Idempotency-Key. */
import { eq, inArray, lte } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import type { Db } from '../db/engine/db.ts'
import type { IdempotentRow, Tables } from '../db/schema/schema.ts'
import { findRows, type Query, rows, type Work } from '../db/sql/query-steps.ts'

/** Calls made with an Idempotency-Key. The ledger writes them, with the money. */
export type CallStore = {
  /** A call by its scope, even an expired one. */
  find(scope: string): Promise<IdempotentRow | undefined>
  /** Deletes expired calls. */
  dropPast(now: Millis): Promise<void>
}

/** Answers deleted in one transaction: ending runs wait for it. */
const dropBatch = 500

export function callStore({ tables: { idempotentCalls }, ...db }: Db): CallStore {
  return {
    find: async (scope) => {
      // An open run in memory has no row yet, and no answer before its end.
      const begun = db.open.call(scope)
      if (begun) return begun
      return (await db.read(() => findRows(idempotentCalls, { scope: [scope] })))[0]
    },
    dropPast: async (now) => {
      const drop = () =>
        db.write(function* (q) {
          const named = { scope: idempotentCalls.scope }
          const past = q.select(named).from(idempotentCalls).where(lte(idempotentCalls.until, now))
          const due = (yield* rows(past.limit(dropBatch))).map(({ scope }) => scope)
          if (due.length === 0) return 0
          const all = inArray(idempotentCalls.scope, due)
          yield* rows(q.delete(idempotentCalls).where(all).returning(named))
          return due.length
        })
      while ((await drop()) === dropBatch);
    },
  }
}

/** Deletes the calls that began these runs, so that they can be repeated. */
export function* freeCalls(
  q: Query,
  { idempotentCalls }: Pick<Tables, 'idempotentCalls'>,
  runIds: readonly string[],
): Work<void> {
  if (runIds.length === 0) return
  const named = inArray(idempotentCalls.runId, [...runIds])
  const scope = { scope: idempotentCalls.scope }
  yield* rows(q.delete(idempotentCalls).where(named).returning(scope))
}

/** Erases the answer of a run's call; the call itself stays made. */
export function* forgetReply(
  q: Query,
  { idempotentCalls }: Pick<Tables, 'idempotentCalls'>,
  runId: string,
): Work<void> {
  const scope = { scope: idempotentCalls.scope }
  const taken = q.update(idempotentCalls).set({ reply: new Uint8Array() })
  yield* rows(taken.where(eq(idempotentCalls.runId, runId)).returning(scope))
}
