/** The recurring jobs of a running service, and their intervals. */
import { tellExpiring } from '../access/keys/store/expiring.ts'
import { depositWatcher } from '../billing/deposits/watch.ts'
import { planRenewer } from '../billing/plans/renew.ts'
import { pastAt as quotesPast } from '../billing/quotes/quotes.ts'
import { deliverer } from '../billing/webhooks/deliver.ts'
import { isClockWrong, tellSkew } from '../front/status/clock.ts'
import { dropAllowances } from '../front/terminal/allowance.ts'
import type { AuditStore } from '../ledger/store/audit.ts'
import { dropPastBrakes } from '../ledger/store/brakes.ts'
import { anchorWorker } from '../proof/anchors/pace.ts'
import { liabilityPublisher } from '../proof/liabilities/publish-liabilities.ts'
import { keepCheckpoint } from '../proof/log/checkpoint.ts'
import { logChecker } from '../proof/log/reread.ts'
import { logReading } from '../proof/log/store/whole.ts'
import { witnessClient } from '../proof/log/witness-client.ts'
import { backgroundSigner } from '../proof/receipts/sign.ts'
import { evidenceCollector } from '../proof/upstream-evidence/collect-evidence.ts'
import { stopCancelled } from '../runs/cancel.ts'
import { endAbandoned, endReturned } from '../runs/end-abandoned.ts'
import { stopForbidden } from '../runs/stop-forbidden.ts'
import { storeOpenRuns } from '../runs/store-open.ts'
import { receiptCounter } from '../storage/counts/count.ts'
import type { Db } from '../storage/db/engine/db.ts'
import { liveNodes, nodeLease, takeLease } from '../storage/db/engine/lease.ts'
import { leaseMs } from '../storage/db/engine/lease-clock.ts'
import { shareConfigDigest } from './config-digest.ts'
import type { Deps } from './deps-port.ts'
import type { Job } from './job-runner.ts'
import { learnSlots } from './learn-slots.ts'
import { operatorTeller } from './operator-events.ts'
import { watchMoves } from './watch-moves.ts'
import { watchSchema } from './watch-schema.ts'
import { watchStorage } from './watch-storage.ts'

/** The write-ahead log is cut at 64 MiB: at four times that it is not being written back. */
const walWarningBytes = 256 * 1024 * 1024

type JobResources = { db: Db; audits: AuditStore; echo: () => Promise<void> }

/** Every job of a running service. */
export function jobsOf(deps: Deps, { db, audits, echo }: JobResources): Job[] {
  const sign = backgroundSigner(deps)
  return [
    ...jobsByClock(deps, db).map((job) => whileClockIsRight(deps, job)),
    { name: 'number', everyMs: 1000, tick: deps.sequencer.flush },
    { name: 'sign', everyMs: 1000, tick: sign },
    { name: 'compare-heads', everyMs: 2000, tick: deps.heads.look },
    { name: 'check-log', everyMs: 2000, atStart: true, tick: logCheck(deps, db) },
    { name: 'stop-forbidden', everyMs: 1000, tick: () => stopForbidden(deps) },
    { name: 'stop-cancelled', everyMs: 1000, tick: () => stopCancelled(deps) },
    { name: 'store-open-runs', everyMs: 250, tick: () => storeOpenRuns(deps, db.open) },
    { name: 'settle-again', everyMs: 1000, tick: deps.live.settleAgain },
    {
      name: 'alive',
      everyMs: 3000,
      tick: () => keepAlive(deps, db),
    },
    { name: 'echo', everyMs: 3000, tick: echo },
    ...(db.exclusive ? [] : [watchSlots(deps, db)]),
    { name: 'count', everyMs: 1000, tick: receiptCounter(deps) },
    { name: 'watch-storage', everyMs: 1000, tick: () => watchStorage(deps, db) },
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

const logCheck = (deps: Deps, db: Db) => logChecker(deps, (log) => logReading(db, log, true))

/** Doors learn within a second of a move that the ledger refuses at once. */
const watchSlots = (deps: Deps, db: Db): Job => ({
  name: 'watch-slots',
  everyMs: 1000,
  tick: () => learnSlots(deps, db),
})

/** Jobs that write, end or delete by the time of day. */
function jobsByClock(deps: Deps, db: Db): Job[] {
  const depositsEveryMs = deps.depositPolicy?.pollMs ?? 60_000
  return [
    { name: 'checkpoint', everyMs: 5000, tick: () => keepCheckpoint(deps) },
    { name: 'witness', everyMs: 1000, tick: witnessClient(deps) },
    { name: 'upstream-evidence', everyMs: 1000, tick: evidenceCollector(deps) },
    { name: 'liabilities', everyMs: 60_000, tick: liabilityPublisher(deps) },
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
    { name: 'webhooks', everyMs: 250, tick: deliverer(deps) },
    { name: 'tell-operator', everyMs: 1000, tick: operatorTeller(deps) },
    { name: 'tell-expiring', everyMs: 60_000, tick: () => tellExpiring(db, deps.clock.now()) },
    {
      name: 'stop-leaked-webhooks',
      everyMs: 60_000,
      atStart: true,
      tick: () => deps.webhooks.stopLeaked(deps.clock.now()),
    },
    { name: 'drop-kept', everyMs: 60_000, tick: () => deps.keptItems.dropPast(deps.clock.now()) },
    { name: 'drop-outputs', everyMs: 60_000, tick: () => deps.runs.dropOutputs(deps.clock.now()) },
    {
      name: 'drop-quotes',
      everyMs: 60_000,
      tick: () => deps.quotes.dropPast(quotesPast(deps.clock.now())),
    },
    { name: 'drop-brakes', everyMs: 3_600_000, tick: () => dropPastBrakes(db, deps.clock.now()) },
    { name: 'drop-allowances', everyMs: 3_600_000, tick: () => dropAllowances(deps) },
    {
      name: 'drop-texts',
      everyMs: 60_000,
      atStart: true,
      tick: () => deps.texts.dropPast(deps.clock.now()),
    },
  ]
}

/** Wraps a job that does nothing while the clock is wrong. */
function whileClockIsRight(deps: Deps, job: Job): Job {
  return { ...job, tick: async (ending) => (isClockWrong(deps) ? undefined : job.tick(ending)) }
}

/** Compares the clocks, says that this process lives, and sees who else does. */
async function keepAlive(deps: Deps, db: Db): Promise<void> {
  const { leaseClock, settings } = deps
  await leaseClock.measure()
  tellSkew(deps)
  await takeLease(db, leaseClock, nodeLease(settings.node), settings.node)
  if (db.exclusive) return shareConfigDigest(deps, db, [])
  await watchSchema(deps, db)
  await watchMoves(deps, db)
  const alive = await db.read((q) => liveNodes(db, q, leaseClock.now()))
  settings.nodes = Math.max(1, alive.length)
  await shareConfigDigest(deps, db, alive)
}

/** Ends the runs of processes that died, and on PostgreSQL those that came back with old data. */
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

/** Compares balances with the journal and notes the result for the status. */
export async function checkLedger(deps: Deps, audit: () => Promise<string[]>): Promise<void> {
  const faults = await audit()
  deps.health.ledger = faults.length === 0 ? 'balanced' : 'unbalanced'
  deps.health.ledgerFaults = faults.length
  for (const fault of faults) deps.log.error('ledger.unbalanced', new Error(fault))
}
