/** The counters and histograms of this process. */
import type { Posted } from '../../ledger/unit-of-work.ts'
import type { FailureReason } from '../../models/upstream/upstream.ts'
import type { DeliveryRow, RunRow, UpstreamEvidenceRow } from '../../storage/db/schema.ts'
import type { Family } from './exposition.ts'
import { counter, histogram } from './instrument.ts'

/** Everything that this process counts, since its start. */
export type Meters = {
  /** After the COMMIT of a batch. */
  posted(batch: Posted): void
  upstreamAsked(upstream: string): void
  upstreamAnswered(upstream: string, seconds: number): void
  upstreamFailed(upstream: string, reason: FailureReason): void
  /** Units of a run that were billed by another rate than their own, by their class. */
  unpriced(model: string, units: readonly (readonly [meter: string, units: number])[]): void
  /** An upstream was paused after failures. */
  upstreamOpened(upstream: string): void
  /** The evidence of a run, of an upstream that signs its answers, was found or given up. */
  evidenceEnded(upstream: string, state: UpstreamEvidenceRow['state']): void
  /** A webhook was tried. */
  delivered(status: DeliveryRow['status']): void
  wrote(seconds: number): void
  lagged(seconds: number): void
  families(): Family[]
}

const runSeconds = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]
const shortSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

export function makeMeters(): Meters {
  const instruments = makeInstruments()
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
    unpriced(model, units) {
      for (const [meter, count] of units) instruments.unpriced.add({ model, meter }, count)
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

/**
 * Labels are configured models and upstreams, and words of closed lists; never an account, a key,
 * or a value chosen by a caller or a model.
 */
function makeInstruments() {
  return {
    runs: counter('counterfoil_runs_total', 'Runs that ended.', ['model', 'outcome']),
    costs: counter('counterfoil_run_cost_nusd_total', 'Charges of ended runs, in nano-USD.', [
      'model',
    ]),
    durations: histogram(
      'counterfoil_run_duration_seconds',
      'From the hold of a run to its settlement.',
      ['kind'],
      runSeconds,
    ),
    firstBytes: histogram(
      'counterfoil_run_first_byte_seconds',
      'From the hold of a run to its first byte of output.',
      ['kind'],
      runSeconds,
    ),
    unpriced: counter(
      'counterfoil_unpriced_units_total',
      'Units of a class that the model has no rate for, reasoning left out.',
      ['model', 'meter'],
    ),
    transfers: counter('counterfoil_transfers_total', 'Ledger transfers by kind.', ['kind']),
    moved: counter(
      'counterfoil_transferred_nusd_total',
      'Transferred amounts by kind, in nano-USD.',
      ['kind'],
    ),
    asked: counter('counterfoil_upstream_requests_total', 'Requests to an upstream.', ['upstream']),
    failed: counter('counterfoil_upstream_failures_total', 'Failed requests to an upstream.', [
      'upstream',
      'reason',
    ]),
    evidence: counter(
      'counterfoil_upstream_evidence_total',
      'Runs of upstreams that sign their answers, by what came of asking for the signature.',
      ['upstream', 'state'],
    ),
    opened: counter('counterfoil_upstream_opened_total', 'Times an upstream was paused.', [
      'upstream',
    ]),
    waits: histogram(
      'counterfoil_upstream_wait_seconds',
      'From a request to its first byte, including the time in the queue.',
      ['upstream'],
      runSeconds,
    ),
    deliveries: counter('counterfoil_webhook_tries_total', 'Tries to deliver an event.', [
      'outcome',
    ]),
    writes: histogram(
      'counterfoil_database_write_seconds',
      'From a write to its COMMIT.',
      [],
      shortSeconds,
    ),
    lags: histogram(
      'counterfoil_event_loop_lag_seconds',
      'Delay of a timer that runs ten times a second.',
      [],
      shortSeconds,
    ),
  }
}
