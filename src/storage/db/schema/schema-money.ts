/** Tables of money: balances, keys, transfers, runs. */
import { sql } from 'drizzle-orm'
import type { Json } from '../../../kernel/canonical.ts'
import type { Columns } from './columns.ts'
import type { LedgerSide, TransferKind } from './ledger-words.ts'

export type { LedgerSide, TransferKind } from './ledger-words.ts'

/** The purses a hold was taken from, besides the account: a key and the start of its window. */
export type HoldWindow = [keyId: string, windowStart: number]

/** A meter line as JSON keeps it: the price as decimal text, because JSON has no bigint. */
export type StoredLine = { meter: string; quantity: number; price: string }

/** Columns of a run that its begin sets. */
const begunColumns = (c: Columns) => ({
  accountId: c.text('account_id').notNull(),
  keyId: c.text('key_id').notNull(),
  /** Empty once it has ended. */
  node: c.text('node').notNull(),
  status: c
    .text('status')
    .$type<'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'interrupted'>()
    .notNull(),
  kind: c.text('kind').$type<'chat' | 'embedding'>().notNull(),
  model: c.text('model').notNull(),
  createdAt: c.ms('created_at').notNull(),
  startedAt: c.ms('started_at'),
  hold: c.money('hold').notNull(),
  windows: c.json<HoldWindow[]>('windows').notNull(),
  priceList: c.text('price_list').notNull(),
  discountBps: c.int('discount_bps').notNull(),
  tags: c.json<Record<string, string>>('tags').notNull(),
  metadata: c.json<Record<string, Json>>('metadata').notNull(),
  /** Derives the salts of the receipt; once it is erased, the texts can no longer be proven. */
  seed: c.bytes('seed').notNull(),
  inputCommitment: c.bytes('input_commitment').notNull(),
  passport: c.text('passport').notNull(),
  background: c.bool('background').notNull(),
})

/** Columns of a run that its end adds. */
const endedColumns = (c: Columns) => ({
  route: c.text('route').notNull(),
  firstByteAt: c.ms('first_byte_at'),
  finishedAt: c.ms('finished_at').notNull(),
  lines: c.rows<StoredLine>('lines', ['meter', 'quantity', 'price']).notNull(),
  cost: c.money('cost').notNull(),
  usageSource: c.text('usage_source').$type<'reported' | 'counted' | 'embedded'>().notNull(),
  clamped: c.bool('clamped').notNull(),
  outcome: c
    .text('outcome')
    .$type<'complete' | 'partial' | 'failed' | 'cancelled' | 'interrupted'>()
    .notNull(),
  error: c.json<{ type: string; message: string } | null>('error'),
  /** Whole milliseconds by a clock that does not jump. */
  durationMs: c.ms('duration_ms').notNull(),
  outputCommitment: c.bytes('output_commitment'),
  issuer: c.text('issuer').notNull(),
  /** The receipt's digest: the signed hash, and the leaf of the log. */
  digest: c.bytes('digest').notNull(),
  /** Kept for a background run only, until an hour after its end. */
  output: c.json<Json>('output'),
  outputUntil: c.ms('output_until'),
  /**
   * The place of the receipt's leaf, if one process writes alone; else only the leaf names the
   * run. Its index is the place less the start of its log.
   */
  logPlace: c.ms('log_place'),
  /** The charge as a line of the journal: its number, time and balance, as in `transfers`. */
  seq: c.ms('seq'),
  movedAt: c.ms('moved_at'),
  balance: c.money('balance'),
})

export function moneyTables(c: Columns) {
  /** A wallet address (lower case) and its money. `held` is reserved by runs in flight. */
  const accounts = c.table(
    'accounts',
    {
      id: c.text('id').primaryKey(),
      balance: c.money('balance').notNull(),
      held: c.money('held').notNull(),
      status: c.text('status').$type<'active' | 'suspended'>().notNull(),
      createdAt: c.ms('created_at').notNull(),
      /** The plan that its runs are priced and limited by, from this command on. */
      plan: c.text('plan').notNull().default('free'),
      /** When the plan ends if it was cancelled; null while it goes on. */
      planUntil: c.ms('plan_until'),
      /** Transfers of it so far, and the time of the last. */
      moves: c.ms('moves').notNull().default(0),
      movedAt: c.ms('moved_at').notNull().default(0),
      /** A balance below this is told; null for never. */
      lowBalance: c.money('low_balance'),
      /** When it was told that nothing is left; null once money came in again. */
      exhaustedAt: c.ms('exhausted_at'),
      /** Whether one of its webhooks wants the ends of runs. */
      tellsRuns: c.bool('tells_runs').notNull().default(false),
      /** The place of its last event. */
      eventPlace: c.ms('event_place'),
      /** The move of its slot to another shard that stops it; null while it goes on. */
      slotMove: c.text('slot_move'),
      /** When its money left with its slot; null while it has not. */
      leftAt: c.ms('left_at'),
      /** All money that ever came in, in nano-USD; null for none. */
      paidIn: c.money('paid_in'),
      /** The UTC day, since the epoch, that its unpaid writes are counted for; null for none. */
      freeDay: c.ms('free_day'),
      /** Rows and bytes that commands stored for it on that day without a payment. */
      freeWrites: c.ms('free_writes'),
      freeBytes: c.ms('free_bytes'),
      /** Runs of that day that held money and ended at no cost, by their client's doing. */
      unpaidRuns: c.ms('unpaid_runs'),
    },
    (t) => [
      // The accounts that stored something unpaid today.
      c.index('accounts_by_free_day').on(t.freeDay).where(sql`${t.freeDay} is not null`),
      // By every node that writes here: what left is nowhere twice.
      ...c.onServer([
        c.check('accounts_left', sql`${t.leftAt} is null or (${t.balance} = 0 and ${t.held} = 0)`),
      ]),
      c.check('accounts_solvent', sql`${t.held} >= 0 and ${t.balance} >= ${t.held}`),
      c.check('accounts_bounded', sql`${t.balance} <= 9000000000000000`),
    ],
  )

  /** A key. `lineage` is the key itself, its parent, … up to the root; it never changes. */
  const keys = c.table(
    'keys',
    {
      id: c.text('id').primaryKey(),
      accountId: c.text('account_id').notNull(),
      parentId: c.text('parent_id'),
      lineage: c.json<string[]>('lineage').notNull(),
      /** The key at the top of the branch of a member; null for keys of no branch. */
      branch: c.text('branch'),
      name: c.text('name').notNull(),
      fingerprint: c.text('fingerprint').notNull(),
      /**
       * The maker of its present secret, who may know it: a key above it, a wallet or the
       * operator. A rotation by the key itself keeps it.
       */
      secretBy: c.text('secret_by').notNull(),
      capLimit: c.money('cap_limit').notNull(),
      capWindow: c.text('cap_window').$type<'lifetime' | 'day' | 'week' | 'month'>().notNull(),
      rpm: c.int('rpm'),
      concurrency: c.int('concurrency'),
      maxCostPerRun: c.money('max_cost_per_run'),
      /** Whether its runs are lowered to what can be afforded, unless they say otherwise. */
      fit: c.bool('fit').notNull(),
      /** The brake: the most that may be spent in one minute and in one hour. */
      brakeMinute: c.money('brake_minute'),
      brakeHour: c.money('brake_hour'),
      /** The fate of open runs when the brake is pulled; null means `finish`. */
      brakeRunning: c.text('brake_running').$type<'finish' | 'stop'>(),
      scopes: c.json<string[]>('scopes').notNull(),
      models: c.json<string[]>('models').notNull(),
      ipCidrs: c.json<string[]>('ip_cidrs').notNull(),
      tags: c.json<Record<string, string>>('tags').notNull(),
      /** The handle that its receipts name from now on; empty for none. */
      passport: c.text('passport').notNull(),
      childrenCount: c.int('children_count').notNull(),
      createdAt: c.ms('created_at').notNull(),
      expiresAt: c.ms('expires_at').notNull(),
      pausedAt: c.ms('paused_at'),
      /** Null for a pause by hand. */
      pausedReason: c.text('paused_reason').$type<'brake' | 'leak'>(),
      /** When a rotation last answered a leak: older secrets pause it no more. */
      leakAnsweredAt: c.ms('leak_answered_at'),
      revokedAt: c.ms('revoked_at'),
      revokedBy: c.text('revoked_by'),
      lastUsedAt: c.ms('last_used_at'),
    },
    (t) => [
      c.index('keys_by_account').on(t.accountId, t.id),
      // Counts and lists those in use, however many an account has revoked.
      c.index('keys_in_use').on(t.accountId, t.expiresAt).where(sql`${t.revokedAt} is null`),
      c.index('keys_by_end').on(t.expiresAt).where(sql`${t.revokedAt} is null`),
      c.index('keys_by_branch').on(t.branch, t.id).where(sql`${t.branch} is not null`),
      c.check('keys_capped', sql`${t.capLimit} >= 1 and ${t.capLimit} <= 9000000000000000`),
      c.check('keys_expire', sql`${t.expiresAt} > ${t.createdAt}`),
    ],
  )

  /** The SHA-256 of a secret and whose it is. A rotated secret stays until `validUntil`. */
  const keySecrets = c.table(
    'key_secrets',
    {
      hash: c.text('hash').primaryKey(),
      keyId: c.text('key_id').notNull(),
      validUntil: c.ms('valid_until'),
      /** Whether its key rotated it away by itself: a thief can, before the leak is reported. */
      selfRotated: c.bool('self_rotated').notNull(),
    },
    (t) => [c.index('key_secrets_by_key').on(t.keyId)],
  )

  /** Money that a key spent and holds in a window. `limit` copies the cap or brake for CHECK. */
  const keyWindows = c.table(
    'key_windows',
    {
      keyId: c.text('key_id').notNull(),
      windowStart: c.ms('window_start').notNull(),
      limit: c.money('limit_nusd').notNull(),
      spent: c.money('spent').notNull(),
      held: c.money('held').notNull(),
      /** The percentage of the cap that was told last; null for none. */
      told: c.int('told'),
    },
    (t) => [
      c.primaryKey({ columns: [t.keyId, t.windowStart] }),
      c.check(
        'key_windows_capped',
        sql`${t.held} >= 0 and ${t.spent} >= 0 and ${t.spent} + ${t.held} <= ${t.limit}`,
      ),
    ],
  )

  /**
   * The journal, except for what runs cost: `amount` moved from one side to the other. Never
   * changed, never deleted. The charge of a run is its own row in `runs`: no row here has the kind
   * `run`. `journal` in views.ts has both.
   */
  const transfers = c.table(
    'transfers',
    {
      accountId: c.text('account_id').notNull(),
      ref: c.text('ref').notNull(),
      kind: c.text('kind').$type<TransferKind>().notNull(),
      source: c.text('source').$type<LedgerSide>().notNull(),
      target: c.text('target').$type<LedgerSide>().notNull(),
      amount: c.money('amount').notNull(),
      /** Never before the transfer of the account that came before it. */
      at: c.ms('at').notNull(),
      /** Its place among the transfers of its account, from 1 on. */
      seq: c.ms('seq').notNull(),
      /** The account's balance after it. */
      balance: c.money('balance').notNull(),
    },
    (t) => [
      c.primaryKey({ columns: [t.accountId, t.ref, t.kind] }),
      c.uniqueIndex('transfers_in_order').on(t.accountId, t.at, t.seq),
      // A deposit's reference names one transfer on the chain: no account gets it a second time.
      c.uniqueIndex('transfers_credit_once').on(t.ref).where(sql`${t.kind} = 'deposit'`),
      c.check('transfers_move', sql`${t.amount} > 0 and ${t.source} <> ${t.target}`),
    ],
  )

  /**
   * A run in flight, which is its own hold, and all that its receipt needs if this process dies. On
   * SQLite only of runs older than half a second or in the background: memory has the rest.
   */
  const openRuns = c.table('open_runs', {
    id: c.text('id').primaryKey(),
    ...begunColumns(c),
  })

  /**
   * An ended run and its own receipt: what was signed follows from its columns, and `digest` proves
   * it still does. Inserted once, at its end; changed only to delete what its owner erases.
   */
  const runs = c.table(
    'runs',
    {
      id: c.text('id').primaryKey(),
      ...begunColumns(c),
      ...endedColumns(c),
    },
    (t) => [
      // Lists of a key's runs and receipts, newest first.
      c.index('runs_by_key').on(t.keyId, t.id),
      // Lists of an account's runs and receipts.
      c.index('runs_by_account').on(t.accountId, t.id),
      // Statements: the charges of an account in their order.
      c
        .uniqueIndex('runs_charged')
        .on(t.accountId, t.movedAt, t.seq)
        .where(sql`${t.seq} is not null`),
      // The job that deletes outputs of background runs.
      c.index('runs_kept').on(t.outputUntil).where(sql`${t.outputUntil} is not null`),
      c.check('runs_paid_within_hold', sql`${t.cost} >= 0 and ${t.cost} <= ${t.hold}`),
    ],
  )

  return {
    accounts,
    keys,
    keySecrets,
    keyWindows,
    transfers,
    openRuns,
    runs,
  }
}
