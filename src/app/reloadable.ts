/** Replaces parts of a running service on reload: models and prices, plans, upstreams. */
import { isDeepStrictEqual } from 'node:util'
import { makePlans } from '../access/plan-config.ts'
import { livePlans } from '../billing/plans/live-plans.ts'
import type { Config } from '../config/config.ts'
import type { UpstreamConfig } from '../config/upstream-entries.ts'
import { canonical } from '../kernel/canonical.ts'
import { drawShare } from '../kernel/random.ts'
import { suspendsSeen } from '../kernel/suspend-detector.ts'
import { type Catalogue, makeCatalogue } from '../models/catalogue.ts'
import { liveCatalogue } from '../models/live-catalogue.ts'
import { firstByteMsOf } from '../models/patience.ts'
import { writeModelPrices } from '../models/prices.ts'
import { Breaker } from '../models/upstream/breaker.ts'
import { builtinUpstream } from '../models/upstream/builtin.ts'
import { liveUpstreams } from '../models/upstream/live-upstreams.ts'
import { modelServer } from '../models/upstream/model-server.ts'
import { type KeyStates, keyIds, openKeyPool } from '../models/upstream/open-key-pool.ts'
import { servedUpstream } from '../models/upstream/served.ts'
import { Slots } from '../models/upstream/slots.ts'
import type { Upstream } from '../models/upstream/upstream.ts'
import { ensurePriceList } from '../proof/log/store/price-list.ts'
import type { LogStore } from '../proof/log/store.ts'
import type { Db } from '../storage/db/engine/db.ts'
import type { Deps } from './deps-port.ts'

type Needs = Pick<Deps, 'clock' | 'ids' | 'log' | 'meters'> & {
  db: Db
  logStore: LogStore
  inProcess: Inside
}

/** Upstreams inside this process beside the built-in one. */
type Inside = readonly Upstream[]

/** The offer of a configuration, which another one can take the place of while it is used. */
export async function makeOffer(
  config: Config,
  deps: Omit<Needs, 'inProcess'>,
  inProcess: Inside = [],
) {
  const needs = { ...deps, inProcess }
  const makeUpstreams = upstreamMaker(needs)
  /** Everything that can fail comes before the prices are written down. */
  const read = async (next: Config) => {
    const upstreams = makeUpstreams(next)
    const plans = makePlans(next.plans, next.limits)
    return { upstreams, plans, catalogue: await versionedCatalogue(next, needs) }
  }
  const first = await read(config)
  const catalogue = liveCatalogue(first.catalogue)
  const plans = livePlans(first.plans)
  const upstreams = liveUpstreams(first.upstreams)
  return {
    catalogue,
    plans,
    upstreams,
    /**
     * Offers what a configuration says from here on. New prices are in the log before; all
     * takes effect in one turn, and runs in flight keep what they began with.
     * @throws what went wrong; nothing has changed then.
     */
    async offerAnew(next: Config, alsoStore: () => Promise<void>): Promise<void> {
      const { clock } = needs
      const offered = await read(next)
      await alsoStore()
      upstreams.replace(offered.upstreams)
      catalogue.replace(offered.catalogue)
      plans.replace(offered.plans, clock.now())
    },
  }
}

/** The catalogue under the version its prices have in the database: new prices, new version. */
async function versionedCatalogue(
  { models, upstreams, aliases }: Config,
  { db, logStore, clock, inProcess }: Needs,
): Promise<Catalogue> {
  const upstreamIds = [...inProcess, ...upstreams].map(({ id }) => id)
  const { priceList, list } = makeCatalogue({ models, upstreamIds })
  const prices = list().map((model) => ({ id: model.id, ...writeModelPrices(model, String) }))
  const stored = { id: priceList.id, digest: priceList.digest, content: canonical(prices) }
  const version = await ensurePriceList(db, logStore, stored, clock.now())
  return makeCatalogue({ models, upstreamIds, aliases, version })
}

type Entry = UpstreamConfig & { timeout_first_byte_ms: number; is_traced: boolean }

/** Makes upstreams; one whose entry stays as it was stays the same one. */
function upstreamMaker(deps: Needs) {
  const inside = [builtinUpstream(deps), ...deps.inProcess]
  const served = inside.map((upstream) => servedUpstream(upstream, deps))
  const states: KeyStates = new Map()
  let made: { entry: Entry; upstream: Upstream }[] = []
  return ({ upstreams, models, telemetry }: Config): Upstream[] => {
    made = upstreams.map((one) => {
      const { timeout_first_byte_ms: ms = firstByteMsOf(one.id, models) } = one
      const is_traced = telemetry.pass_to.includes(one.id)
      const entry = { ...one, timeout_first_byte_ms: ms, is_traced }
      const known = made.find((one) => isDeepStrictEqual(one.entry, entry))
      return known ?? { entry, upstream: makeUpstream(entry, deps, states) }
    })
    const inUse = new Set(upstreams.flatMap((one) => keyIds(one.id, one.keys ?? [])))
    for (const id of states.keys()) if (!inUse.has(id)) states.delete(id)
    return [...served, ...made.map(({ upstream }) => upstream)]
  }
}

function breakerOf(entry: UpstreamConfig, { clock, log, meters }: Needs): Breaker | undefined {
  const { id, breaker_failures: failures, breaker_cooldown_ms: cooldownMs } = entry
  if (failures === 0) return undefined
  return new Breaker({ failures, cooldownMs }, { clock, suspends: suspendsSeen }, (state) => {
    if (state === 'closed') return log.info('upstream.closed', { upstream: id })
    meters.upstreamOpened(id)
    log.warn('upstream.opened', { upstream: id, failures, cooldown_ms: cooldownMs })
  })
}

function poolOf(entry: UpstreamConfig, { clock, log, meters }: Needs, states: KeyStates) {
  const { id, kind, auth } = entry
  const headers = { ...entry.headers, ...entry.secret_headers }
  return openKeyPool({ id, kind, headers, ...(auth && { auth }) }, entry.keys ?? [], {
    states,
    clock,
    random: drawShare,
    tell({ key, model, status, forMs }) {
      meters.upstreamKeyRested(id, status)
      log.warn('upstream.key_rested', { upstream: id, key, model, status, for_ms: forMs })
    },
  })
}

function makeUpstream(entry: Entry, needs: Needs, states: KeyStates): Upstream {
  const server = modelServer({
    id: entry.id,
    kind: entry.kind,
    baseUrl: entry.base_url,
    ...(entry.auth === undefined ? {} : { auth: entry.auth }),
    headers: { ...entry.headers, ...entry.secret_headers },
    query: entry.query,
    region: entry.region,
    service: entry.service,
    ...(entry.api_key === undefined ? {} : { apiKey: entry.api_key }),
    pool: poolOf(entry, needs, states),
    isProxied: entry.is_proxied === true,
    isTraced: entry.is_traced,
    sharesConnections: entry.share_connections,
    relaysMessages: entry.relay_messages,
    attest: entry.attest,
    dialect: entry.dialect,
    clock: needs.clock,
    limits: {
      firstByteMs: entry.timeout_first_byte_ms,
      idleMs: entry.timeout_idle_ms,
      totalMs: entry.timeout_total_ms,
    },
  })
  const slots = new Slots({ most: entry.max_in_flight, maxWaitMs: entry.max_wait_ms })
  return servedUpstream(server, { ...needs, slots, breaker: breakerOf(entry, needs) })
}
