/** Lists the counters and histograms of this process. */
import { counter, histogram } from './instrument.ts'

const runSeconds = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]
const shortSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/**
 * Labels are configured models and upstreams, and words of closed lists; never an account, a key,
 * or a value chosen by a caller or a model.
 */
export function makeInstruments() {
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
    contradicted: counter(
      'counterfoil_usage_contradictions_total',
      'Runs whose reported usage contradicts itself, by the side that does.',
      ['model', 'side'],
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
    rested: counter(
      'counterfoil_upstream_key_rests_total',
      'Times a key of an upstream with several was left alone, by the status of its answer.',
      ['upstream', 'status'],
    ),
    ...processInstruments(),
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
  }
}

/** Counters of the process as a whole. */
const processInstruments = () => ({
  refusals: counter('counterfoil_refusals_total', 'Requests refused, by the type of the error.', [
    'type',
  ]),
  reloads: counter('counterfoil_reloads_total', 'Times the configuration was read again.', [
    'result',
  ]),
  lags: histogram(
    'counterfoil_event_loop_lag_seconds',
    'Delay of a timer that runs ten times a second.',
    [],
    shortSeconds,
  ),
})
