/** Compares what the ledger remembers of money with the journal, the runs and the deposits. */
import type { Millis } from '../kernel/clock.ts'
import type { Nusd } from '../kernel/money.ts'
import type {
  AccountRow,
  DepositRow,
  RunRow,
  StoredRun,
  TransferRow,
  WindowRow,
} from '../storage/db/schema/schema.ts'
import type { LedgerSide } from '../storage/db/schema/schema-money.ts'
import { windowId } from '../storage/holds/open-runs.ts'
import { isBrakeWindow } from './brake.ts'
import { depositOfRef, depositRef } from './deposit-ref.ts'

/**
 * One comparison: balances against the journal, `held` against the open runs, `spent` against the
 * costs of ended runs, the journal's credits of each deposit against its state, the newest
 * statement of liabilities against the journal up to then.
 */
export type Audit = {
  addTransfer(row: TransferRow): void
  addOpenRun(run: Pick<RunRow, 'accountId' | 'hold' | 'windows'>): void
  /** A run that has ended: with a `seq` it is a transfer too. */
  addEnded(run: EndedRun): void
  /** With `whole`, every transfer was added: the balance is compared too. */
  checkAccount(row: AccountRow, whole: boolean): void
  /** With `whole`, every ended run was added: `spent` is compared too. */
  checkWindow(id: string, row: WindowRow, whole: boolean): void
  /** Adds the part of a window that was spent on another shard, before the slot came from there. */
  addCarried(id: string, amount: Nusd): void
  checkDeposit(row: DepositRow): void
  /** Compares the sum of all balances with that of an earlier audit and the transfers since. */
  checkTotal(point: AuditPoint, sum: Nusd): void
  point(): AuditPoint
  /** How a liabilities statement counts an account: its balance after so many transfers. */
  expectLiability(statement: number, account: string, leaf: { amount: Nusd; moves: number }): void
  addFault(fault: string): void
  /** What each side received less what it paid, so far; all sides together are zero. */
  sides(): SideSums
  /** Every difference, at most 50. Called last: sums without a matching row are differences too. */
  faults(): string[]
}

type EndedRun = Pick<StoredRun, 'accountId' | 'cost' | 'windows' | 'seq' | 'movedAt'>

/** The time up to which a whole audit found no fault, and the sum of all balances then. */
export type AuditPoint = { until: Millis; total: string }

export type SideSums = Partial<Record<LedgerSide, Nusd>>

type Move = Pick<TransferRow, 'accountId' | 'source' | 'target' | 'amount' | 'at' | 'seq'>

/** A leaf of a statement, and the journal of its account up to it. */
type StatedBalance = { what: string; amount: Nusd; moves: number; sum: Nusd }

/** The most differences an audit names. */
const faultsMax = 50

export function makeAudit(until: Millis): Audit {
  const balances = new Map<string, Nusd>()
  const held = new Map<string, Nusd>()
  const windowsHeld = new Map<string, Nusd>()
  const windowsSpent = new Map<string, Nusd>()
  const credited = new Map<string, Nusd>()
  const liabilities = new Map<string, StatedBalance>()
  const sides: SideSums = {}
  const faults: string[] = []
  let before: Nusd = 0n
  let after: Nusd = 0n

  const expect = (what: string, found: Nusd, expected: Nusd): void => {
    if (found !== expected && faults.length < faultsMax) {
      faults.push(`${what} is ${found}, but should be ${expected}`)
    }
  }

  const move = ({ accountId, source, target, amount, at, seq }: Move): void => {
    const change = (target === 'user' ? amount : 0n) - (source === 'user' ? amount : 0n)
    add(balances, accountId, change)
    const leaf = liabilities.get(accountId)
    if (leaf && seq <= leaf.moves) leaf.sum += change
    sides[source] = (sides[source] ?? 0n) - amount
    sides[target] = (sides[target] ?? 0n) + amount
    if (at <= until) before += change
    else after += change
  }

  return {
    addTransfer(row) {
      const { ref, kind, source, amount } = row
      move(row)
      if (kind === 'deposit' || kind === 'reversal' || kind === 'loss') {
        add(credited, depositOfRef(ref), source === 'deposits' ? amount : -amount)
      }
    },
    addOpenRun(run) {
      add(held, run.accountId, run.hold)
      for (const [key, start] of run.windows) add(windowsHeld, windowId(key, start), run.hold)
    },
    addEnded({ accountId, cost, windows, seq, movedAt }) {
      for (const [key, start] of windows) {
        // A brake's window is deleted when it is over, and begins at 0 if a clock comes back to it.
        if (!isBrakeWindow(start)) add(windowsSpent, windowId(key, start), cost)
      }
      if (seq === null || movedAt === null) return
      move({ accountId, source: 'user', target: 'revenue', amount: cost, at: movedAt, seq })
    },
    addCarried: (id, amount) => add(windowsSpent, id, amount),
    checkAccount(row, whole) {
      expect(`held of account ${row.id}`, row.held, held.get(row.id) ?? 0n)
      held.delete(row.id)
      if (!whole) return
      expect(`balance of account ${row.id}`, row.balance, balances.get(row.id) ?? 0n)
      balances.delete(row.id)
    },
    checkWindow(id, row, whole) {
      expect(`held of key window ${id}`, row.held, windowsHeld.get(id) ?? 0n)
      windowsHeld.delete(id)
      if (!whole || isBrakeWindow(row.windowStart)) return
      expect(`spent of key window ${id}`, row.spent, windowsSpent.get(id) ?? 0n)
      windowsSpent.delete(id)
    },
    checkDeposit(row) {
      const isIn = row.status === 'credited' || row.status === 'finalized'
      const ref = depositRef(row)
      const amount = isIn ? (row.amount ?? 0n) : 0n
      expect(`the credit of deposit ${row.id}`, credited.get(ref) ?? 0n, amount)
      credited.delete(ref)
    },
    checkTotal(point, sum) {
      expect('the sum of all balances', sum, BigInt(point.total) + after)
      balances.clear()
      credited.clear()
    },
    expectLiability(statement, account, { amount, moves }) {
      const what = `the balance of account ${account} in statement ${statement} of the liabilities`
      liabilities.set(account, { what, amount, moves, sum: 0n })
    },
    addFault(fault) {
      if (faults.length < faultsMax) faults.push(fault)
    },
    point: () => ({ until, total: before.toString() }),
    sides: () => ({ ...sides }),
    faults() {
      for (const [id, amount] of held) expect(`held of account ${id}`, 0n, amount)
      for (const [id, amount] of windowsHeld) expect(`held of key window ${id}`, 0n, amount)
      for (const [id, amount] of balances) expect(`balance of account ${id}`, 0n, amount)
      for (const [ref, amount] of credited) expect(`the credit of no deposit, ${ref},`, amount, 0n)
      for (const { what, amount, sum } of liabilities.values()) expect(what, amount, sum)
      for (const [id, amount] of windowsSpent) expect(`spent of key window ${id}`, 0n, amount)
      return faults
    },
  }
}

function add(sums: Map<string, Nusd>, id: string, amount: Nusd): void {
  sums.set(id, (sums.get(id) ?? 0n) + amount)
}
