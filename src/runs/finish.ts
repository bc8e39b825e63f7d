/** Ends a run: charges its lines, frees the rest of its hold and leaves the receipt's digest. */
import type { Deps } from '../app/deps-port.ts'
import { quoteDigestOf } from '../billing/quotes/apply-quote.ts'
import type { Json } from '../kernel/canonical.ts'
import type { Millis } from '../kernel/clock.ts'
import { type Hex, toHex } from '../kernel/hex.ts'
import type { Nusd } from '../kernel/money.ts'
import { StorageFault } from '../kernel/storage-fault.ts'
import { keysIn } from '../ledger/brake.ts'
import { endHold } from '../ledger/hold.ts'
import { returnUse } from '../ledger/quoted.ts'
import { costOf, type MeterLine, type Usage } from '../models/meter.ts'
import type { Prices } from '../models/rate-card.ts'
import { linesOf, unpricedUnits } from '../models/rates.ts'
import type { Exchange } from '../models/upstream/exchange.ts'
import { exchangeRow, noteAnswer } from '../proof/attested/exchange-row.ts'
import { commitOutput, digestOf, factsOf, receiptIdOf } from '../proof/receipts/receipt.ts'
import type { RunRow } from '../storage/db/schema.ts'
import { endEvent } from './end-event.ts'
import { type LiveRun, namesOf } from './live-run.ts'
import { type RunError, statusOf } from './run.ts'

/** How a run ended. Without `usage` it delivered nothing and is not charged. */
export type Ending = {
  outcome: NonNullable<RunRow['outcome']>
  route: string
  usage: Usage | undefined
  usageSource: NonNullable<RunRow['usageSource']>
  clamped: boolean
  firstByteAt: Millis | null
  error: RunError | null
  /** What the upstream charges the operator; undefined where that is not known. */
  wholesale?: Nusd | undefined
  /** The choices or embeddings that the receipt commits to; null if there are none. */
  output: Json | null
}

export type Finished = { run: RunRow; receiptId: string; digest: Hex }

/** The end of a run whose request had an Idempotency-Key. */
export type CallEnd = {
  scope?: string | undefined
  /** Seals the answer to store; without it the stored answer stays. */
  reply?: ((done: Finished) => Uint8Array) | undefined
}

/** How long the output of a background run is kept after its end, in ms. */
const outputKeptMs = 3_600_000

/**
 * Does all of it in one command and resolves after its COMMIT. If that fails, nothing is charged
 * and the hold is freed when the database accepts writes again. After a fault with `doubt` the run
 * may have been charged.
 */
export async function finish(
  deps: Deps,
  live: LiveRun,
  ending: Ending,
  reply?: CallEnd['reply'],
): Promise<Finished> {
  const call = live.call === undefined ? undefined : { scope: live.call, reply }
  const durationMs = Math.round(deps.clock.monotonic() - live.startedAt)
  const { received, row, exchange } = live
  const aside = { received, call, exchange }
  const isOpen = exchange !== undefined && exchange.answer === undefined
  const { prices } = live.model
  try {
    let done: Finished
    try {
      done = await settle(deps, row, prices, ending, durationMs, aside)
    } catch (error) {
      const store = () => settle(deps, row, prices, ending, durationMs, aside)
      done = await afterDoubt(deps, error, { row, ending, store })
    }
    const { id: runId, digest, cost, finishedAt: at } = done.run
    if (ending.usage?.classes) {
      deps.meters.unpriced(live.model.id, unpricedUnits(prices, ending.usage))
    }
    if (digest && at !== null) deps.acknowledged.add({ runId, digest, cost, at })
    if (isOpen && done.run.outcome === 'complete') void noteAnswer(deps, runId, exchange)
    live.span?.end(done.run, ending)
    return done
  } catch (error) {
    deps.log.error('run.settle_failed', error, namesOf(live))
    live.span?.end({ ...row, ...unstored })
    freeLater(deps, row, prices, { ...ending, ...unstored }, durationMs)
    throw error
  } finally {
    deps.live.remove(live.id)
    deps.live.release(live.row.accountId, keysIn(live.row.windows))
    live.tell(undefined)
  }
}

/**
 * Finds out whether a COMMIT with a lost answer was stored, after the locks of its account are
 * released: returns what it stored, or stores it now.
 * @throws the error when it is not such a COMMIT or the lookup fails.
 */
async function afterDoubt(
  deps: Pick<Deps, 'runs'>,
  error: unknown,
  { row, ending, store }: { row: RunRow; ending: Ending; store: () => Promise<Finished> },
): Promise<Finished> {
  if (!(error instanceof StorageFault) || !error.options.doubt || error.isLasting) throw error
  const found = await deps.runs.findCommitted(row).catch(() => {
    throw error
  })
  if (found?.finishedAt === null) return store()
  if (!found?.digest || found.outcome !== ending.outcome) throw error
  return { run: found, receiptId: receiptIdOf(found.id), digest: toHex(found.digest) }
}

/** The ending of a run whose beginning or end could not be stored; it charges nothing. */
export const unstored = {
  outcome: 'failed',
  usage: undefined,
  output: null,
  error: { type: 'internal_error', message: 'The end of the run could not be stored.' },
} as const

/** Ends a run, if it exists and is open, when the database accepts writes again. */
export function freeLater(
  deps: Deps,
  run: Pick<RunRow, 'id' | 'accountId'>,
  prices: Prices,
  ending: Ending,
  durationMs: number,
): void {
  deps.live.settleLater(run.id, async () => {
    const row = await deps.runs.findCommitted(run)
    if (row?.finishedAt !== null) return
    await settle(deps, row, prices, ending, durationMs, { call: {} })
  })
}

type Aside = {
  /** With the upstream that answered, if it signs its answers. */
  exchange?: Exchange | undefined
  /** The request as received, if the account keeps its texts. */
  received?: Json | undefined
  /** Undefined for a run without an Idempotency-Key; empty if that is unknown. */
  call?: CallEnd | undefined
}

/** The command itself; also ends runs that an earlier process left open. */
export async function settle(
  deps: Pick<Deps, 'ledger' | 'clock' | 'settings' | 'sequencer'>,
  open: RunRow,
  prices: Prices | undefined,
  ending: Ending,
  durationMs: number,
  { received, call, exchange }: Aside,
): Promise<Finished> {
  const lines = linesFor(open, prices, ending.usage)
  // The receipt goes into the current log, even if another one was current at the start.
  const { issuer, tellsRuns } = deps.settings
  const ended = endedRow(open, ending, lines, { finishedAt: deps.clock.now(), issuer, durationMs })
  const digest = digestOf(factsOf(ended, lines))
  ended.digest = digest
  const receiptId = receiptIdOf(open.id)
  // A run that failed without a charge may be retried with the same key.
  // Nor does it use up a quote.
  const isKept = ending.outcome === 'complete' || ended.cost > 0n
  const done = isKept && call?.reply ? { run: ended, receiptId, digest: toHex(digest) } : undefined
  const reply = done && call?.reply?.(done)
  const quote = isKept ? undefined : quoteDigestOf(open)
  await deps.ledger.post({
    account: open.accountId,
    quote,
    keys: [],
    windows: open.windows,
    run: open.id,
    decide(unit) {
      const held = unit.run(open.id)
      if (!held) throw new Error(`run ${open.id} is not open`)
      endHold(unit, held, ended.cost)
      // The whole row: the digest covers it, and the stored start may differ.
      unit.endRun(ended, ending.wholesale, exchange && exchangeRow(ended, exchange))
      if (unit.account(open.accountId)?.tellsRuns || tellsRuns) unit.addEvent(endEvent(ended))
      if (received !== undefined) {
        const { id, accountId } = open
        unit.keepText({ runId: id, accountId, input: received, output: ending.output })
      }
      if (reply && call?.scope !== undefined) unit.answerCall(call.scope, reply)
      if (call && !isKept) unit.freeCall(open.id)
      if (quote !== undefined) returnUse(unit, quote)
    },
  })
  // A process that writes alone has numbered it already.
  if (ended.logPlace === null) deps.sequencer.wake()
  return { run: ended, receiptId, digest: toHex(digest) }
}

/** Without usage the meters are zero; without prices there are no lines. */
function linesFor(open: RunRow, prices: Prices | undefined, usage: Usage | undefined): MeterLine[] {
  if (!prices) return []
  if (usage) return linesOf(prices, open.kind, usage)
  const nothing = { inputTokens: 0, outputTokens: 0 }
  return linesOf({ ...prices, requestNusd: 0n }, open.kind, nothing)
}

type End = { finishedAt: Millis; issuer: string; durationMs: number }

/** The ended run's row, without its digest and its place in the log. */
function endedRow(
  open: RunRow,
  ending: Ending,
  lines: MeterLine[],
  { finishedAt, issuer, durationMs }: End,
): RunRow & { finishedAt: Millis } {
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
