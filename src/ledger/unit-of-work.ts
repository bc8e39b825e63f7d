/** The rows that a batch of commands reads and changes in memory, between load and write. */
import type { Millis } from '../kernel/clock.ts'
import { max, type Nusd } from '../kernel/money.ts'
import type { Rows } from '../storage/db/engine/memory.ts'
import type {
  AccountRow,
  AuditRow,
  EndedRun,
  EventRow,
  IdempotentRow,
  KeyRow,
  RunCostRow,
  RunRow,
  SecretRow,
  TransferRow,
  WindowRow,
} from '../storage/db/schema/schema.ts'
import { windowId } from '../storage/holds/open-runs.ts'
import type { NewEvent } from '../storage/outbox/event.ts'
import { addEvent } from './append-event.ts'
import type { Brake } from './brake.ts'
import { type Part, type PartRows, rowsOf } from './part.ts'
import { windowStart } from './window.ts'

/** The columns of an open run that commands need; no other is read. */
export type OpenRun = Pick<
  RunRow,
  'id' | 'accountId' | 'status' | 'startedAt' | 'finishedAt' | 'hold' | 'windows'
>

type Changed = 'account' | 'alerts' | 'budget' | 'key' | 'secret' | 'window' | 'run'

export type NewTransfer = Omit<TransferRow, 'seq' | 'balance'>

/** Loaded rows by id, and the changes that the store writes. */
export type TrackedRows = {
  accounts: Rows<AccountRow>
  keys: Rows<KeyRow>
  activeKeys: Map<string, number>
  secrets: Map<string, SecretRow>
  windows: Rows<WindowRow>
  /** Open runs. */
  runs: Map<string, OpenRun>
  /** By scope. */
  calls: Map<string, IdempotentRow>
  /** Undefined until a command names or adds some. */
  parts?: PartRows
  written: {
    accounts: Set<AccountRow>
    keys: Set<KeyRow>
    secrets: Set<SecretRow>
    windows: Set<WindowRow>
    runs: Set<OpenRun>
    /** Accounts whose settings or last event changed. */
    alerts: Set<AccountRow>
    /** Accounts with more unpaid writes. */
    budgets: Set<AccountRow>
  }
  added: {
    keys: KeyRow[]
    secrets: SecretRow[]
    /** Open runs that get a row. */
    runs: RunRow[]
    ended: EndedRun[]
    transfers: NewTransfer[]
    audits: AuditRow[]
    events: EventRow[]
    costs: RunCostRow[]
    calls: IdempotentRow[]
  }
  /** Calls whose runs ended. */
  calledBack: { answered: { scope: string; reply: Uint8Array }[]; freed: string[] }
}

/** What a batch changed, after its COMMIT. */
export type Posted = Pick<TrackedRows, 'written' | 'added'>

/**
 * What a command sees of its batch. The store loads the rows before and writes the changes after. A
 * command checks everything before its first change, because a refusal undoes nothing.
 */
export class UnitOfWork {
  constructor(
    private readonly tracked: TrackedRows,
    /** The time of the whole batch, in ms. */
    public now: Millis,
  ) {}

  account(id: string): AccountRow | undefined {
    return this.tracked.accounts.get(id)
  }

  key(id: string): KeyRow | undefined {
    return this.tracked.keys.get(id)
  }

  /** Keys of an account that are neither revoked nor expired, for a command that mints. */
  activeKeys(account: string): number {
    return this.tracked.activeKeys.get(account) ?? 0
  }

  /** Revokes a key; the next command of the batch no longer counts it as active. */
  revokeKey(row: KeyRow, by: string): void {
    const active = this.tracked.activeKeys.get(row.accountId)
    if (active !== undefined && row.revokedAt === null && row.expiresAt > this.now) {
      this.tracked.activeKeys.set(row.accountId, active - 1)
    }
    row.revokedAt = this.now
    row.revokedBy = by
    this.changed('key', row)
  }

  /** A key and all below it, for a command that names it as `below`. */
  below(keyId: string): KeyRow[] {
    return [...this.tracked.keys.values()].filter((key) => key.lineage.includes(keyId))
  }

  /** The secrets of a key that still work, for a command that names it as `secretsOf`. */
  secrets(keyId: string): SecretRow[] {
    return [...this.tracked.secrets.values()].filter((secret) => secret.keyId === keyId)
  }

  /** The run, if it is still open. */
  run(id: string): OpenRun | undefined {
    return this.tracked.runs.get(id)
  }

  /** The call that a command named, if it was made in the last 24 hours. */
  call(scope: string): IdempotentRow | undefined {
    const row = this.tracked.calls.get(scope)
    return row && row.until > this.now ? row : undefined
  }

  /** The amounts spent and held by `key` in the window that contains `now`, in nano-USD. */
  window(key: KeyRow): WindowRow {
    const start = windowStart(key.capWindow, this.now)
    return orFresh(this.tracked.windows, key, start, key.capLimit)
  }

  windowAt(keyId: string, start: Millis): WindowRow {
    const row = this.tracked.windows.get(windowId(keyId, start))
    if (!row) throw new Error(`window ${start} of ${keyId} was not loaded`)
    return row
  }

  /** The amounts of a brake of `key`. */
  brakeWindow(key: KeyRow, { start, limit }: Brake): WindowRow {
    return orFresh(this.tracked.windows, key, start, limit)
  }

  addKey(row: KeyRow, secret: SecretRow): void {
    this.tracked.keys.set(row.id, row)
    this.tracked.activeKeys.set(row.accountId, this.activeKeys(row.accountId) + 1)
    this.tracked.added.keys.push(row)
    this.addSecret(secret)
  }

  addSecret(row: SecretRow): void {
    this.tracked.secrets.set(row.hash, row)
    this.tracked.added.secrets.push(row)
  }

  addRun(row: RunRow): void {
    this.tracked.runs.set(row.id, row)
    this.tracked.added.runs.push(row)
  }

  /** Gives an open run that is in memory alone its row. */
  storeRun(row: RunRow): void {
    const { accounts, written, added } = this.tracked
    added.runs.push(row)
    const account = accounts.get(row.accountId)
    if (account) written.accounts.add(account)
    for (const [keyId, start] of row.windows) {
      const window = this.windowAt(keyId, start)
      // Another process may have lowered the cap below what this run already held.
      window.limit = max(window.limit, window.spent + window.held)
      written.windows.add(window)
    }
  }

  /**
   * Gives an open run another hold, which its purses have already. One that is in memory alone gets
   * its row with it: what memory counts of it is taken back with its old hold.
   * @param open the run as its process has it
   */
  setHold(run: OpenRun, open: RunRow, hold: Nusd): void {
    if (run !== open) {
      run.hold = hold
      this.changed('run', run)
      return
    }
    const row = { ...open, hold }
    const { runs, added } = this.tracked
    runs.set(row.id, row)
    added.runs = added.runs.filter(({ id }) => id !== row.id)
    this.storeRun(row)
  }

  /** Ends an open run: its final row is written once, with its cost. */
  endRun(row: EndedRun, wholesale?: Nusd): void {
    const { runs, written, added } = this.tracked
    // Later commands of this batch must not find it, nor does it get a row of an open one.
    const open = runs.get(row.id)
    if (open) written.runs.delete(open)
    runs.delete(row.id)
    if (added.runs.length > 0) added.runs = added.runs.filter(({ id }) => id !== row.id)
    added.ended.push(row)
    if (wholesale !== undefined) added.costs.push({ runId: row.id, cost: wholesale })
  }

  /** Its `seq` and `balance` are derived from the account when the batch is written. */
  addTransfer(row: NewTransfer): void {
    this.tracked.added.transfers.push(row)
  }

  addCall(row: IdempotentRow): void {
    this.tracked.calls.set(row.scope, row)
    this.tracked.added.calls.push(row)
  }

  /** Keeps the answer of a call whose run ends. */
  answerCall(scope: string, reply: Uint8Array): void {
    this.tracked.calledBack.answered.push({ scope, reply })
  }

  /** Deletes the call that began a run, so that it can be repeated. */
  freeCall(runId: string): void {
    this.tracked.calledBack.freed.push(runId)
  }

  /** The rows of a part that the command names, or of one that loads nothing. */
  part<Rows, Id>(part: Part<Rows, Id>): Rows {
    return rowsOf(this.tracked, part)
  }

  addAudit(row: AuditRow): void {
    this.tracked.added.audits.push(row)
  }

  /** Tells what this command makes true; the account is one that it names. */
  addEvent(event: NewEvent): void {
    addEvent(this.tracked, event, this.now)
  }

  changed(what: Changed, row: object): void {
    const { written, added } = this.tracked
    if (what === 'account') written.accounts.add(row as AccountRow)
    else if (what === 'alerts') written.alerts.add(row as AccountRow)
    else if (what === 'budget') written.budgets.add(row as AccountRow)
    else if (what === 'window') written.windows.add(row as WindowRow)
    else if (what === 'secret') {
      if (!added.secrets.includes(row as SecretRow)) written.secrets.add(row as SecretRow)
    } else if (what === 'key') {
      if (!added.keys.includes(row as KeyRow)) written.keys.add(row as KeyRow)
    } else if (!added.runs.includes(row as RunRow)) written.runs.add(row as OpenRun)
  }
}

/** Finds the window of a key, or begins one in which nothing was spent. */
function orFresh(windows: Rows<WindowRow>, { id }: KeyRow, start: Millis, limit: Nusd): WindowRow {
  const name = windowId(id, start)
  const known = windows.get(name)
  if (known) return known
  const fresh: WindowRow = {
    keyId: id,
    windowStart: start,
    limit,
    spent: 0n,
    held: 0n,
    told: null,
  }
  windows.set(name, fresh)
  return fresh
}
