/** Makes every member of Deps from what is open. Nothing runs yet. */
import { contractWallets } from '../access/accounts/contract-wallet.ts'
import type { Demo } from '../access/accounts/demo-port.ts'
import { accountCountsStore } from '../access/accounts/store/account-counts.ts'
import { nonceStore } from '../access/accounts/store/nonce.ts'
import { sessionStore } from '../access/accounts/store/session.ts'
import { accountStore } from '../access/accounts/store.ts'
import { keyStore } from '../access/keys/store.ts'
import { memberStore } from '../access/members/store.ts'
import { setupLinkStore } from '../access/operators/store/setup-links.ts'
import { operatorTokenStore } from '../access/operators/store.ts'
import { depositStore } from '../billing/deposits/store.ts'
import { marginStore } from '../billing/margins/store.ts'
import { subscriptionStore } from '../billing/plans/store.ts'
import { quoteStore } from '../billing/quotes/store.ts'
import { statementStore } from '../billing/statement/store.ts'
import { makeExportSlots } from '../billing/usage/export-slots.ts'
import { usageStore } from '../billing/usage/store.ts'
import { voucherStore } from '../billing/vouchers/store.ts'
import { troubleStore } from '../billing/webhooks/store/troubles.ts'
import { webhookStore } from '../billing/webhooks/store.ts'
import type { Config } from '../config/config.ts'
import { adminStore } from '../front/admin/store.ts'
import { consoleStore } from '../front/console/store.ts'
import { explorerStore } from '../front/explorer/store.ts'
import { onboardingStore } from '../front/overview/store.ts'
import { siteStore } from '../front/site/store.ts'
import { newHealth } from '../front/status/health.ts'
import { statusStore } from '../front/status/store.ts'
import { terminalStore } from '../front/terminal/store.ts'
import { type Clock, systemClock } from '../kernel/clock.ts'
import { toHex } from '../kernel/hex.ts'
import { makeIds } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import { type Random, systemRandom } from '../kernel/random.ts'
import { auditStore } from '../ledger/store/audit.ts'
import { CachePlaces } from '../models/cache-places.ts'
import { isTarget, makeCheckedPost } from '../models/upstream/checked-post.ts'
import type { Upstream } from '../models/upstream/upstream.ts'
import type { Sender } from '../proof/anchors/sender.ts'
import { rpcChain } from '../proof/chain/rpc.ts'
import { type HeadFile, type HeadsNeeds, makeHeads } from '../proof/log/heads.ts'
import { sequencer } from '../proof/log/sequence.ts'
import { checkpointStore } from '../proof/log/store/checkpoint.ts'
import { headStore } from '../proof/log/store/head.ts'
import { ensureLogs } from '../proof/log/store/logs.ts'
import { ensureShard } from '../proof/log/store/shard.ts'
import { tileStore } from '../proof/log/store/tiles.ts'
import { logStore } from '../proof/log/store.ts'
import { passportStore } from '../proof/passports/store.ts'
import { makeAcknowledged } from '../proof/receipts/acknowledged.ts'
import { askOwnChain } from '../proof/receipts/evidence.ts'
import { shareStore } from '../proof/receipts/store/share.ts'
import { receiptStore } from '../proof/receipts/store.ts'
import { makeSealer } from '../proof/signer/sealer.ts'
import type { Signer } from '../proof/signer/signer.ts'
import type { Signers } from '../proof/signer/signers.ts'
import { ensureSigners } from '../proof/signer/store.ts'
import { liveRuns } from '../runs/live-runs.ts'
import { makeReports } from '../runs/reports.ts'
import { runStore } from '../runs/store.ts'
import { countStore } from '../storage/counts/store.ts'
import type { Db } from '../storage/db/engine/db.ts'
import { makeReadCache } from '../storage/db/engine/read-cache.ts'
import { timedDb } from '../storage/db/engine/timed.ts'
import { makeReplies } from '../storage/idempotency/call.ts'
import { callStore } from '../storage/idempotency/store.ts'
import { keptStore } from '../storage/responses/store.ts'
import { slotPlaces } from '../storage/slots/store/owners.ts'
import { textStore } from '../storage/texts/store.ts'
import { makeLimiters } from '../web/http/limits.ts'
import { MemoryBudget } from '../web/http/memory-budget.ts'
import { makeAnchoring } from './anchoring.ts'
import { followConfigured } from './configured-webhooks.ts'
import { countersOf } from './counters.ts'
import type { Deps, Settings } from './deps-port.ts'
import type { ProcessFacts } from './metrics/collect.ts'
import { makeMeters } from './metrics/meters.ts'
import { noDesks } from './no-desks.ts'
import { type Clocks, ledgerOf, openRightClock } from './open-ledger.ts'
import { openTelemetry } from './open-telemetry.ts'
import { provingOf } from './proving.ts'
import { makeOffer } from './reloadable.ts'
import {
  depositPolicyOf,
  liveSettingsOf,
  originOf,
  settingsOf,
  shardIn,
  takesContractWallets,
} from './settings.ts'
import { commit, version } from './version.ts'
import { watched } from './watch-storage.ts'

/** The parts of a server: opened outside, because commands and tests open the same ones. */
export type Parts = {
  config: Config
  db: Db
  signer: Signer
  log: Log
  clock?: Clock
  random?: Random
  /** Heads of the log that outlive the database; kept in memory alone when absent. */
  headFile?: HeadFile | undefined
  /** The sender that pays for anchors; without one the log is not anchored. */
  sender?: Sender | undefined
  /** Reads facts that only the process knows, for the metrics. */
  readProcess?: (() => ProcessFacts) | undefined
  inProcess?: readonly Upstream[]
  demo?: Demo | undefined
}

/** The dependencies of routes and jobs, with `adopt` for a changed configuration. */
export type Service = Deps & {
  /**
   * Takes on what can change while it runs: models, prices, plans, upstreams, limits, all in one
   * turn.
   * @throws what went wrong; nothing has changed then.
   */
  adopt(config: Config): Promise<void>
}

export async function makeDeps(parts: Parts): Promise<Service> {
  const { config, signer, log, clock = systemClock, random = systemRandom() } = parts
  const meters = makeMeters()
  const { db, distrust } = watched(timedDb(parts.db, clock, meters.wrote), log)
  const { shard, ids, node } = namesOf(config, clock, random)
  const leaseClock = await openRightClock(db, clock)
  const { logs, signers } = await ensureStore(db, parts, { clock, leaseClock })
  const settings = { ...settingsOf(config), issuer: logs.current.origin, node, nodes: 1 }
  const health = newHealth(clock)
  const known = { health, log, clock, leaseClock, logs, settings, distrust, file: parts.headFile }
  const { store, checkpoints, heads } = await openKnownLog(db, known, signers)
  const offering = { clock, ids, log, meters, db, logStore: store }
  const { offerAnew, ...offer } = await makeOffer(config, offering, parts.inProcess)
  const onChain = await makeAnchoring(config, {
    checkpoints,
    clock,
    leaseClock,
    logs,
    random,
    db,
    node,
    sender: parts.sender,
    signerAddresses: signers.all.map(({ address }) => address),
  })
  const room = { admission: config.limits.admission }
  const counts = countStore(db, { clock: leaseClock, node }, countersOf(db))
  const kept = keptCalls(db, { settings, signer, random, ids, clock: leaseClock })
  return {
    settings,
    demo: parts.demo,
    clock,
    leaseClock,
    random,
    ids,
    shard,
    log,
    ledger: ledgerOf(db, store, meters, { ...known, shard, counts }),
    counts,
    isContractSignature: takesContractWallets(config)
      ? contractWallets(onChain.chain ?? rpcChain({ urls: [], clock, random }))
      : undefined,
    keys: keyStore(db, clock, offer.plans),
    passports: passportStore(db, store),
    ...offer,
    subscriptions: subscriptionStore(db, { clock: leaseClock, node }),
    runs: runStore(db, node, shard?.id),
    ...storesOf(db, shard),
    ...kept,
    ...keptTexts(db, { clock, log, settings }),
    logs,
    logStore: store,
    checkpoints,
    heads,
    ...remembered({ clock, random }),
    ...onChain,
    askChain: askOwnChain(onChain.anchoring),
    deposits: depositStore(db, { clock: leaseClock, node, shard }),
    depositPolicy: depositPolicyOf(config),
    ...{ health, meters },
    ...limitsOf(settings, clock),
    telemetry: await openTelemetry(config, { clock, random, log, node }),
    ...provingOf(parts, db, store, { clock: leaseClock, node }),
    signers,
    sequencer: sequencer({ store, log, clock }),
    live: liveRuns(room),
    reload: { again: undefined },
    ...noDesks(),
    version: { version, commit },
    adopt: async (next) => {
      await offerAnew(next, () =>
        followConfigured({ webhooks: kept.webhooks, clock }, next.webhooks),
      )
      takeOn(next, settings, room)
    },
  }
}

/** The names of this process, its ids and its secrets. */
function namesOf(config: Config, clock: Clock, random: Random) {
  const shard = shardIn(config)
  const node = `node_${Buffer.from(random.bytes(8)).toString('hex')}`
  return { shard, ids: makeIds(clock, random, shard?.id), node }
}

type HeadSources = Omit<HeadsNeeds, 'logStore' | 'checkpoints' | 'store'>

/** The log, compared with what this node knows of it: before anything is appended. */
async function openKnownLog(db: Db, known: HeadSources & { settings: Settings }, signers: Signers) {
  const { leaseClock, logs, settings } = known
  const store = logStore(db, { clock: leaseClock, node: settings.node, start: logs.current.start })
  const checkpoints = checkpointStore(db, signers)
  const heads = makeHeads({ ...known, logStore: store, checkpoints, store: headStore(db) })
  db.onConnectionLost(heads.lost)
  await heads.start()
  return { store, checkpoints, heads }
}

/** Sets up what a database has once: shard, log and signers. */
function ensureStore(db: Db, { config, signer }: Parts, { clock, leaseClock }: Clocks) {
  const now = clock.now()
  return db.write(function* (q) {
    yield* ensureShard(db, q, shardIn(config))
    const logs = yield* ensureLogs(db, q, originOf(config), leaseClock.now())
    return { logs, signers: yield* ensureSigners(db, q, { logs, signer, now }) }
  })
}

/** The stores that need at most the database and the shard. */
const storesOf = (db: Db, shard: Deps['shard']) => ({
  slots: slotPlaces(db, shard),
  accounts: accountStore(db),
  members: memberStore(db),
  admin: adminStore(db),
  audits: auditStore(db),
  sessions: sessionStore(db),
  extent: accountCountsStore(db),
  nonces: nonceStore(db),
  setupLinks: setupLinkStore(db),
  operatorTokens: operatorTokenStore(db),
  statements: statementStore(db),
  console: consoleStore(db),
  receipts: receiptStore(db),
  site: siteStore(db),
  shares: shareStore(db),
  tiles: tileStore(db),
  status: statusStore(db),
  readCache: makeReadCache(db),
  terminal: terminalStore(db),
  onboarding: onboardingStore(db),
  usage: usageStore(db),
  exportSlots: makeExportSlots(),
  vouchers: voucherStore(db),
  quotes: quoteStore(db),
  margins: marginStore(db),
  explorer: explorerStore(db),
})

/** Texts of runs, and responses for a next turn. */
const keptTexts = (db: Db, needs: Pick<Deps, 'clock' | 'log' | 'settings'>) => ({
  texts: textStore(db, needs.clock),
  keptItems: keptStore(db, needs),
})

/** Encrypts stored answers of calls with an Idempotency-Key, and secrets of webhooks. */
function keptCalls(
  db: Db,
  {
    settings,
    signer,
    random,
    ids,
    clock,
  }: Pick<Deps, 'signer' | 'random' | 'ids'> & {
    settings: Settings
    clock: Deps['leaseClock']
  },
) {
  const reach = () => settings.webhookReach
  const sealer = makeSealer(signer, random)
  return {
    calls: callStore(db),
    sealer,
    replies: makeReplies(sealer),
    webhooks: webhookStore(db, { clock, node: settings.node, ids }),
    troubles: troubleStore(db, { clock, node: settings.node }),
    webhookSecrets: makeSealer(signer, random, 'webhook secrets'),
    isWebhookTarget: (url: string) => isTarget(url, reach()),
    postChecked: makeCheckedPost(reach),
  }
}

/** In one turn, so that no request meets half of the new limits. */
function takeOn(config: Config, settings: Settings, room: { admission: number }) {
  Object.assign(settings, liveSettingsOf(config))
  room.admission = config.limits.admission
}

const limitsOf = (settings: { clientBytes: number }, clock: Clock) => ({
  limiters: makeLimiters(clock),
  memory: new MemoryBudget(settings),
})

/** Facts that this process remembers of its runs, and forgets when it ends. */
const remembered = (by: { clock: Clock; random: Random }) => ({
  acknowledged: makeAcknowledged(),
  reports: makeReports(by),
  cachePlaces: new CachePlaces(BigInt(toHex(by.random.bytes(8)))),
})
