/** Collects the metrics of one scrape. */

import { depositStatus } from '../../billing/deposits/deposit-status.ts'
import { clockStatus } from '../../front/status/clock.ts'
import { probeMs } from '../../front/status/health.ts'
import { type Family, gauge, gauges, writeExposition } from '../../kernel/exposition.ts'
import { within } from '../../kernel/within.ts'
import { anchorStatus, chainStatus } from '../../proof/anchors/anchor-status.ts'
import { isDiverged } from '../../proof/log/divergence.ts'
import type { Deps } from '../deps-port.ts'
import type { MetricsStore } from './store.ts'

/** Figures of the operating-system process. */
export type ProcessFacts = {
  residentBytes: number
  heapBytes: number
  /** CPU time of all threads since the start. */
  cpuSeconds: number
  /** Seconds since the Unix epoch. */
  startedAt: number
}

type Needs = Deps & {
  metrics: MetricsStore
  readProcess: (() => ProcessFacts) | undefined
}

/** Scrapes within this time share one result, in ms. */
const freshMs = 500

/** Returns a reader of the whole exposition; concurrent scrapes share one database read. */
export function metricsReader(deps: Needs): () => Promise<string> {
  let latest: { at: number; text: Promise<string> } | undefined
  return () => {
    const at = deps.clock.monotonic()
    if (!latest || at - latest.at > freshMs) latest = { at, text: collect(deps) }
    return latest.text
  }
}

/** If the database times out, its own figures are left out and `counterfoil_database_up` is 0. */
async function collect(deps: Needs): Promise<string> {
  const startedAt = deps.clock.monotonic()
  const [pingSeconds, stored] = await Promise.all([
    deps.status.ping().then(() => (deps.clock.monotonic() - startedAt) / 1000),
    within(probeMs, storedFamilies(deps)).catch(() => undefined),
  ])
  const isUp = stored !== undefined && deps.status.trouble() === undefined
  return writeExposition([
    ...buildFamilies(deps),
    ...deps.meters.families(),
    ...(deps.telemetry?.families() ?? []),
    gauge('counterfoil_database_up', 'Whether the database takes writes.', Number(isUp)),
    gauge('counterfoil_database_ping_seconds', 'Duration of a read of one row.', pingSeconds),
    ...(stored ?? []),
    ...placeFamilies(deps),
    ...healthFamilies(deps),
    ...sharedFamilies(deps),
    ...processFamilies(deps),
  ])
}

const buildFamilies = ({ version, status, settings }: Needs): Family[] => [
  gauges('counterfoil_build_info', 'Version, commit and database engine.', [
    {
      labels: {
        version: version.version,
        commit: version.commit ?? '',
        engine: status.database.engine,
      },
      value: 1,
    },
  ]),
  gauge('counterfoil_nodes', 'Live servers on this database.', settings.nodes),
]

/** Figures read from the database: holds, the log and its anchors. */
async function storedFamilies(deps: Needs): Promise<Family[]> {
  const [holds, size, onChain] = await Promise.all([
    deps.metrics.openHolds(),
    deps.logStore.size(),
    anchorStatus(deps),
  ])
  const age = holds.oldestAt === null ? 0 : Math.max(0, deps.clock.now() - holds.oldestAt) / 1000
  const { status } = onChain.anchors
  const waited = onChain.log.oldest_unanchored_s ?? (status === 'disabled' ? null : 0)
  return [
    gauge('counterfoil_holds_open', 'Open holds of all nodes.', holds.count),
    gauge('counterfoil_oldest_hold_seconds', 'Age of the oldest open hold.', age),
    gauge('counterfoil_log_size', 'Leaves of the log.', size),
    gauge(
      'counterfoil_log_anchored_size',
      'Anchored leaves of the log.',
      onChain.log.anchored_size,
    ),
    gauge('counterfoil_oldest_unanchored_seconds', 'Age of the oldest unanchored leaf.', waited),
    gauge(
      'counterfoil_anchors_ok',
      'Whether anchoring works; absent if it is off.',
      status === 'disabled' ? null : Number(status === 'ok'),
    ),
    gauge(
      'counterfoil_database_wal_bytes',
      "Size of SQLite's write-ahead log file.",
      deps.metrics.walBytes(),
    ),
  ]
}

/** Live runs, and the load and queue of each upstream. */
function placeFamilies({ live, upstreams, memory }: Needs): Family[] {
  const loads = upstreams.list().flatMap(({ id, load }) => (load ? [{ id, ...load() }] : []))
  const each = (of: 'taken' | 'waiting' | 'most') =>
    loads.map((load) => ({ labels: { upstream: load.id }, value: load[of] }))
  const breakers = upstreams.list().flatMap(({ id, breaker }) => {
    const value = Number(breaker?.().state !== 'closed')
    return breaker ? [{ labels: { upstream: id }, value }] : []
  })
  const faults = upstreams.list().flatMap(({ id, fault }) => {
    return fault ? [{ labels: { upstream: id }, value: Number(fault() !== undefined) }] : []
  })
  const resting = upstreams.list().flatMap(({ id, keys }) => {
    const known = keys?.()
    if (!known) return []
    const value = known.filter(({ status }) => status !== 'ok').length
    return [{ labels: { upstream: id }, value }]
  })
  const firstTokens = upstreams.list().flatMap(({ id, latencies }) =>
    (latencies?.list() ?? []).map(({ model, ms }) => ({
      labels: { upstream: id, model },
      value: ms / 1000,
    })),
  )
  return [
    gauge('counterfoil_runs_in_flight', 'Runs in flight here.', live.count()),
    gauge(
      'counterfoil_client_bytes',
      'Bytes of bodies and unread streams in memory.',
      memory.taken,
    ),
    gauges(
      'counterfoil_upstream_places_taken',
      'Requests in progress at an upstream.',
      each('taken'),
    ),
    gauges(
      'counterfoil_upstream_places_waiting',
      'Requests queued for an upstream.',
      each('waiting'),
    ),
    gauges('counterfoil_upstream_places_most', 'Concurrency limit of an upstream.', each('most')),
    gauges(
      'counterfoil_upstream_denied',
      'Whether an upstream does not take our key or account (401, 402, 403).',
      faults,
    ),
    gauges(
      'counterfoil_upstream_keys_resting',
      'Keys that rest or are refused, of an upstream that has several.',
      resting,
    ),
    gauges(
      'counterfoil_upstream_first_token_seconds',
      'Mean time to a first token, in which newer answers count more.',
      firstTokens,
    ),
    gauges('counterfoil_upstream_open', 'Whether an upstream is paused after failures.', breakers),
  ]
}

/** The latest results of background jobs. */
function healthFamilies(deps: Needs): Family[] {
  const { health } = deps
  const chain = chainStatus(deps)
  const deposits = depositStatus(deps)
  const ofClock = clockStatus(deps)
  const isChecked = health.ledger !== 'checking'
  return [
    gauge(
      'counterfoil_ledger_balanced',
      'Whether balances match the journal; absent until the first audit.',
      isChecked ? Number(health.ledger === 'balanced') : null,
    ),
    gauge(
      'counterfoil_ledger_drift',
      'Differences found by the last audit.',
      isChecked ? health.ledgerFaults : null,
    ),
    gauge(
      'counterfoil_log_diverged',
      'Whether the database lacks a log head that a node or the chain knows.',
      Number(isDiverged(health)),
    ),
    gauge(
      'counterfoil_log_damaged',
      'Whether a leaf of the log is damaged in the database.',
      Number(health.logDamage !== null),
    ),
    gauge(
      'counterfoil_log_checked',
      'Whether the log was checked since the database connection last broke.',
      Number(health.heads !== 'unchecked'),
    ),
    gauge(
      'counterfoil_chain_ok',
      'Whether the chain is reachable; absent if none is configured.',
      chain.status === 'disabled' ? null : Number(chain.status === 'ok'),
    ),
    gauge('counterfoil_chain_head', 'The newest block seen.', chain.head),
    gauge('counterfoil_chain_head_lag_seconds', 'Age of the newest block.', chain.lag_s),
    gauge(
      'counterfoil_deposits_ok',
      'Whether deposits are credited; absent if they are off.',
      deposits.status === 'disabled' ? null : Number(deposits.status === 'ok'),
    ),
    gauge(
      'counterfoil_deposits_held_back',
      'Deposits that wait for the second RPC server.',
      health.deposits.doubts.length,
    ),
    gauge('counterfoil_deposits_block', 'The last block read.', health.deposits.cursor),
    gauge(
      'counterfoil_clock_offset_seconds',
      "Lead of this machine's clock over the database server's; absent on SQLite.",
      ofClock.offset_ms === null ? null : ofClock.offset_ms / 1000,
    ),
    gauge(
      'counterfoil_schema_foreign',
      'Whether a newer version changed the schema, so that this node takes no runs.',
      Number(health.schema === 'foreign'),
    ),
    gauge(
      'counterfoil_anchor_sender_wei',
      'Balance of the anchor sender when last read.',
      health.anchors.balanceWei,
    ),
  ]
}

/** Figures of what several servers share. */
const sharedFamilies = ({ health }: Needs): Family[] => [
  gauge(
    'counterfoil_database_connections_few',
    'Whether the database server lately refused one more connection.',
    Number(health.connections === 'few'),
  ),
  gauge(
    'counterfoil_slot_moves_stalled',
    'Moves of slots that no command goes on with.',
    health.stalledMoves.length,
  ),
]

function processFamilies({ readProcess }: Needs): Family[] {
  const facts = readProcess?.()
  if (!facts) return []
  return [
    gauge('process_resident_memory_bytes', 'Resident memory.', facts.residentBytes),
    gauge('counterfoil_heap_bytes', 'Heap in use.', facts.heapBytes),
    {
      name: 'process_cpu_seconds_total',
      type: 'counter',
      help: 'CPU time, user and system.',
      samples: [{ value: facts.cpuSeconds }],
    },
    gauge('process_start_time_seconds', 'Start time since the Unix epoch.', facts.startedAt),
  ]
}
