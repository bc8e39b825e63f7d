/** Tables of people: settings, texts, shares, sessions, usage, the audit trail. */
import { sql } from 'drizzle-orm'
import type { Json } from '../../../kernel/canonical.ts'
import type { Disclosures, FullReceipt, SectionName } from '../../../verify/receipt.ts'
import type { Columns } from './columns.ts'

export function peopleTables(c: Columns) {
  /** The settings of an account; defaults apply without a row. */
  const accountSettings = c.table('account_settings', {
    accountId: c.text('account_id').primaryKey(),
    /** How long the texts of its runs are kept. */
    retention: c.text('retention').$type<'none' | '24h' | '30d'>().notNull(),
    /** The key that the console spends through; null until it was used. */
    consoleKeyId: c.text('console_key_id'),
    /** False for an account that asked to keep nothing; null unless it chose. */
    keepsResponses: c.bool('keeps_responses'),
    /** The time zone of its person; null for UTC. */
    timeZone: c.text('time_zone'),
  })

  /** The texts of an ended run, for accounts that asked to have them kept. */
  const runTexts = c.table(
    'run_texts',
    {
      runId: c.text('run_id').primaryKey(),
      accountId: c.text('account_id').notNull(),
      input: c.json<Json>('input').notNull(),
      /** Null when nothing came out. */
      output: c.json<Json>('output'),
      until: c.ms('until').notNull(),
    },
    (t) => [
      c.index('run_texts_by_end').on(t.until),
      c.index('run_texts_by_account').on(t.accountId),
    ],
  )

  /** A shared receipt: its visible sections and texts. Deleted when it is private again. */
  const shares = c.table(
    'shares',
    {
      receiptId: c.text('receipt_id').primaryKey(),
      accountId: c.text('account_id').notNull(),
      visibility: c.text('visibility').$type<'unlisted' | 'public'>().notNull(),
      sections: c.json<SectionName[]>('sections').notNull(),
      revealed: c.json<Disclosures>('revealed').notNull(),
      /** The receipt's digest, for look-ups by hash. */
      digest: c.bytes('digest').notNull(),
      createdAt: c.ms('created_at').notNull(),
      updatedAt: c.ms('updated_at').notNull(),
    },
    (t) => [
      c.index('shares_by_visibility').on(t.visibility, t.receiptId),
      c.index('shares_by_digest').on(t.digest),
      c.index('shares_by_account').on(t.accountId, t.receiptId),
    ],
  )

  /** A receipt whose seed was erased: its salts can no longer be derived. */
  const erasedReceipts = c.table('erased_receipts', {
    receiptId: c.text('receipt_id').primaryKey(),
    receipt: c.json<FullReceipt>('receipt').notNull(),
    erasedAt: c.ms('erased_at').notNull(),
  })

  /** The audit trail: grants with their reason, revocations, new keys. */
  const auditEntries = c.table(
    'audit_entries',
    {
      id: c.text('id').primaryKey(),
      at: c.ms('at').notNull(),
      actor: c.text('actor').notNull(),
      action: c.text('action').notNull(),
      accountId: c.text('account_id').notNull(),
      subject: c.text('subject').notNull(),
      detail: c.json<Record<string, Json>>('detail').notNull(),
    },
    (t) => [c.index('audit_entries_by_account').on(t.accountId, t.id)],
  )

  /** A signed-in browser: the SHA-256 of its cookie's token, and when it expires. */
  const sessions = c.table(
    'sessions',
    {
      id: c.text('id').primaryKey(),
      tokenHash: c.text('token_hash').notNull(),
      accountId: c.text('account_id').notNull(),
      createdAt: c.ms('created_at').notNull(),
      lastSeenAt: c.ms('last_seen_at').notNull(),
      expiresAt: c.ms('expires_at').notNull(),
      /** For its owner to recognise it by. */
      userAgent: c.text('user_agent').notNull(),
      clientAddress: c.text('client_address').notNull(),
      /** The membership that it acts by; null in the wallet's own account. */
      memberId: c.text('member_id'),
    },
    (t) => [
      c.uniqueIndex('sessions_by_token').on(t.tokenHash),
      c.index('sessions_by_account').on(t.accountId, t.id),
      c.index('sessions_by_end').on(t.expiresAt),
      c.index('sessions_by_member').on(t.memberId).where(sql`${t.memberId} is not null`),
    ],
  )

  /** A sign-in that was begun: deleted by the attempt that uses it. */
  const signInNonces = c.table(
    'sign_in_nonces',
    {
      nonce: c.text('nonce').primaryKey(),
      /** SHA-256 of the cookie of the browser that asked. */
      browserHash: c.text('browser_hash').notNull(),
      /** The wallet it is for, and the text it was given; null when only a nonce was asked for. */
      accountId: c.text('account_id'),
      message: c.text('message'),
      issuedAt: c.ms('issued_at').notNull(),
      expiresAt: c.ms('expires_at').notNull(),
    },
    (t) => [c.index('sign_in_nonces_by_end').on(t.expiresAt)],
  )

  /**
   * Usage of an account on a day (UTC), by key and model: counted once from each receipt, in log
   * order, so that no page has to read all runs.
   */
  const usageDays = c.table(
    'usage_days',
    {
      accountId: c.text('account_id').notNull(),
      day: c.ms('day').notNull(),
      keyId: c.text('key_id').notNull(),
      model: c.text('model').notNull(),
      runs: c.int('runs').notNull(),
      succeeded: c.int('succeeded').notNull(),
      inputUnits: c.ms('input_units').notNull(),
      outputUnits: c.ms('output_units').notNull(),
      /** Cached parts of the input, read and written; `reasoning_units` is a part of the output. */
      cachedUnits: c.ms('cached_units').notNull(),
      cacheWriteUnits: c.ms('cache_write_units').notNull(),
      reasoningUnits: c.ms('reasoning_units').notNull(),
      cost: c.money('cost').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.accountId, t.day, t.keyId, t.model] })],
  )

  return {
    sessions,
    signInNonces,
    usageDays,
    ...quarterTables(c),
    accountSettings,
    runTexts,
    shares,
    erasedReceipts,
    auditEntries,
  }
}

/** Finer sums of the same receipts, for charts by the hour and for days of any time zone. */
function quarterTables(c: Columns) {
  const group = {
    accountId: c.text('account_id').notNull(),
    /** The start of its quarter of an hour: offsets of time zones are whole ones. */
    at: c.ms('at').notNull(),
    keyId: c.text('key_id').notNull(),
    model: c.text('model').notNull(),
    /** The upstream that ran it; empty where none did. */
    provider: c.text('provider').notNull(),
  }

  const usageQuarters = c.table(
    'usage_quarters',
    {
      ...group,
      runs: c.int('runs').notNull(),
      succeeded: c.int('succeeded').notNull(),
      inputUnits: c.ms('input_units').notNull(),
      outputUnits: c.ms('output_units').notNull(),
      cachedUnits: c.ms('cached_units').notNull(),
      cacheWriteUnits: c.ms('cache_write_units').notNull(),
      reasoningUnits: c.ms('reasoning_units').notNull(),
      cost: c.money('cost').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.accountId, t.at, t.keyId, t.model, t.provider] })],
  )

  /** How many chats waited how long for their first token: a row for each bar that is not empty. */
  const firstTokens = c.table(
    'first_tokens',
    {
      ...group,
      /** The number of the bar: eight to each doubling of the time in ms. */
      bar: c.int('bar').notNull(),
      runs: c.int('runs').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.accountId, t.at, t.keyId, t.model, t.provider, t.bar] })],
  )

  return { usageQuarters, firstTokens }
}
