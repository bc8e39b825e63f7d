/** Tables of promises and statements: quotes, liabilities, evidence of upstreams. */
import { sql } from 'drizzle-orm'
import type { EvidenceFault } from '../../../verify/evidence-schemes.ts'
import type { Liabilities } from '../../../verify/liabilities.ts'
import type { Quote } from '../../../verify/quote.ts'
import type { Columns } from './columns.ts'

/** Why there is no evidence, or not yet. */
export type EvidenceReason =
  | EvidenceFault
  /** The upstream has none of this answer, or does not answer. */
  | 'not_found'
  | 'unreachable'
  | 'failed'
  /** It served more than a document has. */
  | 'too_large'
  /** It signed with a key that the configuration does not name. */
  | 'unknown_key'
  /** Its answer broke off, or had no id to ask by. */
  | 'not_whole'
  | 'no_id'
  /** The process ended before the hash of the answer was stored. */
  | 'lost'
  /** The configuration does not name the upstream any more. */
  | 'unconfigured'
  /** A new log was opened after the run. */
  | 'reopened'
  /** The texts of the receipt were erased. */
  | 'erased'

export function promiseTables(c: Columns) {
  /** A quote as it was signed, and how many runs began with it that were charged or go on. */
  const quotes = c.table(
    'quotes',
    {
      /** By which a receipt names it: `0x` and 64 hex digits. */
      digest: c.text('digest').primaryKey(),
      id: c.text('id').notNull(),
      /** The account of the key that asked for it. */
      accountId: c.text('account_id').notNull(),
      keyId: c.text('key_id').notNull(),
      quote: c.json<Quote>('quote').notNull(),
      signature: c.bytes('signature').notNull(),
      uses: c.int('uses').notNull(),
      used: c.int('used').notNull(),
      expiresAt: c.ms('expires_at').notNull(),
    },
    (t) => [
      c.uniqueIndex('quotes_by_id').on(t.id),
      c.index('quotes_by_account').on(t.accountId, t.expiresAt),
      // The job that deletes old ones.
      c.index('quotes_by_end').on(t.expiresAt),
      // Unused quotes are deleted as soon as they expire.
      c.index('quotes_unused').on(t.expiresAt).where(sql`${t.used} = 0`),
      c.check('quotes_used', sql`${t.used} >= 0 and ${t.used} <= ${t.uses}`),
    ],
  )

  /** Debts to all accounts at one moment, as they were signed. Never deleted. */
  const liabilities = c.table('liabilities', {
    number: c.ms('number').primaryKey(),
    statement: c.json<Liabilities>('statement').notNull(),
    digest: c.text('digest').notNull(),
    signature: c.bytes('signature').notNull(),
    /** The place of its leaf among those of all logs. */
    logPlace: c.ms('log_place').notNull(),
    asOf: c.ms('as_of').notNull(),
    /** Blinds the ids of its accounts; null once its parts were deleted. */
    seed: c.bytes('seed'),
  })

  /**
   * The leaves of its tree, 256 a row in the order of their ids; row 0 has the nodes above them.
   * Rows of a number that `liabilities` has not are of one that did not come about.
   */
  const liabilityParts = c.table(
    'liability_parts',
    {
      number: c.ms('number').notNull(),
      part: c.int('part').notNull(),
      bytes: c.bytes('bytes').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.number, t.part] })],
  )

  /**
   * The exchange of a run with an upstream that signs its answers, and what came of asking for its
   * signature. An erased one keeps the digest of its leaf, and that of `key`.
   */
  const upstreamEvidence = c.table(
    'upstream_evidence',
    {
      runId: c.text('run_id').primaryKey(),
      upstream: c.text('upstream').notNull(),
      /** The model by its name there. */
      model: c.text('model').notNull(),
      scheme: c.text('scheme').notNull(),
      state: c.text('state').$type<'waiting' | 'attested' | 'refused' | 'none'>().notNull(),
      /** Why it is so; while it waits, of the last try. */
      reason: c.text('reason').$type<EvidenceReason>(),
      /** SHA-256 of the bodies; that of the answer is null while the answer is not whole. */
      requestHash: c.bytes('request_hash'),
      answerHash: c.bytes('answer_hash'),
      /** The id that the upstream gave its answer, while it is asked by it. */
      answerId: c.text('answer_id'),
      tries: c.int('tries').notNull(),
      endedAt: c.ms('ended_at').notNull(),
      /** When it is asked next; null once nothing waits. */
      dueAt: c.ms('due_at'),
      /** The document of the upstream. */
      document: c.text('document'),
      key: c.text('key'),
      checkedAt: c.ms('checked_at'),
      salt: c.bytes('salt'),
      digest: c.bytes('digest'),
      /** The place of its leaf among those of all logs. */
      logPlace: c.ms('log_place'),
    },
    (t) => [
      c.index('upstream_evidence_due').on(t.dueAt).where(sql`${t.dueAt} is not null`),
      c.index('upstream_evidence_by_place').on(t.logPlace).where(sql`${t.logPlace} is not null`),
    ],
  )

  return { quotes, liabilities, liabilityParts, upstreamEvidence }
}
