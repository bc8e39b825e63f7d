import type { Deps } from '../app/deps-port.ts'
import type { Json } from '../kernel/canonical.ts'
import type { Millis } from '../kernel/clock.ts'
import { type Hex, toHex } from '../kernel/hex.ts'
import { StorageFault } from '../kernel/storage-fault.ts'
import { endHold } from '../ledger/ledger.ts'
import { costOf, linesOf, type MeterLine, type Prices, type Usage } from '../models/model.ts'
import { commitOutput, digestOf, factsOf, receiptIdOf } from '../proof/receipts/receipt.ts'
import type { RunRow } from '../storage/db/schema.ts'
import { type LiveRun, namesOf } from './live.ts'
import { type RunError, statusOf } from './run.ts'

/** How a run ended. Without `usage` nothing was delivered, and nothing is charged. */
export type Ending = {
  outcome: NonNullable<RunRow['outcome']>
  route: string
  usage: Usage | undefined
  usageSource: NonNullable<RunRow['usageSource']>
  clamped: boolean
  firstByteAt: Millis | null
  error: RunError | null
  /** What the receipt commits to: the choices or the embeddings; null when nothing came out. */
  output: Json | null
}

export type Finished = { run: RunRow; receiptId: string; digest: Hex }

/** What becomes, at the end of a run, of the call that began it with an Idempotency-Key. */
export type CallEnd = {
  scope?: string | undefined
  /** Its answer, written down and sealed; without one, what is kept stays as it is. */
  reply?: ((done: Finished) => Uint8Array) | undefined
}

/** How long the output of a background run is kept after its end. */
const outputKeptMs = 3_600_000

type Needs = Pick<
  Deps,
  'acknowledged' | 'ledger' | 'clock' | 'settings' | 'sequencer' | 'live' | 'log' | 'runs'
>

/**
 * Ends a run: charges its lines, frees the rest of its hold, and leaves the receipt, all in one
 * command; resolves after its COMMIT. If that fails, nothing was charged, and the hold is freed
 * as soon as the database takes writes again; after a fault with `doubt` it may be charged.
 */
export async function finish(
  deps: Needs,
  live: LiveRun,
  ending: Ending,
  reply?: CallEnd['reply'],
): Promise<Finished> {
  const call = live.call === undefined ? undefined : { scope: live.call, reply }
  const durationMs = Math.round(deps.clock.monotonic() - live.startedAt)
  const { received, row } = live
  const store = () => settle(deps, row, live.model.prices, ending, durationMs, { received, call })
  try {
    const done = await store().catch((error) => afterDoubt(deps, error, { row, ending, store }))
    const { id: runId, digest, cost, finishedAt: at } = done.run
    if (digest && at !== null) deps.acknowledged.add({ runId, digest, cost, at })
    return done
  } catch (error) {
    deps.log.error('run.settle_failed', error, namesOf(live))
    freeLater(deps, row, live.model.prices, { ...ending, ...unstored }, durationMs)
    throw error
  } finally {
    deps.live.remove(live.id)
    deps.live.release(
      live.row.accountId,
      live.row.windows.map(([keyId]) => keyId),
    )
    live.tell(undefined)
  }
}

/**
 * A COMMIT whose answer was lost is looked for behind its locks: what it stored is what happened,
 * and what it did not store is stored now.
 * @throws the error where that is no such COMMIT, or it cannot be looked for.
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

/** What is known of a run whose beginning or end could not be stored: it charges nothing. */
export const unstored = {
  outcome: 'failed',
  usage: undefined,
  output: null,
  error: { type: 'internal_error', message: 'The end of the run could not be stored.' },
} as const

/** Ends a run as soon as the database takes writes again, if it is there and still open. */
export function freeLater(
  deps: Pick<Deps, 'ledger' | 'clock' | 'settings' | 'sequencer' | 'live' | 'runs'>,
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
  /** The request as it was received, when the account wants its texts kept. */
  received?: Json | undefined
  /** Absent when the run was begun without an Idempotency-Key; empty when nobody knows. */
  call?: CallEnd | undefined
}

/** The command itself, also for a run that an earlier process left open. */
export async function settle(
  deps: Pick<Deps, 'ledger' | 'clock' | 'settings' | 'sequencer'>,
  open: RunRow,
  prices: Prices | undefined,
  ending: Ending,
  durationMs: number,
  { received, call }: Aside,
): Promise<Finished> {
  const lines = linesFor(open, prices, ending.usage)
  // Its receipt goes into the log of now, whichever was there when it began.
  const { issuer } = deps.settings
  const ended = endedRow(open, ending, lines, { finishedAt: deps.clock.now(), issuer, durationMs })
  const digest = digestOf(factsOf(ended, lines))
  ended.digest = digest
  const receiptId = receiptIdOf(open.id)
  // What failed and charged nothing may be tried again with the same key.
  const isKept = ending.outcome === 'complete' || ended.cost > 0n
  const told = isKept && call?.reply ? { run: ended, receiptId, digest: toHex(digest) } : undefined
  const reply = told && call?.reply?.(told)
  await deps.ledger.post({
    account: open.accountId,
    keys: open.windows.map(([keyId]) => keyId),
    run: open.id,
    decide(unit) {
      const held = unit.run(open.id)
      if (!held) throw new Error(`run ${open.id} is not open`)
      endHold(unit, held, ended.cost)
      // All of it, because the digest is of this row: the stored one may say another start.
      unit.endRun(ended)
      if (received !== undefined) {
        const { id, accountId } = open
        unit.keepText({ runId: id, accountId, input: received, output: ending.output })
      }
      if (reply && call?.scope !== undefined) unit.answerCall(call.scope, reply)
      if (call && !isKept) unit.freeCall(open.id)
    },
  })
  // Where this process writes alone it has its number already.
  if (ended.logPlace === null) deps.sequencer.wake()
  return { run: ended, receiptId, digest: toHex(digest) }
}

/** What delivered nothing has its meters at zero, or no line where the prices are not known. */
function linesFor(open: RunRow, prices: Prices | undefined, usage: Usage | undefined): MeterLine[] {
  if (!prices) return []
  if (usage) return linesOf(prices, open.kind, usage)
  const nothing = { inputTokens: 0, outputTokens: 0 }
  return linesOf({ ...prices, requestNusd: 0n }, open.kind, nothing)
}

/** What only the moment of a run's end says. */
type End = { finishedAt: Millis; issuer: string; durationMs: number }

/** The row of a run from its end on, but for its digest and its place in the log. */
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
