/** Decides what a run is charged when its answer is complete and when it breaks off. */
import type { Deps } from '../app/deps-port.ts'
import type { Json } from '../kernel/canonical.ts'
import type { Millis } from '../kernel/clock.ts'
import type { Refusal } from '../kernel/refusal.ts'
import type { Usage } from '../models/meter.ts'
import type { RouteStep } from '../models/model.ts'
import { decideUsage, type UsageClaim } from '../models/usage.ts'
import { wholesaleOf } from '../models/wholesale.ts'
import { receiptIdOf } from '../proof/receipts/receipt.ts'
import type { RunRow } from '../storage/db/schema.ts'
import type { Answer } from './answer.ts'
import { refusalOf } from './failure.ts'
import { type Ending, finish } from './finish.ts'
import { type LiveRun, namesOf } from './live-run.ts'
import { routeName } from './route.ts'
import { outcomeOf } from './run.ts'

/**
 * Seals the answer for a retry with the same Idempotency-Key. The command that ends the run stores
 * it together with the charge.
 */
export type Keep<Done> = {
  done(done: Done): Uint8Array
  /** The answer of a run that broke off and was charged. */
  failed(refusal: Refusal, run: RunRow): Uint8Array
}

export type Delivered = Pick<Answer, 'outputBytes' | 'deltas' | 'usage' | 'tier'>

/** The ending of a run whose answer is complete, charged by its usage. */
export function chargedEnding(
  live: LiveRun,
  answer: Delivered,
  step: RouteStep | undefined,
  facts: Pick<Ending, 'firstByteAt' | 'output'>,
): Ending & { usage: Usage } {
  const claim: UsageClaim = {
    bound: live.bound,
    prices: live.model.prices,
    reported: answer.usage,
    tier: answer.tier,
    delivered: {
      inputBytes: live.bound.inputBytes,
      outputBytes: answer.outputBytes,
      deltas: answer.deltas,
    },
    embedded: live.model.verifiable === 're-executable',
  }
  const decided = decideUsage(claim)
  const { usage, source, clamped } = decided
  const route = routeName(step)
  const wholesale = step?.cost && wholesaleOf(step.cost, live.model, claim, decided)
  const ending = { route, usage, usageSource: source, clamped, error: null, wholesale, ...facts }
  return { ...ending, outcome: 'complete' }
}

type Broken = {
  step: RouteStep | undefined
  delivered: Answer | undefined
  firstByteAt: Millis | null
  keep?: Pick<Keep<never>, 'failed'> | undefined
}

/**
 * Ends a run that did not complete. Output delivered is charged by our own count, because the
 * upstream's usage never arrived; a run that delivered nothing is not charged.
 */
export async function endFailed(
  deps: Deps,
  live: LiveRun,
  error: unknown,
  { step, delivered, firstByteAt, keep }: Broken,
): Promise<Refusal> {
  const stopped = live.stopped()
  const refusal = refusalOf(error, stopped, delivered !== undefined)
  if (refusal.type === 'internal_error') deps.log.error('run.failed', error, namesOf(live))
  const output = (delivered?.choices ?? null) as Json
  const facts = { firstByteAt, output }
  const ended = delivered && chargedEnding(live, { ...delivered, usage: undefined }, step, facts)
  const receiptId = receiptIdOf(live.id)
  refusal.detail.headers = { ...refusal.detail.headers, 'x-receipt-id': receiptId }
  refusal.detail.metadata = { ...refusal.detail.metadata, run_id: live.id, receipt_id: receiptId }
  const ending: Ending = {
    ...facts,
    outcome: outcomeOf(stopped, delivered !== undefined),
    route: routeName(step),
    usage: ended?.usage,
    usageSource: 'counted',
    clamped: ended?.clamped ?? false,
    wholesale: ended?.wholesale,
    error: { type: refusal.type, message: refusal.message },
  }
  await finish(deps, live, ending, keep && (({ run }) => keep.failed(refusal, run)))
  return refusal
}
