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
import { orFresh } from './fresh-window.ts'
import { type Part, type PartRows, rowsOf } from './part.ts'
import { windowStart } from './window.ts'

/** The columns of an open run that commands need; no other is read. */
export type OpenRun = Pick<
  RunRow,
  'id' | 'accountId' | 'status' | 'startedAt' | 'finishedAt' | 'hold' | 'windows'
>

/**
 * What a command sees of its batch. The store loads the rows before and writes the changes after. A
 * command checks everything before its first change, because a refusal undoes nothing.
 */
export type UnitOfWork = {
  /** The time of the whole batch, in ms. */
  now: Millis
  account(id: string): AccountRow | undefined
  key(id: string): KeyRow | undefined
  /** Keys of an account that are neither revoked nor expired, for a command that mints. */
  activeKeys(account: string): number
  /** Revokes a key; the next command of the batch no longer counts it as active. */
  revokeKey(row: KeyRow, by: string): void
  /** A key and all below it, for a command that names it as `below`. */
  below(keyId: string): KeyRow[]
  /** The secrets of a key that still work, for a command that names it as `secretsOf`. */
  secrets(keyId: string): SecretRow[]
  /** The run, if it is still open. */
  run(id: string): OpenRun | undefined
  /** The call that a command named, if it was made in the last 24 hours. */
  call(scope: string): IdempotentRow | undefined
  /** The amounts spent and held by `key` in the window that contains `now`, in nano-USD. */
  window(key: KeyRow): WindowRow
  windowAt(keyId: string, start: Millis): WindowRow
  /** The amounts of a brake of `key`. */
  brakeWindow(key: KeyRow, brake: Brake): WindowRow
  addKey(row: KeyRow, secret: SecretRow): void
  addSecret(row: SecretRow): void
  addRun(row: RunRow): void
  /** Gives an open run that is in memory alone its row. */
  storeRun(row: RunRow): void
  /**
   * Gives an open run another hold, which its purses have already. One that is in memory alone gets
   * its row with it: what memory counts of it is taken back with its old hold.
   * @param open the run as its process has it
   */
  setHold(run: OpenRun, open: RunRow, hold: Nusd): void
  /** Ends an open run: its final row is written once, with its cost. */
  endRun(row: EndedRun, wholesale?: Nusd): void
  /** Its `seq` and `balance` are derived from the account when the batch is written. */
  addTransfer(row: NewTransfer): void
  addCall(row: IdempotentRow): void
  /** Keeps the answer of a call whose run ends. */
  answerCall(scope: string, reply: Uint8Array): void
  /** Deletes the call that began a run, so that it can be repeated. */
  freeCall(runId: string): void
  /** The rows of a part that the command names, or of one that loads nothing. */
  part<Rows, Id>(part: Part<Rows, Id>): Rows
  addAudit(row: AuditRow): void
  /** Tells what this command makes true; the account is one that it names. */
  addEvent(event: NewEvent): void
  changed(what: Changed, row: object): void
}

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

export function makeUnitOfWork(tracked: TrackedRows, now: Millis): UnitOfWork {
  const { written, added } = tracked
  const unit: UnitOfWork = {
    now,
    account: (id) => tracked.accounts.get(id),
    key: (id) => tracked.keys.get(id),
    activeKeys: (account) => tracked.activeKeys.get(account) ?? 0,
    below: (id) => [...tracked.keys.values()].filter((key) => key.lineage.includes(id)),
    secrets: (id) => [...tracked.secrets.values()].filter((secret) => secret.keyId === id),
    run: (id) => tracked.runs.get(id),
    call: (scope) => {
      const row = tracked.calls.get(scope)
      return row && row.until > unit.now ? row : undefined
    },
    window: (key) =>
      orFresh(tracked.windows, key, windowStart(key.capWindow, unit.now), key.capLimit),
    brakeWindow: (key, { start, limit }) => orFresh(tracked.windows, key, start, limit),
    windowAt(keyId, start) {
      const row = tracked.windows.get(windowId(keyId, start))
      if (!row) throw new Error(`window ${start} of ${keyId} was not loaded`)
      return row
    },
    addKey(row, secret) {
      tracked.keys.set(row.id, row)
      tracked.activeKeys.set(row.accountId, unit.activeKeys(row.accountId) + 1)
      added.keys.push(row)
      unit.addSecret(secret)
    },
    revokeKey(row, by) {
      const active = tracked.activeKeys.get(row.accountId)
      if (active !== undefined && row.revokedAt === null && row.expiresAt > unit.now) {
        tracked.activeKeys.set(row.accountId, active - 1)
      }
      row.revokedAt = unit.now
      row.revokedBy = by
      unit.changed('key', row)
    },
    addSecret(row) {
      tracked.secrets.set(row.hash, row)
      added.secrets.push(row)
    },
    addRun(row) {
      tracked.runs.set(row.id, row)
      added.runs.push(row)
    },
    storeRun(row) {
      added.runs.push(row)
      const account = tracked.accounts.get(row.accountId)
      if (account) written.accounts.add(account)
      for (const [keyId, start] of row.windows) {
        const window = unit.windowAt(keyId, start)
        // Another process may have lowered the cap below what this run already held.
        window.limit = max(window.limit, window.spent + window.held)
        written.windows.add(window)
      }
    },
    setHold(run, open, hold) {
      if (run !== open) {
        run.hold = hold
        unit.changed('run', run)
        return
      }
      const row = { ...open, hold }
      tracked.runs.set(row.id, row)
      added.runs = added.runs.filter(({ id }) => id !== row.id)
      unit.storeRun(row)
    },
    endRun(row, wholesale) {
      // Later commands of this batch must not find it, nor does it get a row of an open one.
      const open = tracked.runs.get(row.id)
      if (open) written.runs.delete(open)
      tracked.runs.delete(row.id)
      if (added.runs.length > 0) added.runs = added.runs.filter(({ id }) => id !== row.id)
      added.ended.push(row)
      if (wholesale !== undefined) added.costs.push({ runId: row.id, cost: wholesale })
    },
    addTransfer: (row) => void added.transfers.push(row),
    addCall(row) {
      tracked.calls.set(row.scope, row)
      added.calls.push(row)
    },
    answerCall: (scope, reply) => void tracked.calledBack.answered.push({ scope, reply }),
    freeCall: (runId) => void tracked.calledBack.freed.push(runId),
    part: (part) => rowsOf(tracked, part),
    addAudit: (row) => void added.audits.push(row),
    addEvent: (event) => addEvent(tracked, event, unit.now),
    changed(what, row) {
      if (what === 'account') written.accounts.add(row as AccountRow)
      else if (what === 'alerts') written.alerts.add(row as AccountRow)
      else if (what === 'budget') written.budgets.add(row as AccountRow)
      else if (what === 'window') written.windows.add(row as WindowRow)
      else if (what === 'secret') {
        if (!added.secrets.includes(row as SecretRow)) written.secrets.add(row as SecretRow)
      } else if (what === 'key') {
        if (!added.keys.includes(row as KeyRow)) written.keys.add(row as KeyRow)
      } else if (!added.runs.includes(row as RunRow)) written.runs.add(row as OpenRun)
    },
  }
  return unit
}
