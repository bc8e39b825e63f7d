/** Finds the digests of leaves other than receipts, from the rows that were logged. */
import { and, eq, inArray } from 'drizzle-orm'
import { sha256 } from '../../../kernel/hash.ts'
import { fromHex, type Hex, toHex } from '../../../kernel/hex.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import { type Query, rows, type Work } from '../../../storage/db/sql/query-steps.ts'
import { structDigest } from '../../../verify/eip712.ts'
import { type LeafKind, leafHash, leafKinds } from '../../../verify/merkle.ts'
import type { LogSpan } from '../logs.ts'

/** A leaf whose digest is wanted, by its place among those of all logs. */
export type MissingLeaf = { idx: number; kind: LeafKind }

/** Digests by their leaf hashes: also of other leaves, and perhaps not of all that lack one. */
export function* otherDigests(
  db: Db,
  q: Query,
  log: LogSpan,
  lacking: readonly MissingLeaf[],
): Work<Map<Hex, Uint8Array>> {
  const found = new Map<Hex, Uint8Array>()
  const kinds = new Set(lacking.map(({ kind }) => kind))
  const note = (kind: LeafKind, digests: readonly Uint8Array[]): void => {
    for (const digest of digests) found.set(toHex(leafHash(kind, digest)), digest)
  }
  if (kinds.has(leafKinds.priceList)) note(leafKinds.priceList, yield* priceDigests(db, q))
  if (kinds.has(leafKinds.signerRotation)) {
    note(leafKinds.signerRotation, yield* rotationDigests(db, q, log))
  }
  if (kinds.has(leafKinds.passportStatement)) {
    const places = lacking.filter(({ kind }) => kind === leafKinds.passportStatement)
    const { passportStatements: statements } = db.tables
    const wanted = inArray(
      statements.logPlace,
      places.map(({ idx }) => idx),
    )
    const read = q.select({ digest: statements.digest }).from(statements).where(wanted)
    note(
      leafKinds.passportStatement,
      (yield* rows(read)).map(({ digest }) => digest),
    )
  }
  if (kinds.has(leafKinds.liabilities)) {
    const places = lacking.filter(({ kind }) => kind === leafKinds.liabilities)
    note(leafKinds.liabilities, yield* liabilityDigests(db, q, places))
  }
  if (kinds.has(leafKinds.upstreamEvidence)) {
    const places = lacking.filter(({ kind }) => kind === leafKinds.upstreamEvidence)
    note(leafKinds.upstreamEvidence, yield* evidenceDigests(db, q, places))
  }
  if (kinds.has(leafKinds.reopening)) {
    note(leafKinds.reopening, yield* reopeningDigests(db, q, log))
  }
  return found
}

/** The digests of every price list: a reopened log holds them again, at other places. */
function* priceDigests(db: Db, q: Query): Work<Uint8Array[]> {
  const lists = yield* rows(q.select().from(db.tables.priceLists))
  return lists.map(({ id, version, content }) =>
    structDigest('PriceList', { id, version, content: sha256(content) }),
  )
}

function* liabilityDigests(db: Db, q: Query, lacking: readonly MissingLeaf[]): Work<Uint8Array[]> {
  const { liabilities } = db.tables
  const places = lacking.map(({ idx }) => idx)
  const wanted = inArray(liabilities.logPlace, places)
  const read = q.select({ digest: liabilities.digest }).from(liabilities).where(wanted)
  return (yield* rows(read)).map(({ digest }) => fromHex(digest))
}

function* evidenceDigests(db: Db, q: Query, lacking: readonly MissingLeaf[]): Work<Uint8Array[]> {
  const { upstreamEvidence } = db.tables
  const places = lacking.map(({ idx }) => idx)
  const wanted = inArray(upstreamEvidence.logPlace, places)
  const read = q.select({ digest: upstreamEvidence.digest }).from(upstreamEvidence).where(wanted)
  return (yield* rows(read)).flatMap(({ digest }) => (digest ? [digest] : []))
}

function* rotationDigests(db: Db, q: Query, { origin: issuer }: LogSpan): Work<Uint8Array[]> {
  const { signers } = db.tables
  const named = yield* rows(q.select().from(signers).where(eq(signers.issuer, issuer)))
  return named.flatMap(({ previous, address: next, fromIndex, reason }) =>
    previous === null
      ? []
      : [structDigest('SignerRotation', { issuer, previous, next, fromIndex, reason })],
  )
}

/** That of the reopening which began a log, from what the audit noted of it. */
function* reopeningDigests(db: Db, q: Query, { origin }: LogSpan): Work<Uint8Array[]> {
  const { auditEntries: audits } = db.tables
  const reopened = and(eq(audits.action, 'log.reopen'), eq(audits.subject, origin))
  const found = yield* rows(q.select().from(audits).where(reopened))
  return found.map(({ detail }) => {
    const { previous, anchored_size: previousSize, anchored_root, reason } = detail as ReopeningText
    const head = { previousSize, previousRoot: fromHex(anchored_root) }
    return structDigest('LogReopening', { issuer: origin, previous, ...head, reason })
  })
}

/** The detail of an audit row. */
type ReopeningText = { previous: string; anchored_size: number; anchored_root: Hex; reason: string }
