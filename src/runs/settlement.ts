/** The command that ends a run: its charge, its row and the digest of its receipt. */
import type { Deps } from '../app/deps-port.ts'
import { quoteDigestOf } from '../billing/quotes/apply-quote.ts'
import { quoteRows } from '../billing/quotes/quote-rows.ts'
import { returnUse } from '../billing/quotes/quoted.ts'
import type { Json } from '../kernel/canonical.ts'
import type { Millis } from '../kernel/clock.ts'
import { type Hex, toHex } from '../kernel/hex.ts'
import { type Nusd, toJsonInteger } from '../kernel/money.ts'
import type { Command } from '../ledger/command.ts'
import { noteUnpaidRun } from '../ledger/free-writes.ts'
import { endHold } from '../ledger/hold.ts'
import type { PartId } from '../ledger/part.ts'
import type { UnitOfWork } from '../ledger/unit-of-work.ts'
import { costOf, type MeterLine, type Usage } from '../models/meter.ts'
import { chargedLines, linesOf, type Prices } from '../models/rates.ts'
import type { SignedExchange } from '../models/upstream/signed-exchange.ts'
import type { Side } from '../models/usage.ts'
import { commitOutput, digestOf, factsOf, receiptIdOf } from '../proof/receipts/receipt.ts'
import { addEvidenceRow } from '../proof/upstream-evidence/evidence-rows.ts'
import type { EndedRun, HoldWindow, KeptItemRow, RunRow } from '../storage/db/schema/schema.ts'
import type { NewEvent } from '../storage/outbox/event.ts'
import { itemRows, textRows } from './kept-rows.ts'
import type { StopReason } from './live-run.ts'
import type { Outcome, RunError, RunStatus } from './run.ts'

/** How a run ended. Without `usage` it delivered nothing and is not charged. */
export type Ending = {
  outcome: NonNullable<RunRow['outcome']>
  route: string
  usage: Usage | undefined
  usageSource: NonNullable<RunRow['usageSource']>
  clamped: boolean
  /** The sides of the report that contradict themselves, if any. */
  contradicts?: readonly Side[] | undefined
  firstByteAt: Millis | null
  error: RunError | null
  /** Whether its client ended it, or sent what the model refuses, and no server failed. */
  isByClient?: boolean | undefined
  /** The upstream's charge to the operator; undefined where that is not known. */
  wholesale?: Nusd | undefined
  /** The choices or embeddings that the receipt commits to; null if there are none. */
  output: Json | null
}

export type FinishedRun = { run: RunRow; receiptId: string; digest: Hex }

/** The end of a run whose request had an Idempotency-Key. */
export type CallEnd = {
  scope?: string | undefined
  /** Seals the answer to store; without it the stored answer stays. */
  reply?: ((done: FinishedRun) => Uint8Array) | undefined
}

/** The parts of an answer that the command that ends its run stores. */
export type StoredParts = {
  /** The sealed answer of a call with an Idempotency-Key. */
  reply?: CallEnd['reply']
  /** The items that a next turn can name. */
  items?: ((done: FinishedRun) => readonly KeptItemRow[]) | undefined
}

/** How long the output of a background run is kept after its end, in ms. */
const outputKeptMs = 3_600_000

/** A run to end. */
export type RunEnd = {
  open: RunRow
  /** The prices of its lines; without prices there are none. */
  prices: Prices | undefined
  ending: Ending
  /** Whole milliseconds by a clock that does not jump. */
  durationMs: number
  /** The exchange with the upstream that answered, if it signs its answers. */
  exchange?: SignedExchange | undefined
  /** The request as received, if the account keeps its texts. */
  received?: Json | undefined
  /** Undefined for a run without an Idempotency-Key; empty if that is unknown. */
  call?: CallEnd | undefined
  items?: StoredParts['items']
}

type SettleDeps = Pick<Deps, 'ledger' | 'clock' | 'settings' | 'sequencer'>

/** Ends a run in one command, after whose COMMIT it resolves; also one of an earlier process. */
export async function settle(deps: SettleDeps, of: RunEnd): Promise<FinishedRun> {
  const settlement = new Settlement(deps, of)
  await deps.ledger.post(settlement)
  return settlement.finished()
}

/** One object for the command and what it stores. */
export class Settlement implements Command<void> {
  readonly account: string
  readonly parts: readonly PartId[] | undefined
  readonly keys = noKeys
  readonly windows: readonly HoldWindow[]
  readonly run: string
  private readonly ended: EndedRun
  private readonly done: FinishedRun
  /** Whether the call keeps its answer: one that failed without a charge may be made again. */
  private readonly isKept: boolean
  private readonly quote: string | undefined
  private readonly reply: Uint8Array | undefined
  /** The items that are kept of the answer. */
  readonly items: readonly KeptItemRow[] | undefined

  constructor(
    private readonly deps: SettleDeps,
    private readonly of: RunEnd,
  ) {
    const { open, prices, ending, call, items } = of
    this.account = open.accountId
    this.windows = open.windows
    this.run = open.id
    const { lines, isCapped } = linesFor(open, prices, ending.usage)
    // The receipt goes into the current log, even if another one was current at the start.
    const row = endedRow(of, lines, deps.clock.now(), deps.settings.issuer)
    if (isCapped) row.clamped = true
    const digest = digestOf(factsOf(row, lines))
    // The row itself and no copy: an end costs no object more.
    row.digest = digest
    this.ended = row as EndedRun
    this.done = { run: this.ended, receiptId: receiptIdOf(open.id), digest: toHex(digest) }
    this.isKept = ending.outcome === 'complete' || this.ended.cost > 0n
    this.reply = this.isKept ? call?.reply?.(this.done) : undefined
    this.items = ending.outcome === 'complete' ? items?.(this.done) : undefined
    // A run that failed without a charge does not use up its quote.
    this.quote = this.isKept ? undefined : quoteDigestOf(open)
    this.parts = this.quote === undefined ? undefined : [quoteRows.of(this.quote)]
  }

  decide(unit: UnitOfWork): void {
    const { ended, reply, quote } = this
    const { open, ending, received, call, exchange } = this.of
    // A try that was undone may have given it the place of a leaf that does not exist.
    ended.logPlace = null
    const held = unit.run(open.id)
    if (!held) throw new RunNotOpen(open.id)
    endHold(unit, held, ended.cost)
    const isByClient = ending.outcome === 'complete' || ending.isByClient
    if (ended.cost === 0n && held.hold > 0n && isByClient) noteUnpaidRun(unit, open.accountId)
    // The whole row: the digest covers it, and the stored start may differ.
    unit.endRun(ended, ending.wholesale)
    if (exchange) addEvidenceRow(unit, ended, exchange)
    const isTold = unit.account(open.accountId)?.tellsRuns || this.deps.settings.tellsRuns
    if (isTold) unit.addEvent(endEvent(ended))
    if (received !== undefined) {
      const { id, accountId } = open
      unit.part(textRows).push({ runId: id, accountId, input: received, output: ending.output })
    }
    if (this.items) unit.part(itemRows).push(...this.items)
    if (reply && call?.scope !== undefined) unit.answerCall(call.scope, reply)
    if (call && !this.isKept) unit.freeCall(open.id)
    if (quote !== undefined) returnUse(unit, quote)
  }

  /** Returns the stored end, after the COMMIT. */
  finished(): FinishedRun {
    // A process that writes alone has numbered it already.
    if (this.ended.logPlace === null) this.deps.sequencer.wake()
    return this.done
  }
}

const noKeys: readonly string[] = []

/** The run to end has no open row: it ended already, or a restored database lacks it. */
export class RunNotOpen extends Error {
  constructor(readonly run: string) {
    super(`run ${run} is not open`)
  }
}

/** Without usage the meters are zero; without prices there are no lines. */
function linesFor(
  open: RunRow,
  prices: Prices | undefined,
  usage: Usage | undefined,
): { lines: MeterLine[]; isCapped: boolean } {
  if (!prices) return { lines: [], isCapped: false }
  if (usage) return chargedLines(prices, open.kind, usage, open)
  const nothing = { inputTokens: 0, outputTokens: 0 }
  const lines = linesOf({ ...prices, requestNusd: 0n }, open.kind, nothing)
  return { lines, isCapped: false }
}

/** The ended run's row, without its digest and its place in the log. */
function endedRow(
  { open, ending, durationMs }: RunEnd,
  lines: MeterLine[],
  finishedAt: Millis,
  issuer: string,
): Omit<EndedRun, 'digest'> & { digest: Uint8Array | null } {
  const { output, outcome } = ending
  const isKept = open.background && output !== null
  return {
    ...open,
    // Only an open run is looked for by its node.
    node: '',
    finishedAt,
    issuer,
    durationMs,
    status: statusOf(outcome),
    route: ending.route,
    firstByteAt: ending.firstByteAt,
    lines: lines.map(({ meter, quantity, pricePusd }) => ({
      meter,
      quantity,
      price: pricePusd.toString(),
    })),
    cost: costOf(lines, open.discountBps),
    usageSource: ending.usageSource,
    clamped: ending.clamped,
    outcome,
    error: ending.error,
    outputCommitment: output === null ? null : commitOutput(open.seed, output),
    output: isKept ? output : null,
    outputUntil: isKept ? finishedAt + outputKeptMs : null,
  }
}

/** Makes the event of an ended run. It never holds a text: request and answer stay with the run. */
const endEvent = (run: RunRow): NewEvent => ({
  type: 'run.ended',
  account: run.accountId,
  subject: run.id,
  data: {
    run_id: run.id,
    key_id: run.keyId,
    receipt_id: receiptIdOf(run.id),
    model: run.model,
    status: run.status,
    outcome: run.outcome,
    cost_nusd: toJsonInteger(run.cost),
    duration_ms: run.durationMs,
    tags: run.tags,
  },
})

/** The state a run ends in. A partial answer is charged, but the run failed. */
export function statusOf(outcome: Outcome): RunStatus {
  if (outcome === 'complete') return 'succeeded'
  return outcome === 'partial' ? 'failed' : outcome
}

/** The outcome of a run that was stopped or whose upstream failed. */
export function outcomeOf(stopped: StopReason | undefined, delivered: boolean): Outcome {
  if (stopped === undefined || stopped === 'overdue') return delivered ? 'partial' : 'failed'
  if (stopped === 'shutdown') return delivered ? 'partial' : 'interrupted'
  return 'cancelled'
}
