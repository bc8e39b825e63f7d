/**
 * Keeps the open runs that have no row. Where one process writes, a hold needs no COMMIT: if the
 * process dies, the hold is gone, and nothing was charged. Empty on PostgreSQL.
 */
import type { Millis } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'
import type {
  AccountRow,
  IdempotentRow,
  OpenRunRow,
  RunRow,
  WindowRow,
} from '../db/schema/schema.ts'

/** A key window by the id that {@link windowId} makes. */
type WindowId = string

/** The window of each key that was last asked for: a run asks for its own eight times. */
const lastOf = new Map<string, { start: Millis; id: WindowId }>()
const mostKeys = 10_000

export function windowId(keyId: string, start: Millis): WindowId {
  const last = lastOf.get(keyId)
  if (last?.start === start) return last.id
  const id = `${keyId}:${start}`
  if (lastOf.size >= mostKeys) lastOf.clear()
  lastOf.set(keyId, { start, id })
  return id
}

/**
 * An open run as the row it will be, without what its end sets. Written out: a spread of so many
 * columns costs a run a microsecond.
 */
export const toRunRow = (open: OpenRunRow): RunRow => ({
  id: open.id,
  accountId: open.accountId,
  keyId: open.keyId,
  node: open.node,
  status: open.status,
  kind: open.kind,
  model: open.model,
  createdAt: open.createdAt,
  startedAt: open.startedAt,
  hold: open.hold,
  windows: open.windows,
  priceList: open.priceList,
  discountBps: open.discountBps,
  tags: open.tags,
  metadata: open.metadata,
  seed: open.seed,
  inputCommitment: open.inputCommitment,
  passport: open.passport,
  background: open.background,
  route: '',
  firstByteAt: null,
  finishedAt: null,
  lines: [],
  cost: 0n,
  usageSource: null,
  clamped: false,
  outcome: null,
  error: null,
  durationMs: null,
  outputCommitment: null,
  issuer: '',
  digest: null,
  logPlace: null,
  signature: null,
  output: null,
  outputUntil: null,
})

/** Only the ledger changes it: at a hold, and in the turn of the COMMIT that stores or ends one. */
export class OpenRuns {
  private readonly runs = new Map<string, RunRow>()
  private readonly calls = new Map<string, IdempotentRow>()
  private readonly callOfRun = new Map<string, string>()
  private readonly accounts = new Map<string, Nusd>()
  private readonly windows = new Map<WindowId, Nusd>()
  /** Grows with each change, so that caches notice. */
  changes = 0

  find(id: string): RunRow | undefined {
    return this.runs.get(id)
  }

  get size(): number {
    return this.runs.size
  }

  all(): IterableIterator<RunRow> {
    return this.runs.values()
  }

  get hasCalls(): boolean {
    return this.calls.size > 0
  }

  /** The call with an Idempotency-Key that began a run. */
  callOf(runId: string): IdempotentRow | undefined {
    const scope = this.callOfRun.get(runId)
    return scope === undefined ? undefined : this.calls.get(scope)
  }

  /** The call of this scope, while its run is in memory alone. */
  call(scope: string): IdempotentRow | undefined {
    return this.calls.get(scope)
  }

  /** The amount that these runs hold of an account, in nano-USD. */
  heldOf(account: string): Nusd {
    return this.accounts.get(account) ?? 0n
  }

  /** The amount that these runs hold in a key window, in nano-USD. */
  heldIn(window: WindowId): Nusd {
    return this.windows.get(window) ?? 0n
  }

  add(run: RunRow, call?: IdempotentRow): void {
    this.runs.set(run.id, run)
    if (call) {
      this.calls.set(call.scope, call)
      this.callOfRun.set(run.id, call.scope)
    }
    this.move(run, run.hold)
  }

  /** After the COMMIT that ended a run or gave it a row. */
  remove(id: string): void {
    const run = this.runs.get(id)
    if (!run) return
    this.runs.delete(id)
    const scope = this.callOfRun.get(id)
    if (scope !== undefined) {
      this.callOfRun.delete(id)
      this.calls.delete(scope)
    }
    this.move(run, -run.hold)
  }

  private move({ accountId, windows }: RunRow, amount: Nusd): void {
    this.changes++
    add(this.accounts, accountId, amount)
    for (const [keyId, start] of windows) add(this.windows, windowId(keyId, start), amount)
  }
}

function add(held: Map<string, Nusd>, id: string, amount: Nusd): void {
  const sum = (held.get(id) ?? 0n) + amount
  if (sum === 0n) held.delete(id)
  else held.set(id, sum)
}

/** A stored account with all that its runs hold. */
export function withHolds<A extends Pick<AccountRow, 'id' | 'held'>>(open: OpenRuns, row: A): A {
  const held = open.heldOf(row.id)
  return held === 0n ? row : { ...row, held: row.held + held }
}

/** The window of a key with all that runs hold in it; undefined if it has no row and no hold. */
export function windowWithHolds(
  open: OpenRuns,
  row: WindowRow | undefined,
  { keyId, windowStart, limit }: Pick<WindowRow, 'keyId' | 'windowStart' | 'limit'>,
): WindowRow | undefined {
  const held = open.heldIn(windowId(keyId, windowStart))
  if (held === 0n) return row
  if (row) return { ...row, held: row.held + held }
  return { keyId, windowStart, limit, spent: 0n, held, told: null }
}
