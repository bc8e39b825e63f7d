import { and, asc, desc, eq, gt, gte, inArray, isNotNull, isNull } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import type { Db } from '../../../storage/db/db.ts'
import {
  first,
  insert,
  type Query,
  rows,
  update,
  type Work,
} from '../../../storage/db/query-steps.ts'
import type { RunRow } from '../../../storage/db/schema.ts'
import { structDigest } from '../../../verify/eip712.ts'
import { leafKinds } from '../../../verify/merkle.ts'
import type { LogSpan } from '../logs.ts'
import type { LogStore } from '../store.ts'

export type Reopenings = ReturnType<typeof reopenings>

type Reopening = {
  /** For the audit. */
  id: string
  now: Millis
  previous: LogSpan
  origin: string
  head: { size: number; root: Uint8Array }
  reason: string
  /** Given where the old log may not grow: makes an ended run without a number one of the next. */
  reissue?: ((run: RunRow, issuer: string) => RunRow | undefined) | undefined
  signer: { address: string; publicKey: string; sign(digest: Uint8Array): Uint8Array }
}

/** Runs that are read and written at once. */
const pageRows = 500

/** The transaction that ends a log and opens the next. */
export function reopenings(db: Db, log: LogStore) {
  const { logs, runs, signers, anchors, auditEntries } = db.tables

  /** Lets the runs that wait for a number get one in the log that is opened. */
  function* moveWaiting(q: Query, { origin, reissue }: Reopening): Work<void> {
    const waits = and(isNull(runs.logPlace), isNotNull(runs.finishedAt))
    for (let after = ''; ; ) {
      const waiting = q
        .select()
        .from(runs)
        .where(and(waits, gt(runs.id, after)))
      const page: RunRow[] = yield* rows(waiting.orderBy(asc(runs.id)).limit(pageRows))
      const moved = page.flatMap((run) => reissue?.(run, origin) ?? [])
      yield* update(runs, moved, ['issuer', 'digest'])
      const last = page.at(-1)
      if (!last || page.length < pageRows) return
      after = last.id
    }
  }
  return {
    /** The newest head of a log that was on the chain, as the database has it. */
    anchored: (origin: string): Promise<{ size: number; root: Uint8Array } | undefined> =>
      db.read((q) => {
        const standing = inArray(anchors.status, ['confirmed', 'final'])
        const ofLog = and(eq(anchors.issuer, origin), standing)
        return first(q.select().from(anchors).where(ofLog).orderBy(desc(anchors.size)).limit(1))
      }),
    reopen: (wish: Reopening): Promise<void> =>
      log.change(function* (q, appending) {
        const { previous, origin, head, reason, signer, now } = wish
        const unsigned = and(gte(runs.logPlace, previous.start), isNull(runs.signature))
        const left = yield* rows(
          q.select({ id: runs.id, digest: runs.digest }).from(runs).where(unsigned),
        )
        const signed = left.flatMap(({ id, digest }) =>
          digest ? [{ id, signature: signer.sign(digest) }] : [],
        )
        for (let i = 0; i < signed.length; i += 500) {
          yield* update(runs, signed.slice(i, i + 500), ['signature'])
        }
        const abandoned = { previousSize: head.size, previousRoot: head.root }
        const statement = { issuer: origin, previous: previous.origin, ...abandoned, reason }
        const digest = structDigest('LogReopening', statement)
        if (wish.reissue) yield* moveWaiting(q, wish)
        const start = yield* appending.startAnew({ kind: leafKinds.reopening, digest })
        if (wish.reissue) yield* appending.numberWaiting()
        const all = yield* rows(q.select().from(logs).orderBy(asc(logs.number)))
        const number = all.length + 1
        yield* insert(logs, [{ number, origin, start, openedAt: now, reason }])
        const { address, publicKey } = signer
        const range = { fromIndex: 0, untilIndex: null, addedAt: now }
        const unnamed = { previous: null, reason: '', signature: null, logPlace: null }
        yield* insert(signers, [{ issuer: origin, address, publicKey, ...range, ...unnamed }])
        const detail = { previous: previous.origin, anchored_size: head.size, reason }
        const who = { actor: 'operator', action: 'log.reopen', accountId: '', subject: origin }
        yield* insert(auditEntries, [{ id: wish.id, at: now, ...who, detail }])
      }),
  }
}
