/** The transaction that ends a log and opens the next. */
import { and, asc, desc, eq, inArray } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import { toHex } from '../../../kernel/hex.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import { runColumns } from '../../../storage/db/schema/run-columns.ts'
import type { EndedRun } from '../../../storage/db/schema/schema.ts'
import {
  first,
  insert,
  type Query,
  rows,
  update,
  type Work,
} from '../../../storage/db/sql/query-steps.ts'
import { unnumberedIds } from '../../../storage/db/sql/unnumbered.ts'
import { structDigest } from '../../../verify/eip712.ts'
import { leafKinds } from '../../../verify/merkle.ts'
import type { LogSpan } from '../logs.ts'
import type { LogStore } from '../store.ts'
import { signReceipts } from './sign-receipts.ts'

export type Reopenings = {
  /** The newest anchored head of a log, according to the database. */
  anchored(origin: string): Promise<{ size: number; root: Uint8Array } | undefined>
  reopen(wish: Reopening): Promise<void>
}

type Reopening = {
  /** For the audit. */
  id: string
  now: Millis
  previous: LogSpan
  origin: string
  head: { size: number; root: Uint8Array }
  reason: string
  /** Moves an ended run without a number to the next log; given if the old one may not grow. */
  reissue?: ((run: EndedRun, issuer: string) => EndedRun | undefined) | undefined
  signer: { address: string; publicKey: string; sign(digest: Uint8Array): Uint8Array }
}

/** Runs read and written in one step. */
const pageRows = 500

export function reopenings(db: Db, log: LogStore): Reopenings {
  const { logs, runs, signers, anchors, auditEntries } = db.tables

  /** Moves waiting runs to the new log. */
  function* moveWaiting(q: Query, { origin, reissue }: Reopening): Work<void> {
    const ids = yield* unnumberedIds(db, q)
    for (let at = 0; at < ids.length; at += pageRows) {
      const some = inArray(runs.id, ids.slice(at, at + pageRows))
      const page: EndedRun[] = yield* rows(q.select(runColumns(db)).from(runs).where(some))
      const moved = page.flatMap((run) => reissue?.(run, origin) ?? [])
      yield* update(runs, moved, ['issuer', 'digest'])
    }
  }
  return {
    anchored: (origin) =>
      db.read((q) => {
        const onChain = inArray(anchors.status, ['confirmed', 'final'])
        const ofLog = and(eq(anchors.issuer, origin), onChain)
        return first(q.select().from(anchors).where(ofLog).orderBy(desc(anchors.size)).limit(1))
      }),
    reopen: (wish) =>
      log.change(function* (q, appending) {
        const { previous, origin, head, reason, signer, now } = wish
        const abandoned = { previousSize: head.size, previousRoot: head.root }
        const statement = { issuer: origin, previous: previous.origin, ...abandoned, reason }
        const digest = structDigest('LogReopening', statement)
        if (wish.reissue) yield* moveWaiting(q, wish)
        const start = yield* appending.startNext({ kind: leafKinds.reopening, digest })
        const unsigned = { from: previous.start, before: start, which: 'unsigned' } as const
        yield* signReceipts(db, q, unsigned, signer)
        if (wish.reissue) yield* appending.numberWaiting()
        const all = yield* rows(q.select().from(logs).orderBy(asc(logs.number)))
        const number = all.length + 1
        yield* insert(logs, [{ number, origin, start, openedAt: now, reason }])
        const { address, publicKey } = signer
        const range = { fromIndex: 0, untilIndex: null, addedAt: now }
        const unnamed = { previous: null, reason: '', signature: null, logPlace: null }
        yield* insert(signers, [{ issuer: origin, address, publicKey, ...range, ...unnamed }])
        const anchored = { anchored_size: head.size, anchored_root: toHex(head.root) }
        const detail = { previous: previous.origin, ...anchored, reason }
        const who = { actor: 'operator', action: 'log.reopen', accountId: '', subject: origin }
        yield* insert(auditEntries, [{ id: wish.id, at: now, ...who, detail }])
      }),
  }
}
