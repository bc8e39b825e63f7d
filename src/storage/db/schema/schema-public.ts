/** Tables of what is public: figures, passports, allowances of the terminal. */
import { sql } from 'drizzle-orm'
import type { Columns } from './columns.ts'

export function publicTables(c: Columns) {
  /** All receipts of an hour or a day (UTC), counted once from each, in the order of the log. */
  const explorerCounts = c.table(
    'explorer_counts',
    {
      grain: c.text('grain').$type<'hour' | 'day'>().notNull(),
      at: c.ms('at').notNull(),
      receipts: c.ms('receipts').notNull(),
      succeeded: c.ms('succeeded').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.grain, t.at] })],
  )

  /**
   * Public receipts by model, of an hour, a day and of all time (at 0): added when shared, taken
   * back when unshared. The model is '' where only the charge is shown.
   */
  const explorerModels = c.table(
    'explorer_models',
    {
      grain: c.text('grain').$type<'hour' | 'day' | 'all'>().notNull(),
      at: c.ms('at').notNull(),
      model: c.text('model').notNull(),
      runs: c.ms('runs').notNull(),
      cost: c.money('cost').notNull(),
      /** How many had their first token within each of the histogram's bounds. */
      firstTokens: c.json<number[]>('first_tokens').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.grain, t.at, t.model] })],
  )

  /** A public identity. Its handle is never reused, even after it is retired. */
  const passports = c.table(
    'passports',
    {
      handle: c.text('handle').primaryKey(),
      id: c.text('id').notNull(),
      accountId: c.text('account_id').notNull(),
      displayName: c.text('display_name').notNull(),
      kind: c.text('kind').$type<'agent' | 'person' | 'service'>().notNull(),
      bio: c.text('bio').notNull(),
      links: c.json<string[]>('links').notNull(),
      status: c.text('status').$type<'draft' | 'public' | 'hidden' | 'retired'>().notNull(),
      /** True when its owner's address is shown. */
      ownerShown: c.bool('owner_shown').notNull(),
      createdAt: c.ms('created_at').notNull(),
      updatedAt: c.ms('updated_at').notNull(),
      publishedAt: c.ms('published_at'),
      retiredAt: c.ms('retired_at'),
      /** Its record: logged receipts that name it, counted once each, in the order of the log. */
      runs: c.ms('runs').notNull(),
      succeeded: c.ms('succeeded').notNull(),
      spent: c.money('spent').notNull(),
      activeDays: c.int('active_days').notNull(),
      firstAt: c.ms('first_at'),
      lastAt: c.ms('last_at'),
      publicReceipts: c.ms('public_receipts').notNull(),
    },
    (t) => [
      c.uniqueIndex('passports_by_id').on(t.id),
      c.index('passports_by_account').on(t.accountId, t.id),
      c
        .index('passports_by_kind')
        .on(t.kind, t.publishedAt, t.handle)
        .where(sql`${t.status} = 'public'`),
      c.index('passports_newest').on(t.publishedAt, t.handle).where(sql`${t.status} = 'public'`),
      c.index('passports_busiest').on(t.runs, t.handle).where(sql`${t.status} = 'public'`),
      c.index('passports_by_handle').on(c.byStart(t.handle)).where(sql`${t.status} = 'public'`),
    ],
  )

  /** The models of a passport's record. */
  const passportModels = c.table(
    'passport_models',
    {
      handle: c.text('handle').notNull(),
      model: c.text('model').notNull(),
      runs: c.ms('runs').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.handle, t.model] })],
  )

  /** A record of a passport as it was signed, and the leaf it became. Never changed otherwise. */
  const passportStatements = c.table(
    'passport_statements',
    {
      handle: c.text('handle').notNull(),
      issuer: c.text('issuer').notNull(),
      asOfSize: c.ms('as_of_size').notNull(),
      /** Canonical JSON. */
      record: c.text('record').notNull(),
      digest: c.bytes('digest').notNull(),
      signature: c.bytes('signature'),
      createdAt: c.ms('created_at').notNull(),
      /** The place of its leaf; null until it is logged. */
      logPlace: c.ms('log_place'),
    },
    (t) => [
      c.primaryKey({ columns: [t.handle, t.issuer, t.asOfSize] }),
      c.index('passport_statements_unlogged').on(t.createdAt).where(sql`${t.logPlace} is null`),
    ],
  )

  /** Sponsored asks that a client of the terminal used up on a day (UTC). */
  const terminalAllowances = c.table(
    'terminal_allowances',
    {
      day: c.ms('day').notNull(),
      /** A keyed hash of its network: no address is stored. */
      client: c.text('client').notNull(),
      used: c.int('used').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.day, t.client] })],
  )

  return {
    explorerCounts,
    explorerModels,
    passports,
    passportModels,
    passportStatements,
    terminalAllowances,
  }
}
