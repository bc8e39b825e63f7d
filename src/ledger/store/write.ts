/** Writes what a batch of commands changed, one statement a table. */
import { getTableColumns } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import type {
  AccountRow,
  EndedRun,
  IdempotentRow,
  KeyRow,
  StoredRun,
  Tables,
  TransferRow,
  UnnumberedRow,
  WindowRow,
} from '../../storage/db/schema/schema.ts'
import {
  insert,
  type Query,
  remove,
  update,
  upsert,
  type Work,
} from '../../storage/db/sql/query-steps.ts'
import { type OpenRuns, windowId } from '../../storage/holds/open-runs.ts'
import { freeCalls } from '../../storage/idempotency/store.ts'
import { numberTransfers } from '../number-transfers.ts'
import type { TrackedRows } from '../unit-of-work.ts'
import { writeParts } from './load-parts.ts'

export function* writeBack(
  q: Query,
  { tables, open }: Pick<Db, 'tables' | 'open'>,
  tracked: TrackedRows,
  now: Millis,
): Work<void> {
  const { written, added } = tracked
  const moved = numberTransfers(tracked)
  const purses = storedPurses(tracked, open)
  yield* upsert(tables.accounts, purses.accounts, accountChanges)
  const { alerts, budgets, keys, secrets } = written
  const isSeldom = alerts.size + budgets.size + keys.size + secrets.size > 0
  if (isSeldom || added.secrets.length > 0) yield* writeSeldom(tables, tracked)
  yield* upsert(tables.keyWindows, purses.windows, ['limit', 'spent', 'held', 'told'])
  yield* writeRuns(tables, open, tracked, moved)
  const transfers = moved.filter(({ kind }) => kind !== 'run')
  if (transfers.length > 0) yield* insert(tables.transfers, transfers)
  if (added.audits.length > 0) yield* insert(tables.auditEntries, added.audits)
  if (added.events.length > 0) yield* insert(tables.events, added.events)
  if (tracked.parts) yield* writeParts({ q, tables, now }, tracked.parts)
  yield* writeCalls(q, tables, open, tracked)
}

/** Rows that the hold or the end of a run seldom changes. A new key comes with a secret. */
function* writeSeldom(tables: Tables, { written, added }: TrackedRows): Work<void> {
  yield* update(tables.accounts, [...written.alerts], alertChanges)
  yield* update(tables.accounts, [...written.budgets], budgetChanges)
  yield* insert(tables.keys, added.keys)
  yield* insert(tables.keySecrets, added.secrets)
  if (written.keys.size > 0) yield* update(tables.keys, [...written.keys], keyChanges(tables))
  yield* update(tables.keySecrets, [...written.secrets], ['validUntil', 'selfRotated'])
}

/** Open runs get or lose their rows; ended ones are written whole, with their charges. */
function* writeRuns(
  tables: Tables,
  open: OpenRuns,
  { written, added: { runs, ended, costs } }: TrackedRows,
  moved: readonly TransferRow[],
): Work<void> {
  if (runs.length > 0) yield* insert(tables.openRuns, runs)
  if (written.runs.size > 0) {
    yield* update(tables.openRuns, [...written.runs], ['status', 'startedAt', 'hold'])
  }
  const charges = new Map<string, TransferRow>()
  for (const one of moved) if (one.kind === 'run') charges.set(one.ref, one)
  let charged = 0
  const stored: StoredRun[] = []
  const closed: { id: string }[] = []
  for (const run of ended) {
    const charge = charges.get(run.id)
    if (charge) charged++
    if (!open.find(run.id)) closed.push({ id: run.id })
    stored.push(toStored(run, charge))
  }
  if (charged < charges.size) throw new Error('a run was charged without its end')
  if (stored.length === 0) return
  if (closed.length > 0) yield* remove(tables.openRuns, closed)
  yield* insert(tables.runs, stored)
  if (costs.length > 0) yield* insert(tables.runCosts, costs)
  const waiting = waitingOf(ended)
  if (waiting.length > 0) yield* insert(tables.unnumberedBatches, waiting)
}

/** The row by which those of these ended runs that have no place wait for one. */
export function waitingOf(
  ended: readonly Pick<EndedRun, 'id' | 'finishedAt' | 'logPlace'>[],
): UnnumberedRow[] {
  const waiting = ended.filter(({ logPlace }) => logPlace === null)
  const [first] = waiting
  if (!first) return []
  return [{ endedAt: first.finishedAt, id: first.id, runs: waiting.map(({ id }) => id) }]
}

type Charge = Pick<TransferRow, 'seq' | 'at' | 'balance'>

/** The row of an ended run, with its charge if it cost something. */
export const toStored = (
  run: Omit<EndedRun, 'signature'>,
  charge: Charge | undefined,
): StoredRun => ({
  ...run,
  seq: charge?.seq ?? null,
  movedAt: charge?.at ?? null,
  balance: charge?.balance ?? null,
})

/** Accounts and windows less what runs hold that stay in memory alone. */
function storedPurses({ written, added: { runs, ended } }: TrackedRows, open: OpenRuns) {
  const accounts = [...written.accounts]
  const windows = [...written.windows]
  if (open.size === 0) return { accounts, windows }
  const leaving = new Map<string, Nusd>()
  const leave = (id: string, hold: Nusd) => leaving.set(id, (leaving.get(id) ?? 0n) + hold)
  for (const { id } of [...runs, ...ended]) {
    const run = open.find(id)
    if (!run) continue
    leave(run.accountId, run.hold)
    for (const [keyId, start] of run.windows) leave(windowId(keyId, start), run.hold)
  }
  const staying = (id: string, held: Nusd): Nusd => held - (leaving.get(id) ?? 0n)
  const toAccount = (row: AccountRow): AccountRow => {
    const held = staying(row.id, open.heldOf(row.id))
    return held === 0n ? row : { ...row, held: row.held - held }
  }
  const toWindow = (row: WindowRow): WindowRow => {
    const id = windowId(row.keyId, row.windowStart)
    const held = staying(id, open.heldIn(id))
    return held === 0n ? row : { ...row, held: row.held - held }
  }
  return { accounts: accounts.map(toAccount), windows: windows.map(toWindow) }
}

/** Calls whose runs are in memory alone have no row yet; one that is freed gets none. */
function* writeCalls(
  q: Query,
  { idempotentCalls: calls }: Tables,
  open: OpenRuns,
  { added, calledBack: { answered, freed } }: TrackedRows,
): Work<void> {
  const begun = new Map<string, IdempotentRow>()
  if (open.hasCalls) {
    for (const { id } of [...added.runs, ...added.ended]) {
      const call = freed.includes(id) ? undefined : open.callOf(id)
      if (call) begun.set(call.scope, call)
    }
  }
  if (begun.size + added.calls.length + answered.length + freed.length === 0) return
  const replies = new Map(answered.map(({ scope, reply }) => [scope, reply]))
  const late = [...begun.values()].map((call) => ({
    ...call,
    reply: replies.get(call.scope) ?? call.reply,
  }))
  // An expired call may still have its row.
  yield* upsert(calls, [...added.calls, ...late], callChanges)
  yield* update(
    calls,
    answered.filter(({ scope }) => !begun.has(scope)),
    ['reply'],
  )
  yield* freeCalls(
    q,
    { idempotentCalls: calls },
    freed.filter((id) => !open.find(id)),
  )
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
  'paidIn',
]

/** Seldom written, so they stay out of what each charge writes. */
const alertChanges: (keyof AccountRow)[] = ['lowBalance', 'exhaustedAt', 'tellsRuns', 'eventPlace']

/** Never written for a paid run. */
const budgetChanges: (keyof AccountRow)[] = ['freeDay', 'freeWrites', 'freeBytes', 'unpaidRuns']

/** A key never changes these, and its last use is noted elsewhere. */
const keyKeeps = new Set<keyof KeyRow>([
  'id',
  'accountId',
  'parentId',
  'lineage',
  'branch',
  'capWindow',
  'createdAt',
  'lastUsedAt',
])

const keyChanges = ({ keys }: Tables): (keyof KeyRow)[] =>
  (Object.keys(getTableColumns(keys)) as (keyof KeyRow)[]).filter((name) => !keyKeeps.has(name))
