import { and, eq, gt, inArray, isNull, or } from 'drizzle-orm'
import { lockedRows, type Query, rows, type Work } from '../db/db.ts'
import { isUnder } from '../db/lineage.ts'
import type { Memory } from '../db/memory.ts'
import type { Tables } from '../db/schema.ts'
import { countActiveKeys } from './active-store.ts'
import { type Pages, windowId } from './book.ts'
import type { Command } from './store.ts'
import { windowStart } from './window.ts'

/**
 * Locks accounts by id, then keys by id, then the open runs and the windows. What the only writer
 * remembers is not read again.
 */
export function* load(
  q: Query,
  tables: Tables,
  pages: Pages,
  commands: Command<unknown>[],
  now: number,
  memory: Memory | undefined,
): Work<void> {
  yield* loadAccounts(q, tables, pages, commands, now, memory)
  const { keys, runs } = tables
  const minting = commands.filter((command) => command.mints).map(({ account }) => account)
  if (minting.length > 0) {
    pages.activeKeys = yield* countActiveKeys(q, tables, [...new Set(minting)], now)
  }
  const keyIds = missing(
    commands.flatMap((command) => [...command.keys]),
    memory?.keys,
    pages.keys,
  )
  if (keyIds.length > 0) {
    const found = q.select().from(keys).where(inArray(keys.id, keyIds)).orderBy(keys.id)
    for (const row of yield* lockedRows(found)) pages.keys.set(row.id, row)
  }
  for (const command of commands) {
    if (command.below !== undefined) {
      yield* loadBelow(q, tables, pages, command.account, command.below, memory)
    }
    if (command.secretsOf !== undefined) {
      yield* loadSecrets(q, tables, pages, command.secretsOf, now)
    }
  }
  const runIds = missing(
    commands.flatMap((command) => command.run ?? []),
    memory?.runs,
    pages.runs,
  )
  if (runIds.length > 0) {
    const open = and(inArray(runs.id, runIds), isNull(runs.finishedAt))
    const found = q.select().from(runs).where(open).orderBy(runs.id)
    for (const row of yield* lockedRows(found)) pages.runs.set(row.id, row)
  }
  yield* loadWindows(q, tables, pages, now, memory)
  yield* loadDeposits(q, tables, pages, commands)
  yield* loadCalls(q, tables, pages, commands)
  const about = commands.filter((command) => command.subscribes).map(({ account }) => account)
  if (about.length > 0) yield* loadSubscriptions(q, tables, pages, [...new Set(about)])
}

function* loadAccounts(
  q: Query,
  { accounts }: Tables,
  pages: Pages,
  commands: Command<unknown>[],
  now: number,
  memory: Memory | undefined,
): Work<void> {
  const ids = missing(
    commands.flatMap(({ account, to }) => (to === undefined ? account : [account, to])),
    memory?.accounts,
    pages.accounts,
  )
  if (ids.length === 0) return
  const opened = ids.filter((id) =>
    commands.some((c) => c.opens && (c.account === id || c.to === id)),
  )
  if (opened.length > 0) {
    // Written before it is locked, so that two nodes opening one account see the same row.
    const blank = { balance: 0n, held: 0n, status: 'active' as const, createdAt: now }
    const fresh = opened.map((id) => ({ id, ...blank }))
    yield* rows(q.insert(accounts).values(fresh).onConflictDoNothing().returning())
  }
  const found = q.select().from(accounts).where(inArray(accounts.id, ids)).orderBy(accounts.id)
  for (const row of yield* lockedRows(found)) pages.accounts.set(row.id, row)
}

/** A key and all below it. Their account is locked, so no key is added under it meanwhile. */
function* loadBelow(
  q: Query,
  { keys }: Tables,
  pages: Pages,
  account: string,
  keyId: string,
  memory: Memory | undefined,
): Work<void> {
  const under = and(eq(keys.accountId, account), isUnder(keys, keyId))
  for (const row of yield* lockedRows(q.select().from(keys).where(under).orderBy(keys.id))) {
    if (!pages.keys.has(row.id)) pages.keys.set(row.id, memory?.keys.get(row.id) ?? row)
  }
}

/** The secrets of a key that work now; never remembered, because they are seldom changed. */
function* loadSecrets(
  q: Query,
  { keySecrets }: Tables,
  pages: Pages,
  keyId: string,
  now: number,
): Work<void> {
  const working = or(isNull(keySecrets.validUntil), gt(keySecrets.validUntil, now))
  const found = q
    .select()
    .from(keySecrets)
    .where(and(eq(keySecrets.keyId, keyId), working))
  for (const row of yield* lockedRows(found)) {
    if (!pages.secrets.has(row.hash)) pages.secrets.set(row.hash, row)
  }
}

/** The deposits that commands name; never remembered: they change without the ledger too. */
function* loadDeposits(
  q: Query,
  { deposits }: Tables,
  pages: Pages,
  commands: Command<unknown>[],
): Work<void> {
  const ids = [...new Set(commands.flatMap((command) => command.deposit ?? []))]
  if (ids.length === 0) return
  const found = q.select().from(deposits).where(inArray(deposits.id, ids)).orderBy(deposits.id)
  for (const row of yield* lockedRows(found)) pages.deposits.set(row.id, row)
}

/** The calls that commands name. Each is of one account, which is locked. */
function* loadCalls(
  q: Query,
  { idempotentCalls }: Tables,
  pages: Pages,
  commands: Command<unknown>[],
): Work<void> {
  const scopes = [...new Set(commands.flatMap((command) => command.call ?? []))]
  if (scopes.length === 0) return
  const named = inArray(idempotentCalls.scope, scopes)
  const found = q.select().from(idempotentCalls).where(named).orderBy(idempotentCalls.scope)
  for (const row of yield* lockedRows(found)) pages.calls.set(row.scope, row)
}

/** The subscriptions that go on; never remembered, because they are seldom changed. */
function* loadSubscriptions(
  q: Query,
  { subscriptions }: Tables,
  pages: Pages,
  accounts: string[],
): Work<void> {
  const goingOn = inArray(subscriptions.status, ['active', 'canceling'])
  const found = q
    .select()
    .from(subscriptions)
    .where(and(inArray(subscriptions.accountId, accounts), goingOn))
  for (const row of yield* lockedRows(found)) pages.subscriptions.set(row.accountId, row)
}

/** The windows that `now` falls into, for every key, and those the open runs were held from. */
function* loadWindows(
  q: Query,
  { keyWindows }: Tables,
  pages: Pages,
  now: number,
  memory: Memory | undefined,
): Work<void> {
  const wanted = [...pages.keys.values()].map((key) =>
    windowId(key.id, windowStart(key.capWindow, now)),
  )
  for (const run of pages.runs.values()) {
    for (const [keyId, start] of run.windows) wanted.push(windowId(keyId, start))
  }
  const ids = missing(wanted, memory?.windows, pages.windows)
  if (ids.length === 0) return
  const keyIds = [...new Set(ids.map((id) => id.slice(0, id.indexOf(':'))))].sort()
  const starts = [...new Set(ids.map((id) => Number(id.slice(id.indexOf(':') + 1))))]
  const named = and(inArray(keyWindows.keyId, keyIds), inArray(keyWindows.windowStart, starts))
  const ordered = q.select().from(keyWindows).where(named)
  for (const row of yield* lockedRows(ordered.orderBy(keyWindows.keyId, keyWindows.windowStart))) {
    pages.windows.set(windowId(row.keyId, row.windowStart), row)
  }
}

/** Puts remembered rows on the pages and returns the ids that must be read, in lock order. */
function missing<T extends object>(
  ids: string[],
  known: { get(id: string): T | undefined } | undefined,
  pages: Map<string, T>,
): string[] {
  const unread = new Set<string>()
  for (const id of ids) {
    if (pages.has(id)) continue
    const row = known?.get(id)
    if (row) pages.set(id, row)
    else unread.add(id)
  }
  return [...unread].sort()
}
