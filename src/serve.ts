import { accountStore } from './accounts/store.ts'
import { createApp } from './app.ts'
import type { Config } from './config.ts'
import type { Db } from './db/db.ts'
import { findFact } from './db/facts.ts'
import { takeLease } from './db/lease.ts'
import type { Deps } from './deps.ts'
import { serve } from './http/serve.ts'
import { type Job, startJobs } from './jobs.ts'
import { canonical } from './kernel/canonical.ts'
import { systemClock } from './kernel/clock.ts'
import { makeIds } from './kernel/ids.ts'
import type { Log } from './kernel/log.ts'
import { systemRandom } from './kernel/random.ts'
import { keyStore } from './keys/store.ts'
import { auditStore } from './ledger/audit-store.ts'
import { openLedger } from './ledger/store.ts'
import { sequencer } from './log/sequence.ts'
import { logStore, originFact } from './log/store.ts'
import { makeCatalogue } from './models/catalogue.ts'
import { settlePriceList } from './models/prices-store.ts'
import { assertSigner } from './open.ts'
import { backgroundSigner } from './receipts/sign.ts'
import { receiptStore } from './receipts/store.ts'
import { liveRuns } from './runs/live.ts'
import { endAbandoned } from './runs/recover.ts'
import { runStore } from './runs/store.ts'
import { stopForbidden } from './runs/watch.ts'
import type { Signer } from './signer/signer.ts'
import { newHealth } from './status/health.ts'
import { statusStore } from './status/store.ts'
import { builtinUpstream } from './upstream/builtin.ts'
import { openaiUpstream } from './upstream/openai.ts'
import type { Upstream } from './upstream/upstream.ts'
import { useWasmKeccak } from './verify/keccak-wasm.ts'
import { commit, version } from './version.ts'

/** What a server is made of: opened outside, because commands open the same things. */
export type Parts = { config: Config; db: Db; signer: Signer; log: Log }

export type Running = {
  deps: Deps
  url: string
  /** Takes nothing new, lets runs finish for `graceMs`, ends the rest, settles all, closes. */
  stop(graceMs: number): Promise<void>
}

/** How long the runs that are ended at the close may take to settle, in ms. */
const settleWithinMs = 5000

/** Makes everything, repairs what a crash left, then listens: nobody meets a half-open server. */
export async function startServer(parts: Parts): Promise<Running> {
  const { config, db, signer, log } = parts
  await useWasmKeccak()
  await assertSigner(db, signer)
  const deps = await makeDeps(parts)
  const audits = auditStore(db)
  await takeLease(db, deps.clock, `node:${deps.settings.node}`, deps.settings.node)
  await endAbandoned(deps)
  await checkLedger(deps, audits.sinceLast)
  await deps.sequencer.flush()
  const server = serve(createApp(deps), deps.settings.listen)
  const jobs = startJobs(jobsOf(deps, db, audits), { log, clock: deps.clock })
  log.info('server.listening', { url: config.base_url, version })
  return {
    deps,
    url: config.base_url,
    async stop(graceMs) {
      deps.health.stopping = true
      deps.live.close()
      const closed = server.stop()
      await untilIdle(deps, graceMs)
      for (const run of deps.live.all()) run.stop('shutdown')
      await untilIdle(deps, settleWithinMs)
      // Answers that are whole still have to leave; idle connections do not keep us.
      await Promise.race([closed, Bun.sleep(250)])
      await server.stop(true)
      await jobs.stop()
      await deps.sequencer.flush()
      await deps.sequencer.stop()
      await deps.keys.writeUses()
      await db.close()
    },
  }
}

async function untilIdle({ live, clock }: Deps, mostMs: number): Promise<void> {
  const until = clock.monotonic() + mostMs
  while (live.count() > 0 && clock.monotonic() < until) await Bun.sleep(10)
}

async function makeDeps({ config, db, signer, log }: Parts): Promise<Deps> {
  const clock = systemClock
  const random = systemRandom()
  const ids = makeIds(clock, random)
  const node = `node_${Buffer.from(random.bytes(8)).toString('hex')}`
  const origin = (await findFact(db, originFact)) ?? config.base_url
  const logs = logStore(db, { clock, node, origin })
  return {
    settings: {
      baseUrl: config.base_url,
      issuer: origin,
      listen: config.listen,
      trustedProxies: config.trusted_proxies,
      bodyBytes: config.limits.body_bytes,
      failedAuthPerMinute: config.limits.failed_auth_per_minute,
      node,
    },
    clock,
    random,
    ids,
    log,
    ledger: openLedger(db, clock),
    accounts: accountStore(db),
    keys: keyStore(db, clock),
    runs: runStore(db, node),
    receipts: receiptStore(db),
    status: statusStore(db),
    logStore: logs,
    health: newHealth(clock),
    catalogue: await versionedCatalogue(config, db),
    upstreams: makeUpstreams(config, { clock, ids }),
    signer,
    sequencer: sequencer({ store: logs, log, clock }),
    live: liveRuns({ admission: config.limits.admission }),
    version: { version, commit },
  }
}

/** The catalogue under the version its prices have in the database: new prices, new version. */
async function versionedCatalogue({ models, upstreams }: Config, db: Db) {
  const upstreamIds = upstreams.map(({ id }) => id)
  const { priceList, ...draft } = makeCatalogue({ models, upstreamIds })
  const prices = draft.list().map(({ id, prices: price }) => ({
    id,
    input_pusd: price.inputPusd.toString(),
    output_pusd: price.outputPusd.toString(),
    request_nusd: price.requestNusd.toString(),
  }))
  const stored = { id: priceList.id, digest: priceList.digest, content: canonical(prices) }
  const found = await settlePriceList(db, stored, systemClock.now())
  return { ...draft, priceList: { ...priceList, version: found } }
}

function makeUpstreams(
  config: Config,
  deps: Parameters<typeof builtinUpstream>[0],
): Map<string, Upstream> {
  const builtin = builtinUpstream(deps)
  const configured = config.upstreams.map((upstream) =>
    openaiUpstream({
      id: upstream.id,
      baseUrl: upstream.base_url,
      ...(upstream.api_key === undefined ? {} : { apiKey: upstream.api_key }),
      limits: {
        firstByteMs: upstream.timeout_first_byte_ms,
        idleMs: upstream.timeout_idle_ms,
        totalMs: upstream.timeout_total_ms,
      },
    }),
  )
  return new Map([builtin, ...configured].map((upstream) => [upstream.id, upstream]))
}

function jobsOf(deps: Deps, db: Db, audits: ReturnType<typeof auditStore>): Job[] {
  const { node } = deps.settings
  const sign = backgroundSigner(deps)
  return [
    { name: 'number', everyMs: 1000, tick: deps.sequencer.flush },
    { name: 'sign', everyMs: 1000, tick: sign },
    { name: 'stop-forbidden', everyMs: 1000, tick: () => stopForbidden(deps) },
    { name: 'settle-again', everyMs: 1000, tick: deps.live.settleAgain },
    {
      name: 'alive',
      everyMs: 3000,
      tick: () => takeLease(db, deps.clock, `node:${node}`, node),
    },
    { name: 'end-abandoned', everyMs: 10_000, tick: () => endAbandoned(deps) },
    { name: 'note-uses', everyMs: 30_000, tick: deps.keys.writeUses },
    { name: 'drop-outputs', everyMs: 60_000, tick: () => deps.runs.dropOutputs(deps.clock.now()) },
    {
      name: 'audit',
      everyMs: 3_600_000,
      tick: () => checkLedger(deps, () => audits.whole(deps.clock.now())),
    },
  ]
}

/** Compares money with its journal and lets the status say what came out. */
async function checkLedger(deps: Deps, audit: () => Promise<string[]>): Promise<void> {
  const faults = await audit()
  deps.health.ledger = faults.length === 0 ? 'balanced' : 'unbalanced'
  for (const fault of faults) deps.log.error('ledger.unbalanced', new Error(fault))
}
