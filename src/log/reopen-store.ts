import { and, asc, desc, eq, gte, inArray, isNull } from 'drizzle-orm'
import { type Db, first, insert, rows, update } from '../db/db.ts'
import type { Millis } from '../kernel/clock.ts'
import { structDigest } from '../verify/eip712.ts'
import { leafKinds } from '../verify/merkle.ts'
import type { LogSpan } from './logs.ts'
import type { LogStore } from './store.ts'

export type Reopenings = ReturnType<typeof reopenings>

type Reopening = {
  /** For the audit. */
  id: string
  now: Millis
  previous: LogSpan
  origin: string
  head: { size: number; root: Uint8Array }
  reason: string
  signer: { address: string; publicKey: string; sign(digest: Uint8Array): Uint8Array }
}

/** The transaction that ends a log and opens the next. */
export function reopenings(db: Db, log: LogStore) {
  const { logs, runs, signers, anchors, logCheckpoints, auditEntries } = db.tables
  return {
    /** The newest head of a log that was on the chain or was signed, as the database has it. */
    knownHead: async (origin: string): Promise<{ size: number; root: Uint8Array } | undefined> => {
      const [anchor, checkpoint] = await db.read(function* (q) {
        const standing = inArray(anchors.status, ['confirmed', 'final'])
        const ofAnchors = and(eq(anchors.issuer, origin), standing)
        const ofLog = eq(logCheckpoints.issuer, origin)
        const anchored = q.select().from(anchors).where(ofAnchors).orderBy(desc(anchors.size))
        const signed = q.select().from(logCheckpoints).where(ofLog)
        const newest = signed.orderBy(desc(logCheckpoints.size))
        return [yield* first(anchored.limit(1)), yield* first(newest.limit(1))] as const
      })
      return anchor && anchor.size >= (checkpoint?.size ?? 0) ? anchor : checkpoint
    },
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
        const start = yield* appending.startAnew({ kind: leafKinds.reopening, digest })
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
