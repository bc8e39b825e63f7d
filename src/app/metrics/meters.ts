/** The counters and histograms of this process. */

import type { Family } from '../../kernel/exposition.ts'
import { type RefusalType, refusals } from '../../kernel/refusal.ts'
import type { Posted } from '../../ledger/unit-of-work.ts'
import type { ReachTrouble } from '../../models/upstream/reach-trouble.ts'
import type { FailureReason } from '../../models/upstream/upstream.ts'
import type { DeliveryRow, RunRow, UpstreamEvidenceRow } from '../../storage/db/schema/schema.ts'
import { makeInstruments } from './instruments.ts'

/** Everything that this process counts, since its start. */
export type Meters = {
  /** After the COMMIT of a batch. */
  posted(batch: Posted): void
  upstreamAsked(upstream: string): void
  upstreamAnswered(upstream: string, seconds: number): void
  upstreamFailed(upstream: string, reason: FailureReason | ReachTrouble): void
  /** Units of a run that were billed by another rate than their own, by their class. */
  unpriced(model: string, units: readonly (readonly [meter: string, units: number])[]): void
  /** A report of a run contradicts itself, on these sides. */
  contradicted(model: string, sides: readonly string[]): void
  /** An upstream was paused after failures. */
  upstreamOpened(upstream: string): void
  /** A key of an upstream rests after an answer of this status. */
  upstreamKeyRested(upstream: string, status: number): void
  /** A request was refused with an error of this type. */
  refused(type: RefusalType): void
  /** The configuration was read again. */
  reloaded(result: 'ok' | 'refused' | 'failed'): void
  /** The evidence of a run, of an upstream that signs its answers, was found or given up. */
  evidenceEnded(upstream: string, state: UpstreamEvidenceRow['state']): void
  /** A webhook was tried. */
  delivered(status: DeliveryRow['status']): void
  wrote(seconds: number): void
  lagged(seconds: number): void
  families(): Family[]
}

export function makeMeters(): Meters {
  const instruments = makeInstruments()
  // Prometheus sees no increase in a counter that first appears above 0.
  for (const type of Object.keys(refusals)) instruments.refusals.add({ type }, 0)
  for (const result of ['ok', 'refused', 'failed']) instruments.reloads.add({ result }, 0)
  const endedRun = (run: RunRow): void => {
    const { model, kind, outcome, cost, durationMs, firstByteAt, createdAt } = run
    instruments.runs.add({ model, outcome: outcome ?? 'failed' })
    if (cost > 0n) instruments.costs.add({ model }, cost)
    if (durationMs !== null) instruments.durations.observe({ kind }, durationMs / 1000)
    if (firstByteAt !== null) {
      instruments.firstBytes.observe({ kind }, Math.max(0, firstByteAt - createdAt) / 1000)
    }
  }
  return {
    posted({ added }) {
      for (const run of added.ended) endedRun(run)
      for (const { kind, amount } of added.transfers) {
        instruments.transfers.add({ kind })
        instruments.moved.add({ kind }, amount)
      }
    },
    upstreamAsked: (upstream) => instruments.asked.add({ upstream }),
    upstreamAnswered: (upstream, seconds) => instruments.waits.observe({ upstream }, seconds),
    upstreamFailed: (upstream, reason) => instruments.failed.add({ upstream, reason }),
    upstreamOpened: (upstream) => instruments.opened.add({ upstream }),
    upstreamKeyRested: (upstream, status) =>
      instruments.rested.add({ upstream, status: String(status) }),
    refused: (type) => instruments.refusals.add({ type }),
    reloaded: (result) => instruments.reloads.add({ result }),
    unpriced(model, units) {
      for (const [meter, count] of units) instruments.unpriced.add({ model, meter }, count)
    },
    contradicted(model, sides) {
      for (const side of sides) instruments.contradicted.add({ model, side })
    },
    evidenceEnded: (upstream, state) => instruments.evidence.add({ upstream, state }),
    delivered: (status) => {
      instruments.deliveries.add({ outcome: status === 'pending' ? 'retried' : status })
    },
    wrote: (seconds) => instruments.writes.observe({}, seconds),
    lagged: (seconds) => instruments.lags.observe({}, seconds),
    families: () => Object.values(instruments).map((one) => one.family()),
  }
}
