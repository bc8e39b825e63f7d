import type { Json } from '../kernel/canonical.ts'
import { toRfc3339 } from '../kernel/clock.ts'
import { toJsonInteger } from '../kernel/money.ts'
import { Refusal, type RefusalType } from '../kernel/refusal.ts'
import { UpstreamFailure } from '../models/upstream/upstream.ts'
import { receiptIdOf } from '../proof/receipts/receipt.ts'
import type { RunRow } from '../storage/db/schema.ts'
import type { StopReason } from './live.ts'

/**
 * A run: one request to a model, held for before it starts and settled when it ends.
 * `running → succeeded | failed | cancelled | interrupted`; a background run starts `queued`.
 */
export type RunStatus = RunRow['status']
export const runStatuses = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'cancelled',
  'interrupted',
] as const satisfies readonly RunStatus[]
export type Outcome = NonNullable<RunRow['outcome']>

/** Why a run did not complete, in the words of the error table. */
export type RunError = { type: RefusalType; message: string }

/** The state a run ends in. A partial answer was paid for, but the run failed. */
export function statusOf(outcome: Outcome): RunStatus {
  if (outcome === 'complete') return 'succeeded'
  return outcome === 'partial' ? 'failed' : outcome
}

/** How a run that was stopped or whose upstream failed ended. */
export function outcomeOf(stopped: StopReason | undefined, delivered: boolean): Outcome {
  if (stopped === undefined) return delivered ? 'partial' : 'failed'
  if (stopped === 'shutdown') return delivered ? 'partial' : 'interrupted'
  return 'cancelled'
}

const signedOut = 'Your session ended, and the run with it.'

/**
 * What the caller is told of a failure. Never the upstream's own words, and never that nothing was
 * charged when part of the answer was delivered.
 */
export function refusalOf(
  error: unknown,
  stopped: StopReason | undefined,
  delivered: boolean,
): Refusal {
  const charged = delivered ? { message: brokeOff } : {}
  if (stopped === 'key_revoked' || stopped === 'account_suspended') return new Refusal(stopped)
  if (stopped === 'session_ended') {
    return new Refusal('session_required', { message: signedOut })
  }
  if (stopped === 'shutdown') {
    const headers = { 'retry-after': '1', 'retry-after-ms': '1000' }
    return new Refusal('unavailable', { message: 'The server is stopping. Try again.', headers })
  }
  if (stopped) {
    // SDKs try a 409 again, and would start the run that was just cancelled once more.
    const headers = { 'x-should-retry': 'false' }
    return new Refusal('conflict', { message: 'The run was cancelled.', headers })
  }
  if (!(error instanceof UpstreamFailure)) {
    return error instanceof Refusal ? error : new Refusal('internal_error')
  }
  if (error.reason === 'timeout' || error.reason === 'too_long') {
    return new Refusal('upstream_timeout', charged)
  }
  if (error.reason === 'open') return restingRefusal(error.restMs ?? 0)
  if (error.reason === 'share') {
    return new Refusal('concurrency_limited', {
      message: 'Your account has its share of this model at work. Wait for a run to end.',
      headers: { 'retry-after': '2', 'retry-after-ms': '2000' },
    })
  }
  if (error.reason === 'busy') {
    return new Refusal('unavailable', {
      message: 'The model server is busy. Nothing was charged; try again in a few seconds.',
      headers: { 'retry-after': '2', 'retry-after-ms': '2000' },
    })
  }
  if (error.reason === 'rejected') {
    return new Refusal('invalid_request', {
      message: `The model server refused the request (status ${error.status}). Check its fields.`,
    })
  }
  return new Refusal('upstream_error', charged)
}

/** What is said of a model whose server failed so often that it is not asked for now. */
export function restingRefusal(restMs: number): Refusal {
  const ms = Math.max(1000, Math.ceil(restMs))
  return new Refusal('unavailable', {
    message: 'The model server fails and rests. Nothing was charged; wait as Retry-After says.',
    headers: { 'retry-after': String(Math.ceil(ms / 1000)), 'retry-after-ms': String(ms) },
  })
}

const brokeOff = 'The model server broke off. What it had delivered was charged: see the receipt.'

/** A run as `/v1/runs` shows it; `output` only where it is kept or was asked for just now. */
export function toRunView(run: RunRow, output?: Json) {
  return {
    id: run.id,
    object: 'run' as const,
    status: run.status,
    kind: run.kind,
    model: run.model,
    route: run.route,
    key_id: run.keyId,
    created_at: toRfc3339(run.createdAt),
    started_at: timeOrNull(run.startedAt),
    first_byte_at: timeOrNull(run.firstByteAt),
    finished_at: timeOrNull(run.finishedAt),
    hold_nusd: toJsonInteger(run.hold),
    lines: run.lines.map(({ meter, quantity, price }) => ({
      meter,
      quantity,
      price_pusd: toJsonInteger(BigInt(price)),
    })),
    cost_nusd: toJsonInteger(run.cost),
    discount_bps: run.discountBps,
    usage_source: run.usageSource,
    clamped: run.clamped,
    outcome: run.outcome,
    error: run.error,
    receipt_id: run.finishedAt === null ? null : receiptIdOf(run.id),
    background: run.background,
    tags: run.tags,
    metadata: run.metadata,
    ...(output === undefined ? {} : { output }),
  }
}

const timeOrNull = (at: number | null): string | null => (at === null ? null : toRfc3339(at))
