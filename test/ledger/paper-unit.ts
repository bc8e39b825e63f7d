import { depositRows } from '../../src/billing/deposits/deposit-rows.ts'
import type { Part } from '../../src/ledger/part.ts'
import { trackedRows } from '../../src/ledger/tracked-rows.ts'
import { UnitOfWork } from '../../src/ledger/unit-of-work.ts'
import type {
  AccountRow,
  DepositRow,
  KeyRow,
  RunRow,
  WindowRow,
} from '../../src/storage/db/schema/schema.ts'
import { windowId } from '../../src/storage/holds/open-runs.ts'
import { plainAccount, plainKey } from '../support/plain-key.ts'

/** 2026-01-15, a Thursday. */
export const now = Date.UTC(2026, 0, 15, 12)

/** A unit without a database, on which a rule can be tried alone. */
export function paperUnit(rows: {
  accounts?: AccountRow[]
  windows?: WindowRow[]
  deposits?: DepositRow[]
  /** Parts of which nothing is stored. */
  parts?: Part[]
}) {
  const tracked = trackedRows()
  tracked.parts = new Map()
  for (const part of rows.parts ?? []) tracked.parts.set(part, part.empty())
  for (const row of rows.accounts ?? []) tracked.accounts.set(row.id, row)
  for (const row of rows.windows ?? []) {
    tracked.windows.set(windowId(row.keyId, row.windowStart), row)
  }
  const deposits = depositRows.empty()
  for (const row of rows.deposits ?? []) deposits.byId.set(row.id, row)
  tracked.parts.set(depositRows, deposits)
  return { tracked, unit: new UnitOfWork(tracked, now) }
}

export const account = (state: Partial<AccountRow> = {}): AccountRow => ({
  ...plainAccount,
  id: 'alice',
  balance: 100n,
  ...state,
})

export const key = (state: Partial<KeyRow> = {}): KeyRow => ({
  id: 'leaf',
  accountId: 'alice',
  parentId: null,
  lineage: ['leaf'],
  name: 'test',
  fingerprint: '',
  capLimit: 1000n,
  capWindow: 'lifetime',
  ...plainKey,
  createdAt: 0,
  expiresAt: now + 1,
  ...state,
})

export const window = (state: Partial<WindowRow> = {}): WindowRow => ({
  keyId: 'leaf',
  windowStart: 0,
  limit: 1000n,
  spent: 0n,
  held: 0n,
  told: null,
  ...state,
})

/** What the end of a hold reads of a run. */
export const openRun = (state: Partial<RunRow> = {}): RunRow =>
  ({
    id: 'run_1',
    accountId: 'alice',
    hold: 40n,
    windows: [['leaf', 0]],
    finishedAt: null,
    ...state,
  }) as RunRow

export const deposit = (state: Partial<DepositRow> = {}): DepositRow => ({
  id: 'dep_1',
  chainId: 4663,
  txHash: '0x1',
  logIndex: 0,
  ordinal: 0,
  blockNumber: 7,
  blockHash: '0xb',
  blockTime: null,
  token: '0x',
  tokenAmount: '50',
  amount: 50n,
  from: 'alice',
  account: 'alice',
  status: 'confirming',
  reason: null,
  seenAt: 0,
  creditedAt: null,
  finalizedAt: null,
  credits: 0,
  reversals: 0,
  loss: 0n,
  moved: null,
  ...state,
})
