/** Starts the service: repairs what a crash left, then listens; and stops it again. */
import { dirname } from 'node:path'
import { tellSkew } from '../front/status/clock.ts'
import { StorageFault } from '../kernel/storage-fault.ts'
import { within } from '../kernel/within.ts'
import { auditStore } from '../ledger/store/audit.ts'
import { watchChain } from '../proof/anchors/watch.ts'
import { nameGuard } from '../proof/log/store/logs.ts'
import { type LostReceipt, listLost } from '../proof/receipts/lost.ts'
import { writeLost } from '../proof/receipts/store/lost.ts'
import { useNativeEd25519 } from '../proof/signer/ed25519.ts'
import { endAbandoned } from '../runs/end-abandoned.ts'
import type { Db } from '../storage/db/engine/db.ts'
import { dropLeases, nodeLease, takeLease } from '../storage/db/engine/lease.ts'
import {
  readReplication,
  replicationFault,
  replicationFix,
} from '../storage/db/engine/replication.ts'
import { useWasmKeccak } from '../verify/fast/keccak-wasm.ts'
import { serve } from '../web/http/serve.ts'
import type { WaitingQueue } from '../web/http/waiting.ts'
import { followConfigured } from './configured-webhooks.ts'
import type { Deps } from './deps-port.ts'
import { hearNotices } from './hear-notices.ts'
import { startJobs } from './job-runner.ts'
import { checkLedger, jobsOf } from './jobs.ts'
import { learnSlots } from './learn-slots.ts'
import { createApp } from './routes.ts'
import { serveMetrics } from './serve-metrics.ts'
import { version } from './version.ts'
import { makeDeps, type Parts, type Service } from './wiring.ts'

export type RunningService = {
  deps: Service
  url: string
  /** Takes nothing new, lets runs finish for `graceMs`, ends the rest, settles all, closes. */
  stop(graceMs: number): Promise<void>
}

/** How long the runs that are ended at the close may take to settle, in ms. */
const settleWithinMs = 4000
/** How long a stop may take beyond its grace in all, whatever the database does, in ms. */
const stopWithinMs = 4750
/** How long a stop sends the last spans to a collector, in ms, while the rest ends. */
const tellWithinMs = 500
/** How long a start ends the runs of before, in ms; of very many, the rest is ended beside. */
const recoverWithinMs = 3000
/** How long a start waits for the chain, in ms. */
const chainWithinMs = 3000

export type Start = {
  /** Adds what must be there before the first request. */
  prepare?: ((deps: Deps) => Promise<void>) | undefined
  /** A listener that is already open; it opens its own when absent. */
  waiting?: WaitingQueue
}

/**
 * Makes everything, repairs what a crash left, lets `prepare` add what must be there, then listens:
 * no request meets a half-open server.
 */
export async function startServer(
  parts: Parts,
  { prepare, waiting }: Start = {},
): Promise<RunningService> {
  const { config, db, log } = parts
  useWasmKeccak()
  useNativeEd25519()
  const deps = await makeDeps(parts)
  await learnSlots(deps, db)
  const audits = auditStore(db)
  tellSkew(deps)
  await takeLeases(deps, db)
  await assertLogName(deps, db)
  await warnOfReplication(deps, db)
  const readyBy = deps.clock.monotonic() + recoverWithinMs
  await endAbandoned(deps, () => deps.clock.monotonic() >= readyBy)
  await checkLedger(deps, audits.sinceLast)
  await deps.sequencer.flush()
  await lookAtChain(deps)
  await followConfigured(deps, config.webhooks)
  await prepare?.(deps)
  const metrics = serveMetrics(deps, parts)
  const app = createApp(deps)
  const server = waiting?.serve(app) ?? serve(app, deps.settings.listen)
  const echo = hearNotices(deps, db)
  renewWhenLost(deps, db)
  listLostWhenDiverged(deps, parts)
  const jobs = startJobs(jobsOf(deps, { db, audits, echo }), { log, clock: deps.clock })
  log.info('server.listening', { url: config.base_url, version })
  return {
    deps,
    url: config.base_url,
    async stop(graceMs) {
      deps.health.stopping = true
      deps.live.close()
      const closed = server.stop()
      const ending = async (): Promise<'ended'> => {
        await untilIdle(deps, graceMs)
        for (const run of deps.live.all()) run.stop('shutdown')
        await untilIdle(deps, settleWithinMs)
        const told = deps.telemetry?.stop(tellWithinMs)
        // Answers that are whole still have to leave; idle connections do not keep us.
        await Promise.race([closed, Bun.sleep(250)])
        await server.stop(true)
        deps.heads.stop()
        deps.chain?.close()
        deps.secondChain?.close()
        await jobs.stop()
        await deps.sequencer.flush()
        await deps.sequencer.stop()
        await writeLast(deps, db)
        await metrics?.stop()
        await db.close()
        await told
        return 'ended'
      }
      // The next start ends the runs that were not stored in time, as after a crash.
      if (!(await within(graceMs + stopWithinMs, ending()))) log.warn('server.stop_cut')
    },
  }
}

/** Warns at a start of a database that can lose what it acknowledged, if that can be seen. */
async function warnOfReplication({ log }: Deps, db: Db): Promise<void> {
  const found = await readReplication(db).catch(() => undefined)
  const fault = found && replicationFault(found)
  if (fault !== undefined) log.warn('database.loses_commits', { fault, advice: replicationFix })
}

/** A node that lives through a loss is the last that can name the lost receipts. */
function listLostWhenDiverged(deps: Deps, { headFile }: Pick<Parts, 'headFile'>): void {
  const folder = headFile && dirname(headFile.path)
  const { node } = deps.settings
  const write =
    folder === undefined ? undefined : (lost: LostReceipt[]) => writeLost(folder, lost, node)
  const failed = (error: unknown) => deps.log.error('log.lost_not_listed', error)
  deps.heads.onDiverged(() => void listLost(deps, write).catch(failed))
}

/** That this process lives, and the right to number receipts: one COMMIT where it writes alone. */
async function takeLeases({ leaseClock, settings, sequencer }: Deps, db: Db): Promise<void> {
  const { node } = settings
  await Promise.all([takeLease(db, leaseClock, nodeLease(node), node), sequencer.flush()])
}

/** Says at once on the next server that this node lives: others wait for it before they go on. */
function renewWhenLost({ heads, leaseClock, settings }: Deps, db: Db): void {
  const { node } = settings
  let isRenewing = false
  const renew = async (): Promise<void> => {
    if (isRenewing || db.exclusive) return
    isRenewing = true
    // The job does it again.
    await takeLease(db, leaseClock, nodeLease(node), node).catch(() => {})
    isRenewing = false
  }
  heads.onLost(() => void renew())
}

/**
 * Lets one of two first starts under two names go on: from now on the other sees this node's lease
 * before it names the log.
 * @throws Error that names both origins, when another server named it since
 */
async function assertLogName({ settings }: Deps, db: Db): Promise<void> {
  if (db.exclusive) return
  try {
    await db.write(nameGuard(db, settings.issuer))
  } catch (error) {
    await dropLeases(db, settings.node)
    throw error
  }
}

/**
 * Writes what the next start can do without: the last use of each key, and that the leases are
 * free. A stop succeeds even when the database is away.
 */
async function writeLast({ keys, settings, log }: Deps, db: Db): Promise<void> {
  try {
    await keys.writeUses()
    await dropLeases(db, settings.node)
  } catch (error) {
    if (!(error instanceof StorageFault)) throw error
    log.warn('server.stop_unwritten', { reason: error.reason })
  }
}

/** Asks the chain whether the log is whole before the first receipt, for a few seconds at most. */
async function lookAtChain(deps: Deps): Promise<void> {
  const failed = (error: unknown) => deps.log.error('chain.watch_failed', error)
  await Promise.race([watchChain(deps).catch(failed), Bun.sleep(chainWithinMs)])
}

async function untilIdle({ live, clock }: Deps, mostMs: number): Promise<void> {
  const until = clock.monotonic() + mostMs
  while (live.count() > 0 && clock.monotonic() < until) await Bun.sleep(10)
}
