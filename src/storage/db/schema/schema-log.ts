/** Tables of the log: leaves, checkpoints, signers, price lists, anchors, transactions. */
import { sql } from 'drizzle-orm'
import type { LeafKind } from '../../../verify/merkle.ts'
import type { Columns } from './columns.ts'

export function logTables(c: Columns) {
  /**
   * The logs of this database by age. Receipts go into the last one; those before were abandoned.
   * `start` is the place of its first leaf in log_leaves, so that an index in a log is a place
   * less its start.
   */
  const logs = c.table(
    'logs',
    {
      number: c.int('number').primaryKey(),
      /** The issuer of its receipts; `#2`, `#3`, … end those of reopened ones. */
      origin: c.text('origin').notNull(),
      start: c.ms('start').notNull(),
      openedAt: c.ms('opened_at').notNull(),
      /** Why the log before was abandoned; empty for the first. */
      reason: c.text('reason').notNull(),
    },
    (t) => [c.uniqueIndex('logs_by_origin').on(t.origin)],
  )

  /**
   * The leaves of all logs, one log behind the other: of each its kind and 32-byte hashes, its own
   * and those of the perfect subtrees that it completed. Never changed, never deleted.
   */
  const logLeaves = c.table(
    'log_leaves',
    {
      idx: c.ms('idx').primaryKey(),
      kind: c.int('kind').$type<LeafKind>().notNull(),
      hashes: c.bytes('hashes').notNull(),
      /** The run of a receipt's leaf; null for other leaves. */
      runId: c.text('run_id'),
    },
    // The place of a run, where its row does not hold it: not on SQLite.
    (t) =>
      c.onServer([c.index('log_leaves_by_run').on(t.runId).where(sql`${t.runId} is not null`)]),
  )

  /**
   * Ended runs that wait for their places in the log, a row for each batch that ended some. On
   * SQLite only while the log is closed.
   */
  const unnumberedBatches = c.table(
    'unnumbered_batches',
    {
      endedAt: c.ms('ended_at').notNull(),
      /** The first of its runs. */
      id: c.text('id').notNull(),
      runs: c.json<string[]>('runs').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.endedAt, t.id] })],
  )

  /** The signatures of receipts at consecutive places, 65 bytes each, one behind the other. */
  const receiptSignatures = c.table('receipt_signatures', {
    /** That of the first. */
    place: c.ms('place').primaryKey(),
    signature: c.bytes('signature').notNull(),
  })

  /** Signed heads of the log: a size and its root. Never changed, never deleted. */
  const logCheckpoints = c.table(
    'log_checkpoints',
    {
      issuer: c.text('issuer').notNull(),
      size: c.ms('size').notNull(),
      root: c.bytes('root').notNull(),
      timestamp: c.ms('timestamp').notNull(),
      signature: c.bytes('signature').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.issuer, t.size] })],
  )

  /** Signatures of witnesses on heads of the log. Never changed, never deleted. */
  const cosignatures = c.table(
    'cosignatures',
    {
      issuer: c.text('issuer').notNull(),
      /** The key of the witness: name+id. */
      witness: c.text('witness').notNull(),
      size: c.ms('size').notNull(),
      /** As the witness wrote it. */
      time: c.ms('time').notNull(),
      /** The bytes of its line behind the id of the key. */
      signature: c.bytes('signature').notNull(),
    },
    (t) => [
      c.primaryKey({ columns: [t.issuer, t.witness, t.size] }),
      c.index('cosignatures_by_size').on(t.issuer, t.size),
    ],
  )

  /** Every version of the prices that was ever charged. */
  const priceLists = c.table(
    'price_lists',
    {
      id: c.text('id').notNull(),
      version: c.int('version').notNull(),
      digest: c.text('digest').notNull(),
      content: c.text('content').notNull(),
      createdAt: c.ms('created_at').notNull(),
      /** The place of its leaf; null until it is logged. */
      logPlace: c.ms('log_place'),
    },
    (t) => [c.primaryKey({ columns: [t.id, t.version] })],
  )

  /**
   * The signers of a log, each for `fromIndex` ≤ index < `untilIndex`, without an end while that is
   * null. Each but the first was named by the signed rotation of the one before.
   */
  const signers = c.table(
    'signers',
    {
      issuer: c.text('issuer').notNull(),
      /** EIP-55. */
      address: c.text('address').notNull(),
      /** Uncompressed, as hex. */
      publicKey: c.text('public_key').notNull(),
      fromIndex: c.ms('from_index').notNull(),
      untilIndex: c.ms('until_index'),
      addedAt: c.ms('added_at').notNull(),
      /** The SignerRotation that named it, and the place of its leaf; null for the first. */
      previous: c.text('previous'),
      reason: c.text('reason').notNull(),
      signature: c.bytes('signature'),
      logPlace: c.ms('log_place'),
    },
    (t) => [c.primaryKey({ columns: [t.issuer, t.address] })],
  )

  /** A head of the log on its way to the chain. */
  const anchors = c.table(
    'anchors',
    {
      id: c.text('id').primaryKey(),
      issuer: c.text('issuer').notNull(),
      size: c.ms('size').notNull(),
      prevSize: c.ms('prev_size').notNull(),
      root: c.bytes('root').notNull(),
      status: c
        .text('status')
        .$type<'pending' | 'submitted' | 'confirmed' | 'final' | 'superseded' | 'failed'>()
        .notNull(),
      createdAt: c.ms('created_at').notNull(),
      nonce: c.ms('nonce'),
      submittedAt: c.ms('submitted_at'),
      txHash: c.text('tx_hash'),
      blockNumber: c.ms('block_number'),
      blockHash: c.text('block_hash'),
      blockTime: c.ms('block_time'),
      finalizedAt: c.ms('finalized_at'),
      error: c.text('error'),
    },
    (t) => [
      c.index('anchors_by_size').on(t.issuer, t.size),
      c
        .index('anchors_open')
        .on(t.id)
        .where(sql`${t.status} in ('pending', 'submitted', 'confirmed')`),
    ],
  )

  /** Signed transactions, stored before they are sent: what is on its way is never forgotten. */
  const chainTxs = c.table(
    'chain_txs',
    {
      hash: c.text('hash').primaryKey(),
      sender: c.text('sender').notNull(),
      nonce: c.ms('nonce').notNull(),
      purpose: c
        .text('purpose')
        .$type<'deploy' | 'open' | 'add_signer' | 'retire_signer' | 'anchor'>()
        .notNull(),
      /** The object of `purpose`: an anchor's id, a signer's address or a log's origin. */
      subject: c.text('subject').notNull(),
      raw: c.text('raw').notNull(),
      gas: c.ms('gas').notNull(),
      maxFeeWei: c.text('max_fee_wei').notNull(),
      priorityFeeWei: c.text('priority_fee_wei').notNull(),
      createdAt: c.ms('created_at').notNull(),
      sentAt: c.ms('sent_at'),
    },
    (t) => [
      c.index('chain_txs_by_subject').on(t.purpose, t.subject),
      c.index('chain_txs_by_nonce').on(t.sender, t.nonce),
    ],
  )

  return {
    logs,
    logLeaves,
    unnumberedBatches,
    receiptSignatures,
    logCheckpoints,
    cosignatures,
    priceLists,
    signers,
    anchors,
    chainTxs,
  }
}
