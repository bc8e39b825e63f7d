/** Loads and locks the rows that a batch of commands names. */
import { and, eq, gt, isNull, or } from 'drizzle-orm'
import type { Db } from '../../storage/db/engine/db.ts'
import type { Rows } from '../../storage/db/engine/memory.ts'
import type { HoldWindow, Tables } from '../../storage/db/schema/schema.ts'
import { isUnder } from '../../storage/db/sql/lineage.ts'
import {
  findFields,
  lockedRows,
  lockFound,
  type Query,
  rows,
  together,
  type Work,
} from '../../storage/db/sql/query-steps.ts'
import {
  type OpenRuns,
  windowId,
  windowWithHolds,
  withHolds,
} from '../../storage/holds/open-runs.ts'
import { brakesOf } from '../brake.ts'
import type { Command } from '../command.ts'
import type { TrackedRows } from '../unit-of-work.ts'
import { capWindows, windowStart } from '../window.ts'
import { countActiveKeys } from './active.ts'
import { loadParts, namedParts } from './load-parts.ts'

/**
 * Locks accounts by id, then keys, open runs, windows and calls, then the rows of parts. Rows that
 * are known are not read again. What runs hold in memory alone is added to what is stored.
 */
export function* load(
  q: Query,
  { tables, open, exclusive }: Pick<Db, 'tables' | 'open' | 'exclusive'>,
  tracked: TrackedRows,
  commands: Command<unknown>[],
  now: number,
): Work<void> {
  const named = namedBy(commands)
  const unknown = missing(named.opened, tracked.accounts)
  if (unknown.length > 0) yield* openAccounts(q, tables, unknown, now)
  const asked = exclusive ? undefined : windowsAsked(named, now)
  // Accounts come first: a change of any other row requires the lock of its account.
  yield* together([
    loadAccounts(tables, open, tracked, named),
    loadKeys(tables, tracked, named),
    loadRuns(tables, open, tracked, named),
    loadAsked(tables, open, tracked, asked),
    loadCalls(tables, open, tracked, named.calls),
  ])
  const minting = commands.filter((command) => command.mints).map(({ account }) => account)
  if (minting.length > 0) {
    tracked.activeKeys = yield* countActiveKeys(q, tables, [...new Set(minting)], now)
  }
  for (const command of commands) {
    if (command.below !== undefined) {
      yield* loadBelow(q, tables, tracked, named.keys, command.account, command.below)
    }
    if (command.secretsOf !== undefined) {
      yield* loadSecrets(q, tables, tracked, command.secretsOf, now)
    }
  }
  yield* loadWindows(tables, open, tracked, named, now, asked)
  const parts = namedParts(commands)
  if (parts) yield* loadParts({ q, tables, now }, tracked, parts)
}

/** The ids that the commands of a batch name. */
type Named = Record<'accounts' | 'opened' | 'keys' | 'runs' | 'calls', Set<string>> & {
  windows: HoldWindow[]
}

function namedBy(commands: Command<unknown>[]): Named {
  const named: Named = {
    accounts: new Set(),
    opened: new Set(),
    keys: new Set(),
    runs: new Set(),
    calls: new Set(),
    windows: [],
  }
  for (const { account, to, opens, keys, windows, run, call } of commands) {
    named.accounts.add(account)
    if (opens) named.opened.add(account)
    if (to !== undefined) named.accounts.add(to)
    if (to !== undefined && opens) named.opened.add(to)
    for (const key of keys) named.keys.add(key)
    if (windows) named.windows.push(...windows)
    if (run !== undefined) named.runs.add(run)
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
  open: OpenRuns,
  tracked: TrackedRows,
  named: Named,
): Work<void> {
  const id = missing(named.accounts, tracked.accounts)
  for (const row of yield* lockFound(accounts, { id })) {
    tracked.accounts.set(row.id, withHolds(open, row))
  }
}

function* loadKeys({ keys }: Tables, tracked: TrackedRows, named: Named): Work<void> {
  const id = missing(named.keys, tracked.keys)
  for (const row of yield* lockFound(keys, { id })) tracked.keys.set(row.id, row)
}

const heldFields = ['id', 'accountId', 'status', 'startedAt', 'hold', 'windows'] as const

function* loadRuns(
  { openRuns }: Tables,
  open: OpenRuns,
  tracked: TrackedRows,
  named: Named,
): Work<void> {
  for (const id of named.runs) {
    const run = open.find(id)
    if (run) tracked.runs.set(id, run)
  }
  const id = missing(named.runs, tracked.runs)
  // No lock: only who has the lock of its account changes an open run.
  for (const row of yield* findFields(openRuns, heldFields, { id })) {
    tracked.runs.set(row.id, { ...row, finishedAt: null })
  }
}

/**
 * A key and all below it, which are added to `named`. The lock of their account keeps others from
 * adding one meanwhile.
 */
function* loadBelow(
  q: Query,
  { keys }: Tables,
  tracked: TrackedRows,
  named: Set<string>,
  account: string,
  keyId: string,
): Work<void> {
  const under = and(eq(keys.accountId, account), isUnder(keys, keyId))
  for (const row of yield* lockedRows(q.select().from(keys).where(under).orderBy(keys.id))) {
    named.add(row.id)
    if (!tracked.keys.has(row.id)) tracked.keys.set(row.id, row)
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

/** Calls are not remembered: of those that a batch names, each is read. */
export function* loadCalls(
  { idempotentCalls }: Tables,
  open: OpenRuns,
  tracked: TrackedRows,
  named: Iterable<string>,
): Work<void> {
  const scope = sorted(named)
  for (const row of yield* lockFound(idempotentCalls, { scope })) tracked.calls.set(row.scope, row)
  for (const name of scope) {
    const begun = open.call(name)
    if (begun) tracked.calls.set(name, begun)
  }
}

/** Windows that are read before the keys tell which kind caps them. */
type WindowQuery = { keyId: string[]; windowStart: number[] }

/** Named windows, and those of every kind that contain `now`: saves a round trip. */
function windowsAsked({ keys, windows }: Named, now: number): WindowQuery {
  const present = keys.size > 0 ? capWindows.map((kind) => windowStart(kind, now)) : []
  return {
    keyId: sorted([...keys, ...windows.map(([keyId]) => keyId)]),
    windowStart: [...new Set([...present, ...windows.map(([, start]) => start)])],
  }
}

function* loadAsked(
  tables: Tables,
  open: OpenRuns,
  tracked: TrackedRows,
  asked: WindowQuery | undefined,
): Work<void> {
  if (asked) yield* loadFound(tables, open, tracked, asked)
}

function* loadFound(
  { keyWindows }: Tables,
  open: OpenRuns,
  tracked: TrackedRows,
  wanted: WindowQuery,
): Work<void> {
  for (const row of yield* lockFound(keyWindows, wanted)) {
    const id = windowId(row.keyId, row.windowStart)
    tracked.windows.set(id, windowWithHolds(open, row, row) ?? row)
  }
}

/** Named windows, the current one of every named key, and those that open runs hold. */
function* loadWindows(
  tables: Tables,
  open: OpenRuns,
  tracked: TrackedRows,
  named: Named,
  now: number,
  asked: WindowQuery | undefined,
): Work<void> {
  const wanted = new Map<string, { keyId: string; windowStart: number }>()
  const want = (keyId: string, start: number): void => {
    const id = windowId(keyId, start)
    if (!tracked.windows.has(id)) wanted.set(id, { keyId, windowStart: start })
  }
  for (const [keyId, start] of named.windows) want(keyId, start)
  for (const id of named.keys) {
    const key = tracked.keys.get(id)
    if (!key) continue
    want(id, windowStart(key.capWindow, now))
    for (const { start } of brakesOf(key, now)) want(id, start)
  }
  for (const run of tracked.runs.values()) {
    for (const [keyId, start] of run.windows) want(keyId, start)
  }
  const known = new Set(
    asked?.keyId.flatMap((id) => asked.windowStart.map((at) => windowId(id, at))),
  )
  const unread = [...wanted].filter(([id]) => !known.has(id)).map(([, window]) => window)
  yield* loadFound(tables, open, tracked, {
    keyId: sorted(unread.map(({ keyId }) => keyId)),
    windowStart: [...new Set(unread.map(({ windowStart }) => windowStart))],
  })
  for (const [id, window] of wanted) {
    const limit = tracked.keys.get(window.keyId)?.capLimit ?? 0n
    const held = windowWithHolds(open, undefined, { ...window, limit })
    if (held && !tracked.windows.has(id)) tracked.windows.set(id, held)
  }
}

const sorted = (ids: Iterable<string>): string[] => [...new Set(ids)].sort()

/** The ids whose rows must be read, in lock order. */
const missing = <T>(ids: Set<string>, known: Pick<Rows<T>, 'has'>): string[] =>
  [...ids].filter((id) => !known.has(id)).sort()
