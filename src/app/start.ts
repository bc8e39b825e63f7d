import { dirname } from 'node:path'
import { depositWatcher } from '../billing/deposits/watch.ts'
import { planRenewer } from '../billing/plans/renew.ts'
import { isClockWrong, tellSkew } from '../front/status/clock.ts'
import { dropAllowances } from '../front/terminal/allowance.ts'
import { StorageFault } from '../kernel/storage-fault.ts'
import { within } from '../kernel/within.ts'
import { auditStore } from '../ledger/store/audit.ts'
import { anchorWorker } from '../proof/anchors/pace.ts'
import { watchChain } from '../proof/anchors/watch.ts'
import { keepCheckpoint } from '../proof/log/checkpoint.ts'
import { nameGuard } from '../proof/log/store/logs.ts'
import { type LostReceipt, listLost } from '../proof/receipts/lost.ts'
import { backgroundSigner } from '../proof/receipts/sign.ts'
import { writeLost } from '../proof/receipts/store/lost.ts'
import { stopCancelled } from '../runs/cancel.ts'
import { endAbandoned, endReturned } from '../runs/recover.ts'
import { stopForbidden } from '../runs/stop-forbidden.ts'
import { receiptCounter } from '../storage/counts/count.ts'
import type { Db } from '../storage/db/db.ts'
import { dropLeases, leaseMs, liveNodes, nodeLease, takeLease } from '../storage/db/lease.ts'
import { readReplication, replicationFault, replicationFix } from '../storage/db/replication.ts'
import { useWasmKeccak } from '../verify/fast/keccak-wasm.ts'
import { serve } from '../web/http/serve.ts'
import type { Waiting } from '../web/http/waiting.ts'
import type { Deps } from './deps-port.ts'
import { hearNodes } from './hear-nodes.ts'
import { type Job, startJobs } from './jobs.ts'
import { createApp } from './routes.ts'
import { serveMetrics } from './serve-metrics.ts'
import { version } from './version.ts'
import { makeDeps, type Parts, type Service } from './wiring.ts'

export type Running = {
  deps: Service
  url: string
  /** Takes nothing new, lets runs finish for `graceMs`, ends the rest, settles all, closes. */
  stop(graceMs: number): Promise<void>
}

/** How long the runs that are ended at the close may take to settle, in ms. */
const settleWithinMs = 4000
/** How long a stop may take beyond its grace in all, whatever the database does, in ms. */
const stopWithinMs = 4750
/** What the write-ahead log never reaches while it is written back; it is cut at 64 MiB. */
const walWarningBytes = 256 * 1024 * 1024
/** How long a start ends the runs of before, in ms; of very many, the rest is ended beside. */
const recoverWithinMs = 3000
/** How long a start waits for the chain, in ms. */
const chainWithinMs = 3000

export type Start = {
  /** Adds what must be there before anybody is served. */
  prepare?: ((deps: Deps) => Promise<void>) | undefined
  /** Where it listens already; a listener of its own when absent. */
  waiting?: Waiting
}

/**
 * Makes everything, repairs what a crash left, lets `prepare` add what must be there, then
 * listens: nobody meets a half-open server.
 */
export async function startServer(
  parts: Parts,
  { prepare, waiting }: Start = {},
): Promise<Running> {
  const { config, db, log } = parts
  useWasmKeccak()
  const deps = await makeDeps(parts)
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
  await prepare?.(deps)
  const metrics = serveMetrics(deps, parts)
  const app = createApp(deps)
  const server = waiting?.serve(app) ?? serve(app, deps.settings.listen)
  const echo = hearNodes(deps, db)
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
        return 'ended'
      }
      // What is not stored by then is found by the next start, as after a crash.
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

/** A node that lives through the loss is the last one that can name what is gone. */
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

/**
 * Of two first starts at once under two names, one goes on: from here on the lease of this node is
 * seen by whoever would name the log.
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
 * Writes what the next start could do without: when keys were used last, and that the leases are
 * free. A database that is away is no reason for a stop to fail.
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

/** Nothing is issued before the chain was asked whether the log is whole, if it answers soon. */
async function lookAtChain(deps: Deps): Promise<void> {
  const failed = (error: unknown) => deps.log.error('chain.watch_failed', error)
  await Promise.race([watchChain(deps).catch(failed), Bun.sleep(chainWithinMs)])
}

async function untilIdle({ live, clock }: Deps, mostMs: number): Promise<void> {
  const until = clock.monotonic() + mostMs
  while (live.count() > 0 && clock.monotonic() < until) await Bun.sleep(10)
}

type Recurring = { db: Db; audits: ReturnType<typeof auditStore>; echo: () => Promise<void> }

function jobsOf(deps: Deps, { db, audits, echo }: Recurring): Job[] {
  const sign = backgroundSigner(deps)
  return [
    ...jobsByClock(deps).map((job) => whileClockIsRight(deps, job)),
    { name: 'number', everyMs: 1000, tick: deps.sequencer.flush },
    { name: 'sign', everyMs: 1000, tick: sign },
    { name: 'compare-heads', everyMs: 2000, tick: deps.heads.look },
    { name: 'stop-forbidden', everyMs: 1000, tick: () => stopForbidden(deps) },
    { name: 'stop-cancelled', everyMs: 1000, tick: () => stopCancelled(deps) },
    { name: 'settle-again', everyMs: 1000, tick: deps.live.settleAgain },
    {
      name: 'alive',
      everyMs: 3000,
      tick: () => keepAlive(deps, db),
    },
    { name: 'echo', everyMs: 3000, tick: echo },
    { name: 'count', everyMs: 1000, tick: receiptCounter(deps) },
    { name: 'watch-storage', everyMs: 1000, tick: async () => db.storage?.look() },
    { name: 'watch-wal', everyMs: 60_000, tick: async () => watchWal(deps, db) },
    { name: 'note-uses', everyMs: 30_000, tick: deps.keys.writeUses },
    {
      name: 'audit',
      everyMs: 3_600_000,
      atStart: true,
      tick: (ending) => checkLedger(deps, () => audits.whole(deps.clock.now(), ending)),
    },
  ]
}

/** What writes, ends or deletes by the time of day. */
function jobsByClock(deps: Deps): Job[] {
  const depositsEveryMs = deps.depositPolicy?.pollMs ?? 60_000
  return [
    { name: 'checkpoint', everyMs: 5000, tick: () => keepCheckpoint(deps) },
    { name: 'anchor', everyMs: 1000, atStart: true, tick: anchorWorker(deps) },
    { name: 'deposits', everyMs: depositsEveryMs, atStart: true, tick: depositWatcher(deps) },
    {
      name: 'end-abandoned',
      everyMs: 10_000,
      atStart: true,
      tick: (ending) => endStranded(deps, ending),
    },
    { name: 'drop-sign-ins', everyMs: 60_000, tick: () => dropSignIns(deps) },
    { name: 'renew-plans', everyMs: 1000, atStart: true, tick: planRenewer(deps) },
    { name: 'drop-calls', everyMs: 60_000, tick: () => deps.calls.dropPast(deps.clock.now()) },
    { name: 'drop-outputs', everyMs: 60_000, tick: () => deps.runs.dropOutputs(deps.clock.now()) },
    { name: 'drop-allowances', everyMs: 3_600_000, tick: () => dropAllowances(deps) },
    {
      name: 'drop-texts',
      everyMs: 60_000,
      atStart: true,
      tick: () => deps.texts.dropPast(deps.clock.now()),
    },
  ]
}

/** The same job, left out while the clock is wrong. */
function whileClockIsRight(deps: Deps, job: Job): Job {
  return { ...job, tick: async (ending) => (isClockWrong(deps) ? undefined : job.tick(ending)) }
}

/** Compares the clocks, says that this process lives, and sees who else does. */
async function keepAlive(deps: Deps, db: Db): Promise<void> {
  const { leaseClock, settings } = deps
  await leaseClock.measure()
  tellSkew(deps)
  await takeLease(db, leaseClock, nodeLease(settings.node), settings.node)
  if (db.exclusive) return
  settings.nodes = Math.max(1, (await db.read((q) => liveNodes(db, q, leaseClock.now()))).length)
}

/** Ends what nobody has: the runs of processes that died, and on a server those that came back. */
async function endStranded(deps: Deps, ending: AbortSignal): Promise<void> {
  await endReturned(deps)
  // A database that went back knows neither who lives nor since when, until all said so again.
  if (deps.heads.sinceLost() > leaseMs) await endAbandoned(deps, () => ending.aborted)
}

/** A reader that never ends keeps SQLite's log from being written back: it only grows. */
function watchWal({ log }: Deps, db: Db): void {
  const bytes = db.walBytes()
  if (bytes !== null && bytes > walWarningBytes) log.warn('database.wal_grows', { bytes })
}

async function dropSignIns({ sessions, nonces, clock }: Deps): Promise<void> {
  await nonces.dropExpired(clock.now())
  await sessions.dropEnded(clock.now())
}

/** Compares money with its journal and lets the status say what came out. */
async function checkLedger(deps: Deps, audit: () => Promise<string[]>): Promise<void> {
  const faults = await audit()
  deps.health.ledger = faults.length === 0 ? 'balanced' : 'unbalanced'
  deps.health.ledgerFaults = faults.length
  for (const fault of faults) deps.log.error('ledger.unbalanced', new Error(fault))
}
