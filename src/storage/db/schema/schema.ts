/** The whole schema: every table, built for either engine. */
import { sql } from 'drizzle-orm'
import type { Columns } from './columns.ts'
import { depositTables } from './schema-deposits.ts'
import { keptTables } from './schema-kept.ts'
import { logTables } from './schema-log.ts'
import { memberTables } from './schema-members.ts'
import { moneyTables } from './schema-money.ts'
import { outboxTables } from './schema-outbox.ts'
import { peopleTables } from './schema-people.ts'
import { planTables } from './schema-plans.ts'
import { promiseTables } from './schema-promises.ts'
import { publicTables } from './schema-public.ts'
import { sellingTables } from './schema-selling.ts'
import { shardTables } from './schema-shards.ts'
import { wholesaleTables } from './schema-wholesale.ts'

export type { HoldWindow, StoredLine } from './schema-money.ts'

export type { EvidenceReason } from './schema-promises.ts'

export type Tables = ReturnType<typeof buildSchema>

export type AccountRow = Tables['accounts']['$inferSelect']
export type KeyRow = Tables['keys']['$inferSelect']
export type SecretRow = Tables['keySecrets']['$inferSelect']
export type WindowRow = Tables['keyWindows']['$inferSelect']
export type TransferRow = Tables['transfers']['$inferSelect']
export type OpenRunRow = Tables['openRuns']['$inferSelect']
/** An ended run as its table holds it. */
export type StoredRun = Tables['runs']['$inferSelect']
/** An ended run with the place and the signature of its receipt, wherever they are stored. */
export type EndedRun = Omit<StoredRun, 'seq' | 'movedAt' | 'balance'> & {
  signature: Uint8Array | null
}
type RunEnd = 'finishedAt' | 'usageSource' | 'outcome' | 'durationMs' | 'digest'
/** A run in flight, or an ended one. */
export type RunRow = Omit<EndedRun, RunEnd> & { [field in RunEnd]: EndedRun[field] | null }
export type RunCostRow = Tables['runCosts']['$inferSelect']
export type MarginDayRow = Tables['marginDays']['$inferSelect']
export type UnnumberedRow = Tables['unnumberedBatches']['$inferSelect']
export type AuditRow = Tables['auditEntries']['$inferSelect']
export type SubscriptionRow = Tables['subscriptions']['$inferSelect']
export type DepositRow = Tables['deposits']['$inferSelect']
export type LogRow = Tables['logs']['$inferSelect']
export type CheckpointRow = Tables['logCheckpoints']['$inferSelect']
export type CosignatureRow = Tables['cosignatures']['$inferSelect']
export type PriceListRow = Tables['priceLists']['$inferSelect']
export type SignerRow = Tables['signers']['$inferSelect']
export type AnchorRow = Tables['anchors']['$inferSelect']
export type ChainTxRow = Tables['chainTxs']['$inferSelect']
export type SessionRow = Tables['sessions']['$inferSelect']
export type MemberRow = Tables['members']['$inferSelect']
export type InvitationRow = Tables['invitations']['$inferSelect']
export type NonceRow = Tables['signInNonces']['$inferSelect']
export type PassportRow = Tables['passports']['$inferSelect']
export type PassportModelRow = Tables['passportModels']['$inferSelect']
export type PassportStatementRow = Tables['passportStatements']['$inferSelect']
export type IdempotentRow = Tables['idempotentCalls']['$inferSelect']
export type KeptItemRow = Tables['keptItems']['$inferSelect']
export type UsageQuarterRow = Tables['usageQuarters']['$inferSelect']
export type FirstTokenRow = Tables['firstTokens']['$inferSelect']
export type UsageDayRow = Tables['usageDays']['$inferSelect']
export type ExplorerCountRow = Tables['explorerCounts']['$inferSelect']
export type ExplorerModelRow = Tables['explorerModels']['$inferSelect']
export type ShareRow = Tables['shares']['$inferSelect']
export type EventRow = Tables['events']['$inferSelect']
export type WebhookRow = Tables['webhooks']['$inferSelect']
export type DeliveryRow = Tables['webhookDeliveries']['$inferSelect']
export type OperatorTokenRow = Tables['operatorTokens']['$inferSelect']
export type VoucherBatchRow = Tables['voucherBatches']['$inferSelect']
export type VoucherCodeRow = Tables['voucherCodes']['$inferSelect']
export type QuoteRow = Tables['quotes']['$inferSelect']
export type LiabilitiesRow = Tables['liabilities']['$inferSelect']
export type LiabilityPartRow = Tables['liabilityParts']['$inferSelect']
export type UpstreamEvidenceRow = Tables['upstreamEvidence']['$inferSelect']
export type SlotRow = Tables['slots']['$inferSelect']
export type SlotMoveRow = Tables['slotMoves']['$inferSelect']
export type RedemptionRow = Tables['voucherRedemptions']['$inferSelect']

export const buildSchema = (c: Columns) => ({
  ...moneyTables(c),
  ...wholesaleTables(c),
  ...depositTables(c),
  ...planTables(c),
  ...logTables(c),
  ...peopleTables(c),
  ...memberTables(c),
  ...publicTables(c),
  ...outboxTables(c),
  ...sellingTables(c),
  ...promiseTables(c),
  ...shardTables(c),
  ...processTables(c),
  ...keptTables(c),
})

/** Tables by which the processes on one database coordinate. */
function processTables(c: Columns) {
  /** The holder does a singleton's work until `expiresAt`; `epoch` fences former holders. */
  const leases = c.table('leases', {
    name: c.text('name').primaryKey(),
    holder: c.text('holder').notNull(),
    epoch: c.ms('epoch').notNull(),
    expiresAt: c.ms('expires_at').notNull(),
  })

  /** Single facts of this database: its log's origin, its signer, the next log index. */
  const facts = c.table('facts', {
    name: c.text('name').primaryKey(),
    value: c.text('value').notNull(),
  })

  /**
   * A call that was made with an Idempotency-Key: that it began, then what it answered. Kept for
   * 24 hours; `scope` is a hash of who called, which route, and the key.
   */
  const idempotentCalls = c.table(
    'idempotent_calls',
    {
      scope: c.text('scope').primaryKey(),
      /** SHA-256 of what was asked: another body under the same key is a mistake. */
      fingerprint: c.text('fingerprint').notNull(),
      /** The process that is at it, until `reply` or the run's end is there. */
      node: c.text('node').notNull(),
      /** The run that it began, if it began one. */
      runId: c.text('run_id'),
      /** Status, headers and body, encrypted; null while it runs. */
      reply: c.bytes('reply'),
      createdAt: c.ms('created_at').notNull(),
      until: c.ms('until').notNull(),
    },
    (t) => [
      c.index('idempotent_calls_by_end').on(t.until),
      c.index('idempotent_calls_by_run').on(t.runId).where(sql`${t.runId} is not null`),
    ],
  )

  return { leases, facts, idempotentCalls }
}
