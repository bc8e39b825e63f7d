import type { ReceiptRow, RunRow } from '../db/schema.ts'
import type { Deps } from '../deps.ts'
import type { Json } from '../kernel/canonical.ts'
import type { Millis } from '../kernel/clock.ts'
import { endHold } from '../ledger/ledger.ts'
import { costOf, linesOf, type MeterLine, type Prices, type Usage } from '../models/model.ts'
import { makeReceipt } from '../receipts/receipt.ts'
import { type Hex, toHex } from '../verify/hex.ts'
import type { LiveRun } from './live.ts'
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

/** How long the output of a background run is kept after its end. */
const outputKeptMs = 3_600_000

type Needs = Pick<
  Deps,
  'ledger' | 'clock' | 'ids' | 'settings' | 'sequencer' | 'live' | 'log' | 'runs'
>

/**
 * Ends a run: charges its lines, frees the rest of its hold, and leaves the receipt, all in one
 * command; resolves after its COMMIT. If that fails, nothing was charged, and the hold is freed
 * as soon as the database takes writes again.
 */
export async function finish(deps: Needs, live: LiveRun, ending: Ending): Promise<Finished> {
  const durationMs = Math.round(deps.clock.monotonic() - live.startedAt)
  try {
    return await settle(deps, live.row, live.model.prices, ending, {
      seed: live.seed,
      receiptId: live.receiptId,
      durationMs,
    })
  } catch (error) {
    deps.log.error('run.settle_failed', error, { run_id: live.id })
    const released: Ending = {
      ...ending,
      outcome: 'failed',
      usage: undefined,
      output: null,
      error: { type: 'internal_error', message: 'The end of the run could not be stored.' },
    }
    deps.live.settleLater(live.id, async () => {
      const row = await deps.runs.find(live.id)
      if (row?.finishedAt !== null) return
      const facts = { seed: live.seed, receiptId: live.receiptId, durationMs }
      await settle(deps, live.row, live.model.prices, released, facts)
    })
    throw error
  } finally {
    deps.live.remove(live.id)
    deps.live.release()
    live.tell(undefined)
  }
}

/** The command itself, also for a run that an earlier process left open. */
export async function settle(
  deps: Pick<Deps, 'ledger' | 'clock' | 'settings' | 'sequencer'>,
  open: RunRow,
  prices: Prices | undefined,
  ending: Ending,
  { seed, receiptId, durationMs }: { seed: Uint8Array; receiptId: string; durationMs: number },
): Promise<Finished> {
  const lines = linesFor(open, prices, ending.usage)
  const cost = costOf(lines, open.discountBps)
  const finishedAt = deps.clock.now()
  const { receipt, digest } = makeReceipt({
    id: receiptId,
    issuer: deps.settings.issuer,
    issuedAt: finishedAt,
    account: open.accountId,
    keyId: open.keyId,
    passportHandle: '',
    run: {
      kind: open.kind,
      model: open.model,
      route: ending.route,
      outcome: ending.outcome,
      startedAt: open.startedAt ?? open.createdAt,
      durationMs,
      usageSource: ending.usageSource,
    },
    charge: { lines, discountBps: open.discountBps, amount: cost, priceList: open.priceList },
    inputCommitment: open.inputCommitment,
    output: ending.output,
    seed,
  })
  const row: ReceiptRow = {
    id: receiptId,
    accountId: open.accountId,
    keyId: open.keyId,
    runId: open.id,
    issuedAt: finishedAt,
    body: JSON.stringify(receipt),
    digest,
    seed,
    visibility: 'private',
    logIndex: null,
    signature: null,
  }
  const run = await deps.ledger.post({
    account: open.accountId,
    keys: open.windows.map(([keyId]) => keyId),
    run: open.id,
    decide(book) {
      const held = book.run(open.id)
      if (!held) throw new Error(`run ${open.id} is not open`)
      endHold(book, held, cost)
      Object.assign(held, changesOf(open, ending, lines, { cost, finishedAt, receiptId }))
      book.changed('run', held)
      book.addReceipt(row)
      return { ...held }
    },
  })
  deps.sequencer.wake()
  return { run, receiptId, digest: toHex(digest) }
}

/** What delivered nothing has its meters at zero, or no line where the prices are not known. */
function linesFor(open: RunRow, prices: Prices | undefined, usage: Usage | undefined): MeterLine[] {
  if (!prices) return []
  if (usage) return linesOf(prices, open.kind, usage)
  const nothing = { inputTokens: 0, outputTokens: 0 }
  return linesOf({ ...prices, requestNusd: 0n }, open.kind, nothing)
}

function changesOf(
  open: RunRow,
  ending: Ending,
  lines: MeterLine[],
  paid: { cost: bigint; finishedAt: Millis; receiptId: string },
): Partial<RunRow> {
  const keeps = open.background && ending.output !== null
  return {
    ...paid,
    status: statusOf(ending.outcome),
    route: ending.route,
    startedAt: open.startedAt,
    firstByteAt: ending.firstByteAt,
    lines: lines.map(({ meter, quantity, pricePusd }) => ({
      meter,
      quantity,
      price: pricePusd.toString(),
    })),
    usageSource: ending.usageSource,
    clamped: ending.clamped,
    outcome: ending.outcome,
    error: ending.error,
    // From here on the receipt keeps it, and erasing the receipt erases it.
    seed: null,
    output: keeps ? ending.output : null,
    outputUntil: keeps ? paid.finishedAt + outputKeptMs : null,
  }
}
