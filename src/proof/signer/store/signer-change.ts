/** The transactions that end one signer's range and begin the next: all of it or nothing. */
import { and, eq, gt } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import { toHex } from '../../../kernel/hex.ts'
import { refuse } from '../../../kernel/refusal.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { CheckpointRow, SignerRow } from '../../../storage/db/schema/schema.ts'
import { writeFact } from '../../../storage/db/sql/facts.ts'
import { insert, type Query, rows, update, type Work } from '../../../storage/db/sql/query-steps.ts'
import { structDigest } from '../../../verify/eip712.ts'
import { leafKinds } from '../../../verify/merkle.ts'
import type { LogSpan } from '../../log/logs.ts'
import { addCheckpoint, againFact } from '../../log/store/checkpoint.ts'
import { firstUnsigned, signReceipts } from '../../log/store/sign-receipts.ts'
import type { AppendedLeaf, Appending, LogStore } from '../../log/store.ts'
import { rootOf } from '../../log/tree.ts'
import type { Signer } from '../signer.ts'

/** A change of the key that signs the current log. */
export type Change = {
  log: LogSpan
  previous: SignerRow
  /** The key of `previous`; undefined if it is lost. */
  old: Signer | undefined
  next: Signer
  reason: string
  now: Millis
  /** For the audit. */
  id: string
}

export type SignerChange = { fromIndex: number; logIndex: number }

export function signerChanges(db: Db, log: LogStore) {
  const { logCheckpoints, signers, auditEntries } = db.tables

  /** Logs the statement that names the next signer. */
  function* appendStatement(
    appending: Appending,
    change: Change,
    fromIndexAt: (index: number) => number,
  ): Work<AppendedLeaf & { fromIndex: number }> {
    const { previous, next, reason, old } = change
    const { issuer } = previous
    let digest: Uint8Array = new Uint8Array()
    let fromIndex = 0
    const appended = yield* appending.append((index) => {
      fromIndex = fromIndexAt(index)
      const named = { previous: previous.address, next: next.address }
      digest = structDigest('SignerRotation', { issuer, ...named, fromIndex, reason })
      return [{ kind: leafKinds.signerRotation, digest }]
    })
    const row = {
      issuer,
      address: next.address,
      publicKey: next.publicKey,
      fromIndex,
      untilIndex: null,
      addedAt: change.now,
      previous: previous.address,
      reason,
      signature: old?.sign(digest) ?? null,
      logPlace: appended.place,
    }
    yield* update(signers, [{ ...previous, untilIndex: fromIndex }], ['untilIndex'])
    yield* insert(signers, [row])
    return { ...appended, fromIndex }
  }

  function* addAudit(change: Change, action: string, fromIndex: number): Work<void> {
    const { id, now: at, previous, next, reason } = change
    const detail = { previous: previous.address, from_index: fromIndex, reason }
    const who = { actor: 'operator', action, accountId: '', subject: next.address }
    yield* insert(auditEntries, [{ id, at, ...who, detail }])
  }

  /** Signs the head of the log as it stands in this transaction. */
  const signHead = (q: Query, by: Signer, change: Change, { frontier }: AppendedLeaf) => {
    const head = { issuer: change.log.origin, size: frontier.size, root: rootOf(frontier) }
    const checkpoint = { ...head, timestamp: change.now }
    const signature = by.sign(structDigest('Checkpoint', checkpoint))
    return addCheckpoint(db, q, { ...checkpoint, signature })
  }

  return {
    /** The old key signs everything logged so far and, as its last leaf, its successor's name. */
    rotate: (change: Change & { old: Signer }): Promise<SignerChange> =>
      log.change(function* (q, appending) {
        yield* appending.numberWaiting()
        const added = yield* appendStatement(appending, change, (index) => index + 1)
        const from = change.log.start + change.previous.fromIndex
        const span = { from, before: added.place, which: 'unsigned' } as const
        yield* signReceipts(db, q, span, change.old)
        yield* signHead(q, change.old, change, added)
        yield* addAudit(change, 'signer.rotate', added.fromIndex)
        return { fromIndex: added.fromIndex, logIndex: added.index }
      }),
    /**
     * The next key signs everything from an index on in place of the old one.
     * @throws Refusal `invalid_request` for an index outside the old key's range, `conflict` if a
     * receipt below it was never signed and the old key is lost.
     */
    revoke: (change: Change, fromIndex: number): Promise<SignerChange> =>
      log.change(function* (q, appending) {
        const { old, next, previous } = change
        const { origin: issuer, start } = change.log
        yield* appending.numberWaiting()
        const added = yield* appendStatement(appending, change, (size) => {
          assertWithin(fromIndex, previous.fromIndex + 1, size)
          return fromIndex
        })
        const kept = { from: start + previous.fromIndex, before: start + fromIndex }
        const taken = { from: kept.before, before: added.place, which: 'all' } as const
        if (old) yield* signReceipts(db, q, { ...kept, which: 'unsigned' }, old)
        else assertSigned(yield* firstUnsigned(db, q, kept), start)
        yield* signReceipts(db, q, taken, next)
        const beyond = and(eq(logCheckpoints.issuer, issuer), gt(logCheckpoints.size, fromIndex))
        const again: CheckpointRow[] = yield* rows(q.select().from(logCheckpoints).where(beyond))
        for (const { signature: _, ...checkpoint } of again) {
          const signature = toHex(next.sign(structDigest('Checkpoint', checkpoint)))
          yield* writeFact(db, againFact(issuer, checkpoint.size), signature)
        }
        yield* signHead(q, next, change, added)
        yield* addAudit(change, 'signer.revoke', fromIndex)
        return { fromIndex, logIndex: added.index }
      }),
  }
}

function assertSigned(lost: number | undefined, start: number): void {
  if (lost === undefined) return
  const index = lost - start
  const message = `The receipt with index ${index} was never signed, and the old key is missing.`
  refuse('conflict', `${message} Restore the key, or revoke from ${index} on.`)
}

function assertWithin(fromIndex: number, least: number, most: number): void {
  if (fromIndex >= least && fromIndex <= most) return
  const message =
    least > most
      ? 'The key has signed nothing that could be revoked. Rotate it instead.'
      : `The current key can be revoked from an index between ${least} and ${most}.`
  refuse('invalid_request', { message, param: 'from-index' })
}
