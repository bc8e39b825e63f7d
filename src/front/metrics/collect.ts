import type { Deps } from '../../app/deps-port.ts'
import { depositStatus } from '../../billing/deposits/deposit-status.ts'
import { within } from '../../kernel/within.ts'
import { anchorStatus, chainStatus } from '../../proof/anchors/anchor-status.ts'
import { isDiverged } from '../../proof/log/divergence.ts'
import { clockStatus } from '../status/clock.ts'
import { probeMs } from '../status/health.ts'
import { type Family, gauge, gauges, writeExposition } from './exposition.ts'
import type { MetricsStore } from './store.ts'

/** What only the process knows of itself. */
export type ProcessFacts = {
  residentBytes: number
  heapBytes: number
  /** Of all its threads since the start. */
  cpuSeconds: number
  /** Seconds since the Unix epoch. */
  startedAt: number
}

type Needs = Parameters<typeof anchorStatus>[0] &
  Pick<
    Deps,
    | 'depositPolicy'
    | 'leaseClock'
    | 'live'
    | 'logStore'
    | 'meters'
    | 'settings'
    | 'status'
    | 'upstreams'
    | 'version'
  > & { metrics: MetricsStore; readProcess: (() => ProcessFacts) | undefined }

/** How long a scrape serves those that come after it, in ms: many cost no more than one. */
const freshMs = 500

/** Gives the whole exposition; scrapes of one moment share one look at the database. */
export function metricsReader(deps: Needs): () => Promise<string> {
  let latest: { at: number; text: Promise<string> } | undefined
  return () => {
    const at = deps.clock.monotonic()
    if (!latest || at - latest.at > freshMs) latest = { at, text: collect(deps) }
    return latest.text
  }
}

/** A database that does not answer in time leaves out what it alone knows, and says so. */
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
    gauge('counterfoil_database_up', 'Whether the database takes writes.', Number(isUp)),
    gauge('counterfoil_database_ping_seconds', 'One read of one row, now.', pingSeconds),
    ...(stored ?? []),
    ...placeFamilies(deps),
    ...healthFamilies(deps),
    ...processFamilies(deps),
  ])
}

const buildFamilies = ({ version, status, settings }: Needs): Family[] => [
  gauges('counterfoil_build_info', 'What runs here.', [
    {
      labels: {
        version: version.version,
        commit: version.commit ?? '',
        engine: status.database.engine,
      },
      value: 1,
    },
  ]),
  gauge('counterfoil_nodes', 'Servers that live on this database.', settings.nodes),
]

/** What is asked of the database: the holds, the log and how much of it is on the chain. */
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
    gauge('counterfoil_holds_open', 'Holds of all nodes that no run has settled.', holds.count),
    gauge('counterfoil_oldest_hold_seconds', 'Age of the oldest open hold.', age),
    gauge('counterfoil_log_size', 'Leaves of the log.', size),
    gauge(
      'counterfoil_log_anchored_size',
      'Leaves that are on the chain.',
      onChain.log.anchored_size,
    ),
    gauge('counterfoil_oldest_unanchored_seconds', 'Longest wait for an anchor.', waited),
    gauge(
      'counterfoil_anchors_ok',
      'Whether heads of the log get to the chain; absent where anchors are off.',
      status === 'disabled' ? null : Number(status === 'ok'),
    ),
    gauge(
      'counterfoil_database_wal_bytes',
      'The write-ahead log of SQLite, as its file is.',
      deps.metrics.walBytes(),
    ),
  ]
}

/** Who is at work, and who waits for a place. */
function placeFamilies({ live, upstreams }: Needs): Family[] {
  const loads = upstreams.list().flatMap(({ id, load }) => (load ? [{ id, ...load() }] : []))
  const each = (of: 'taken' | 'waiting' | 'most') =>
    loads.map((load) => ({ labels: { upstream: load.id }, value: load[of] }))
  const breakers = upstreams.list().flatMap(({ id, breaker }) => {
    const value = Number(breaker?.().state !== 'closed')
    return breaker ? [{ labels: { upstream: id }, value }] : []
  })
  return [
    gauge('counterfoil_runs_in_flight', 'Runs that this process admitted.', live.count()),
    gauges('counterfoil_upstream_places_taken', 'Requests that an upstream has.', each('taken')),
    gauges('counterfoil_upstream_places_waiting', 'Requests in its queue.', each('waiting')),
    gauges('counterfoil_upstream_places_most', 'Requests it gets at once.', each('most')),
    gauges('counterfoil_upstream_open', 'Whether an upstream rests after failures.', breakers),
  ]
}

/** What the jobs found last. */
function healthFamilies(deps: Needs): Family[] {
  const { health } = deps
  const chain = chainStatus(deps)
  const deposits = depositStatus(deps)
  const ofClock = clockStatus(deps)
  const isChecked = health.ledger !== 'checking'
  return [
    gauge(
      'counterfoil_ledger_balanced',
      'Whether money agrees with its journal; absent until the first audit.',
      isChecked ? Number(health.ledger === 'balanced') : null,
    ),
    gauge(
      'counterfoil_ledger_drift',
      'Differences that the last audit found.',
      isChecked ? health.ledgerFaults : null,
    ),
    gauge(
      'counterfoil_log_diverged',
      'Whether the database lacks a head of the log that a node or the chain knows.',
      Number(isDiverged(health)),
    ),
    gauge(
      'counterfoil_log_checked',
      'Whether the log was compared since the last connection to the database broke.',
      Number(health.heads !== 'unchecked'),
    ),
    gauge(
      'counterfoil_chain_ok',
      'Whether the chain answers; absent where none is configured.',
      chain.status === 'disabled' ? null : Number(chain.status === 'ok'),
    ),
    gauge('counterfoil_chain_head', 'The newest block seen.', chain.head),
    gauge('counterfoil_chain_head_lag_seconds', 'Since the newest block.', chain.lag_s),
    gauge(
      'counterfoil_deposits_ok',
      'Whether deposits are credited; absent where they are off.',
      deposits.status === 'disabled' ? null : Number(deposits.status === 'ok'),
    ),
    gauge(
      'counterfoil_deposits_held_back',
      'Deposits that wait for a second RPC server to agree.',
      health.deposits.doubts.length,
    ),
    gauge('counterfoil_deposits_block', 'The last block read.', health.deposits.cursor),
    gauge(
      'counterfoil_clock_offset_seconds',
      "How far this machine's clock is ahead of the database's; absent on SQLite.",
      ofClock.offset_ms === null ? null : ofClock.offset_ms / 1000,
    ),
    gauge(
      'counterfoil_anchor_sender_wei',
      'What pays for anchors, at the last look.',
      health.anchors.balanceWei,
    ),
  ]
}

function processFamilies({ readProcess }: Needs): Family[] {
  const facts = readProcess?.()
  if (!facts) return []
  return [
    gauge('process_resident_memory_bytes', 'Resident memory.', facts.residentBytes),
    gauge('counterfoil_heap_bytes', 'Memory of its objects.', facts.heapBytes),
    {
      name: 'process_cpu_seconds_total',
      type: 'counter',
      help: 'Time on processors.',
      samples: [{ value: facts.cpuSeconds }],
    },
    gauge('process_start_time_seconds', 'Start, since the Unix epoch.', facts.startedAt),
  ]
}
