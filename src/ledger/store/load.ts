/** Loads and locks the rows that a batch of commands names. */
import { and, eq, gt, inArray, isNull, or } from 'drizzle-orm'
import { isUnder } from '../../storage/db/lineage.ts'
import type { Memory } from '../../storage/db/memory.ts'
import {
  lockedRows,
  lockFound,
  type Query,
  rows,
  together,
  type Work,
} from '../../storage/db/query-steps.ts'
import type { Tables } from '../../storage/db/schema.ts'
import type { Command } from '../command.ts'
import { type TrackedRows, windowId } from '../unit-of-work.ts'
import { capWindows, windowStart } from '../window.ts'
import { countActiveKeys } from './active.ts'

/**
 * Locks accounts by id, then keys, open runs, windows, deposits and calls. Rows that the only
 * writer remembers are not read again.
 */
export function* load(
  q: Query,
  tables: Tables,
  tracked: TrackedRows,
  commands: Command<unknown>[],
  now: number,
  memory: Memory | undefined,
): Work<void> {
  const named = namedBy(commands)
  const unknown = missing(named.opened, memory?.accounts, tracked.accounts)
  if (unknown.length > 0) yield* openAccounts(q, tables, unknown, now)
  const asked = memory ? undefined : windowsAsked(named, now)
  // Accounts come first: a change of any other row requires the lock of its account.
  yield* together([
    loadAccounts(tables, tracked, named, memory),
    loadKeys(tables, tracked, named, memory),
    loadRuns(tables, tracked, named, memory),
    loadAsked(tables, tracked, asked),
    loadDeposits(tables, tracked, named),
    loadCalls(tables, tracked, named),
  ])
  const minting = commands.filter((command) => command.mints).map(({ account }) => account)
  if (minting.length > 0) {
    tracked.activeKeys = yield* countActiveKeys(q, tables, [...new Set(minting)], now)
  }
  for (const command of commands) {
    if (command.below !== undefined) {
      yield* loadBelow(q, tables, tracked, command.account, command.below, memory)
    }
    if (command.secretsOf !== undefined) {
      yield* loadSecrets(q, tables, tracked, command.secretsOf, now)
    }
  }
  yield* loadWindows(tables, tracked, now, memory, asked)
  const about = commands.filter((command) => command.subscribes).map(({ account }) => account)
  if (about.length > 0) yield* loadSubscriptions(q, tables, tracked, [...new Set(about)])
}

/** The ids that the commands of a batch name. */
type Named = Record<'accounts' | 'opened' | 'keys' | 'runs' | 'deposits' | 'calls', Set<string>>

function namedBy(commands: Command<unknown>[]): Named {
  const named: Named = {
    accounts: new Set(),
    opened: new Set(),
    keys: new Set(),
    runs: new Set(),
    deposits: new Set(),
    calls: new Set(),
  }
  for (const { account, to, opens, keys, run, deposit, call } of commands) {
    named.accounts.add(account)
    if (opens) named.opened.add(account)
    if (to !== undefined) named.accounts.add(to)
    if (to !== undefined && opens) named.opened.add(to)
    for (const key of keys) named.keys.add(key)
    if (run !== undefined) named.runs.add(run)
    if (deposit !== undefined) named.deposits.add(deposit)
    if (call !== undefined) named.calls.add(call)
  }
  return named
}

/** Inserts before it locks, so that two nodes that open one account see the same row. */
function* openAccounts(q: Query, { accounts }: Tables, ids: string[], now: number): Work<void> {
  const blank = { balance: 0n, held: 0n, status: 'active' as const, createdAt: now }
  const fresh = ids.map((id) => ({ id, ...blank }))
  yield* rows(q.insert(accounts).values(fresh).onConflictDoNothing().returning())
}

function* loadAccounts(
  { accounts }: Tables,
  tracked: TrackedRows,
  named: Named,
  memory: Memory | undefined,
): Work<void> {
  const id = missing(named.accounts, memory?.accounts, tracked.accounts)
  for (const row of yield* lockFound(accounts, { id })) tracked.accounts.set(row.id, row)
}

function* loadKeys(
  { keys }: Tables,
  tracked: TrackedRows,
  named: Named,
  memory: Memory | undefined,
): Work<void> {
  const id = missing(named.keys, memory?.keys, tracked.keys)
  for (const row of yield* lockFound(keys, { id })) tracked.keys.set(row.id, row)
}

function* loadRuns(
  { runs }: Tables,
  tracked: TrackedRows,
  named: Named,
  memory: Memory | undefined,
): Work<void> {
  const id = missing(named.runs, memory?.runs, tracked.runs)
  for (const row of yield* lockFound(runs, { id })) {
    if (row.finishedAt === null) tracked.runs.set(row.id, row)
  }
}

/** A key and all below it. The lock of their account keeps others from adding one meanwhile. */
function* loadBelow(
  q: Query,
  { keys }: Tables,
  tracked: TrackedRows,
  account: string,
  keyId: string,
  memory: Memory | undefined,
): Work<void> {
  const under = and(eq(keys.accountId, account), isUnder(keys, keyId))
  for (const row of yield* lockedRows(q.select().from(keys).where(under).orderBy(keys.id))) {
    if (!tracked.keys.has(row.id)) tracked.keys.set(row.id, memory?.keys.get(row.id) ?? row)
  }
}

/** The valid secrets of a key; never remembered, because they seldom change. */
function* loadSecrets(
  q: Query,
  { keySecrets }: Tables,
  tracked: TrackedRows,
  keyId: string,
  now: number,
): Work<void> {
  const working = or(isNull(keySecrets.validUntil), gt(keySecrets.validUntil, now))
  const found = q
    .select()
    .from(keySecrets)
    .where(and(eq(keySecrets.keyId, keyId), working))
  for (const row of yield* lockedRows(found)) {
    if (!tracked.secrets.has(row.hash)) tracked.secrets.set(row.hash, row)
  }
}

/** Deposits are never remembered: they change outside the ledger too. */
function* loadDeposits({ deposits }: Tables, tracked: TrackedRows, named: Named): Work<void> {
  const id = sorted(named.deposits)
  for (const row of yield* lockFound(deposits, { id })) tracked.deposits.set(row.id, row)
}

function* loadCalls({ idempotentCalls }: Tables, tracked: TrackedRows, named: Named): Work<void> {
  const scope = sorted(named.calls)
  for (const row of yield* lockFound(idempotentCalls, { scope })) tracked.calls.set(row.scope, row)
}

/** Live subscriptions; never remembered, because they seldom change. */
function* loadSubscriptions(
  q: Query,
  { subscriptions }: Tables,
  tracked: TrackedRows,
  accounts: string[],
): Work<void> {
  const goingOn = inArray(subscriptions.status, ['active', 'canceling'])
  const found = q
    .select()
    .from(subscriptions)
    .where(and(inArray(subscriptions.accountId, accounts), goingOn))
  for (const row of yield* lockedRows(found)) tracked.subscriptions.set(row.accountId, row)
}

/** Windows that are read before the keys tell which kind caps them. */
type Asked = { keyId: string[]; windowStart: number[] }

/** The windows of every kind that contain `now`: saves a round trip. */
const windowsAsked = ({ keys }: Named, now: number): Asked => ({
  keyId: sorted(keys),
  windowStart: capWindows.map((kind) => windowStart(kind, now)),
})

function* loadAsked(tables: Tables, tracked: TrackedRows, asked: Asked | undefined): Work<void> {
  if (asked) yield* loadFound(tables, tracked, asked)
}

function* loadFound({ keyWindows }: Tables, tracked: TrackedRows, wanted: Asked): Work<void> {
  for (const row of yield* lockFound(keyWindows, wanted)) {
    tracked.windows.set(windowId(row.keyId, row.windowStart), row)
  }
}

/** The current window of every key, and the windows that open runs hold. */
function* loadWindows(
  tables: Tables,
  tracked: TrackedRows,
  now: number,
  memory: Memory | undefined,
  asked: Asked | undefined,
): Work<void> {
  const wanted = new Set<string>()
  for (const key of tracked.keys.values()) {
    wanted.add(windowId(key.id, windowStart(key.capWindow, now)))
  }
  for (const run of tracked.runs.values()) {
    for (const [keyId, start] of run.windows) wanted.add(windowId(keyId, start))
  }
  const known = new Set(
    asked?.keyId.flatMap((id) => asked.windowStart.map((at) => windowId(id, at))),
  )
  const unread = missing(wanted, memory?.windows, tracked.windows).filter((id) => !known.has(id))
  const parts = unread.map((id) => id.split(':'))
  yield* loadFound(tables, tracked, {
    keyId: sorted(parts.map(([keyId = '']) => keyId)),
    windowStart: [...new Set(parts.map(([, start]) => Number(start)))],
  })
}

const sorted = (ids: Iterable<string>): string[] => [...new Set(ids)].sort()

/** Adds remembered rows to the unit of work; returns the ids that must be read, in lock order. */
function missing<T extends object>(
  ids: Set<string>,
  known: { get(id: string): T | undefined } | undefined,
  tracked: Map<string, T>,
): string[] {
  const unread: string[] = []
  for (const id of ids) {
    if (tracked.has(id)) continue
    const row = known?.get(id)
    if (row) tracked.set(id, row)
    else unread.push(id)
  }
  return unread.sort()
}
