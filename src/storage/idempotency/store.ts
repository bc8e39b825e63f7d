import { eq, inArray, lte } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import type { Db } from '../db/db.ts'
import { first, type Query, rows, type Work } from '../db/query-steps.ts'
import type { IdempotentRow, Tables } from '../db/schema.ts'

export type CallStore = ReturnType<typeof callStore>

/** Answers forgotten in one transaction; settles wait for it. */
const dropBatch = 500

/** The calls that were made with an Idempotency-Key. The ledger writes them, beside the money. */
export function callStore({ tables: { idempotentCalls }, ...db }: Db) {
  return {
    /** What is there of a call, also when it ran out. */
    find: (scope: string): Promise<IdempotentRow | undefined> =>
      db.read((q) =>
        first(q.select().from(idempotentCalls).where(eq(idempotentCalls.scope, scope))),
      ),
    /** Forgets what was kept long enough. */
    dropPast: async (now: Millis): Promise<void> => {
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

/** Lets the calls that began these runs be made again, in the caller's transaction. */
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

/** Takes the answer of a run from its call, which stays made, in the caller's transaction. */
export function* forgetReply(
  q: Query,
  { idempotentCalls }: Pick<Tables, 'idempotentCalls'>,
  runId: string,
): Work<void> {
  const scope = { scope: idempotentCalls.scope }
  const taken = q.update(idempotentCalls).set({ reply: new Uint8Array() })
  yield* rows(taken.where(eq(idempotentCalls.runId, runId)).returning(scope))
}
