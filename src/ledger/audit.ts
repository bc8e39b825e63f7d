import type { Millis } from '../kernel/clock.ts'
import type { Nusd } from '../kernel/money.ts'
import type {
  AccountRow,
  DepositRow,
  HoldWindow,
  TransferRow,
  WindowRow,
} from '../storage/db/schema.ts'
import type { LedgerSide } from '../storage/db/schema-money.ts'
import { depositOfRef, depositRef } from './deposit-ref.ts'
import { windowId } from './unit-of-work.ts'

/**
 * Compares what is remembered of money with what happened: balances with the journal, `held`
 * with the open runs, `spent` with the costs of the ended ones, what the journal credited of each
 * deposit with its state. Names every difference.
 */
export type Audit = ReturnType<typeof makeAudit>

/** Up to when a whole audit found all well, and what all balances came to then. */
export type AuditPoint = { until: Millis; total: string }

/** What every side has. */
export type SideSums = Partial<Record<LedgerSide, Nusd>>

/** Differences named at most; one is enough to be alarmed. */
const faultsMax = 50

export function makeAudit(until: Millis) {
  const balances = new Map<string, Nusd>()
  const held = new Map<string, Nusd>()
  const windowsHeld = new Map<string, Nusd>()
  const windowsSpent = new Map<string, Nusd>()
  const credited = new Map<string, Nusd>()
  const doubled: string[] = []
  const sides: SideSums = {}
  const faults: string[] = []
  let before: Nusd = 0n
  let after: Nusd = 0n

  const expect = (what: string, found: Nusd, expected: Nusd): void => {
    if (found !== expected && faults.length < faultsMax) {
      faults.push(`${what} is ${found}, but should be ${expected}`)
    }
  }

  return {
    addTransfer({ accountId, ref, kind, source, target, amount, at }: TransferRow): void {
      const change = (target === 'user' ? amount : 0n) - (source === 'user' ? amount : 0n)
      add(balances, accountId, change)
      if (kind === 'deposit' || kind === 'reversal' || kind === 'loss') {
        add(credited, depositOfRef(ref), source === 'deposits' ? amount : -amount)
      }
      sides[source] = (sides[source] ?? 0n) - amount
      sides[target] = (sides[target] ?? 0n) + amount
      if (at <= until) before += change
      else after += change
    },
    addOpenRun(run: { accountId: string; hold: Nusd; windows: HoldWindow[] }): void {
      add(held, run.accountId, run.hold)
      for (const [key, start] of run.windows) add(windowsHeld, windowId(key, start), run.hold)
    },
    addCost(run: { cost: Nusd; windows: HoldWindow[] }): void {
      for (const [key, start] of run.windows) add(windowsSpent, windowId(key, start), run.cost)
    },
    checkAccount(row: AccountRow, whole: boolean): void {
      expect(`held of account ${row.id}`, row.held, held.get(row.id) ?? 0n)
      held.delete(row.id)
      if (!whole) return
      expect(`balance of account ${row.id}`, row.balance, balances.get(row.id) ?? 0n)
      balances.delete(row.id)
    },
    checkWindow(id: string, row: WindowRow, whole: boolean): void {
      expect(`held of key window ${id}`, row.held, windowsHeld.get(id) ?? 0n)
      windowsHeld.delete(id)
      if (!whole) return
      expect(`spent of key window ${id}`, row.spent, windowsSpent.get(id) ?? 0n)
      windowsSpent.delete(id)
    },
    checkDeposit(row: DepositRow): void {
      const { id, account } = row
      const isIn = row.status === 'credited' || row.status === 'finalized'
      const ref = depositRef(row)
      const amount = isIn ? (row.amount ?? 0n) : 0n
      expect(`the credit of deposit ${id}`, credited.get(ref) ?? 0n, amount)
      credited.delete(ref)
      if (!isIn || row.reason !== 'credited_twice' || doubled.length === faultsMax) return
      doubled.push(`deposit ${id} of account ${account} credits a transfer a second time`)
    },
    checkTotal(point: AuditPoint, sum: Nusd): void {
      expect('the sum of all balances', sum, BigInt(point.total) + after)
      balances.clear()
      credited.clear()
    },
    point: (): AuditPoint => ({ until, total: before.toString() }),
    /** What came in less what went out of every side so far; together they are zero. */
    sides: (): SideSums => ({ ...sides }),
    /**
     * Transfers on the chain that two deposits are credited for. Such books add up, but they owe
     * more than came in. A lying RPC server could make earlier builds do that.
     */
    doubled: (): string[] => [...doubled],
    /** Called last: what was never matched with a row is a difference too. */
    faults(): string[] {
      for (const [id, amount] of held) expect(`held of account ${id}`, 0n, amount)
      for (const [id, amount] of windowsHeld) expect(`held of key window ${id}`, 0n, amount)
      for (const [id, amount] of balances) expect(`balance of account ${id}`, 0n, amount)
      for (const [ref, amount] of credited) expect(`the credit of no deposit, ${ref},`, amount, 0n)
      for (const [id, amount] of windowsSpent) expect(`spent of key window ${id}`, 0n, amount)
      return faults
    },
  }
}

function add(sums: Map<string, Nusd>, id: string, amount: Nusd): void {
  sums.set(id, (sums.get(id) ?? 0n) + amount)
}
