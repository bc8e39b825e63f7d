/** Writes what a batch of commands changed, one statement a table. A hold is the row of its run. */
import { insert, type Query, update, upsert, type Work } from '../../storage/db/query-steps.ts'
import type {
  AccountRow,
  DepositRow,
  IdempotentRow,
  KeyRow,
  RunRow,
  SubscriptionRow,
  Tables,
} from '../../storage/db/schema.ts'
import { freeCalls } from '../../storage/idempotency/store.ts'
import { numberTransfers, type TrackedRows } from '../unit-of-work.ts'

export function* writeBack(q: Query, tables: Tables, tracked: TrackedRows): Work<void> {
  const { written, added, calledBack } = tracked
  const transfers = numberTransfers(tracked)
  yield* upsert(tables.accounts, [...written.accounts], accountChanges)
  yield* insert(tables.keys, added.keys)
  yield* insert(tables.keySecrets, added.secrets)
  yield* update(tables.keys, [...written.keys], keyChanges)
  yield* update(tables.keySecrets, [...written.secrets], ['validUntil'])
  yield* upsert(tables.keyWindows, [...written.windows], ['limit', 'spent', 'held'])
  yield* insert(tables.runs, added.runs)
  yield* update(tables.runs, [...written.runs], runChanges)
  yield* update(tables.deposits, [...written.deposits], depositChanges)
  yield* insert(tables.transfers, transfers)
  // Updates first: a unique index allows one live subscription an account.
  yield* update(tables.subscriptions, [...written.subscriptions], subscriptionChanges)
  yield* insert(tables.subscriptions, added.subscriptions)
  yield* insert(tables.auditEntries, added.audits)
  // An expired call may still have its row.
  yield* upsert(tables.idempotentCalls, added.calls, callChanges)
  yield* update(tables.idempotentCalls, calledBack.answered, ['reply'])
  yield* freeCalls(q, tables, calledBack.freed)
}

const callChanges: (keyof IdempotentRow)[] = [
  'fingerprint',
  'node',
  'runId',
  'reply',
  'createdAt',
  'until',
]

const accountChanges: (keyof AccountRow)[] = [
  'balance',
  'held',
  'status',
  'plan',
  'planUntil',
  'moves',
  'movedAt',
]

const subscriptionChanges: (keyof SubscriptionRow)[] = [
  'plan',
  'status',
  'price',
  'periodStart',
  'periodEnd',
  'nextPlan',
  'endedAt',
]

const keyChanges: (keyof KeyRow)[] = [
  'name',
  'fingerprint',
  'capLimit',
  'rpm',
  'concurrency',
  'maxCostPerRun',
  'scopes',
  'models',
  'ipCidrs',
  'tags',
  'passport',
  'expiresAt',
  'childrenCount',
  'pausedAt',
  'revokedAt',
  'revokedBy',
]

const runChanges: (keyof RunRow)[] = [
  'status',
  'route',
  'startedAt',
  'firstByteAt',
  'finishedAt',
  'lines',
  'cost',
  'usageSource',
  'clamped',
  'outcome',
  'error',
  'durationMs',
  'outputCommitment',
  'digest',
  'issuer',
  'logPlace',
  'output',
  'outputUntil',
]

const depositChanges: (keyof DepositRow)[] = [
  'blockTime',
  'account',
  'status',
  'reason',
  'creditedAt',
  'credits',
  'reversals',
  'loss',
  'moved',
]
