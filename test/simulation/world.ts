import { balanceApi } from '../../src/access/keys/api/balance.ts'
import { makeDeps, type Service } from '../../src/app/wiring.ts'
import { depositWatcher } from '../../src/billing/deposits/watch.ts'
import { planRenewer } from '../../src/billing/plans/renew.ts'
import type { Ids } from '../../src/kernel/ids.ts'
import type { Log } from '../../src/kernel/log.ts'
import type { Random } from '../../src/kernel/random.ts'
import { auditStore } from '../../src/ledger/store/audit.ts'
import type { HeadFile } from '../../src/proof/log/heads.ts'
import { receiptsApi } from '../../src/proof/receipts/api.ts'
import { signerFromHex } from '../../src/proof/signer/signer.ts'
import { runsApi } from '../../src/runs/api.ts'
import { endAbandoned } from '../../src/runs/end-abandoned.ts'
import { receiptCounter } from '../../src/storage/counts/count.ts'
import type { Db } from '../../src/storage/db/engine/db.ts'
import { nodeLease, takeLease } from '../../src/storage/db/engine/lease.ts'
import { openSqlite } from '../../src/storage/db/engine/sqlite.ts'
import type { CheckpointRow } from '../../src/storage/db/schema/schema.ts'
import { makeRoot } from '../../src/web/http/root.ts'
import { type Prng, prng } from '../ledger/prng.ts'
import { configOf, type Engine, freshDb, testPrivateKey } from '../support/world.ts'
import { simChain, token, treasury } from './chain.ts'
import { type Lifeline, lifelineOf } from './lifeline.ts'
import { bounds } from './model-deposits.ts'
import { offers } from './model-plans.ts'
import { prices } from './model-prices.ts'
import { simUpstream } from './upstream.ts'

/** A process of the service: what it opened, and what cuts it off. */
export type Node = {
  name: string
  deps: Service
  db: Db
  line: Lifeline
  /** How far its clock is from the time, in ms. */
  skew: number
  /** What its data folder knows of the log, which outlives it. */
  heads: HeadFile
  now(): number
  /** The last id that it made of each kind. */
  ids: Map<string, string>
  /** The turn that it last decided at of each run. */
  turns: Map<string, number>
  /** Its jobs, which run when a command says so. */
  look(): Promise<void>
  renew(): Promise<void>
  count(): Promise<void>
  handle(request: Request): Promise<Response>
  /** Runs whose end it could not store and tries again. */
  unsettled: Set<string>
  /** What it could not explain. */
  errors: string[]
  close(): void
}

let turnsSoFar = 0
/** Counts what ledgers decide, so that commands at once have an order. */
export const nextTurn = (): number => turnsSoFar++

export type World = Awaited<ReturnType<typeof openWorld>>

/**
 * The service on a fresh database, with the clock, ids, randomness, model servers and chain in the
 * hands of the simulation. Nothing runs by itself: also jobs are commands.
 */
export async function openWorld(engine: Engine, seed: number) {
  const { db, drop } = await freshDb(engine)
  if ('raw' in db) quicken(db)
  const time = { now: Date.UTC(2026, 0, 15, 12), mono: 0 }
  const chain = simChain()
  const upstream = simUpstream()
  const random = randomOf(prng(seed ^ 0x5eed))
  const parts = { time, random, chain, upstream }
  const open = () => openNode({ ...parts, db: connectTo(db), skew: 0, heads: newHeads() })
  return {
    engine,
    db,
    time,
    chain,
    upstream,
    /** Starts a process as the service starts: what a dead one left open is ended first. */
    async start(skew = 0, heads = newHeads()): Promise<Node> {
      const node = await openNode({ ...parts, db: connectTo(db), skew, heads })
      const { deps } = node
      await takeLease(node.db, deps.clock, nodeLease(deps.settings.node), deps.settings.node)
      await endAbandoned(deps)
      const faults = await auditStore(node.db).sinceLast()
      if (faults.length > 0) throw new Error(`the audit at a start: ${faults.join('; ')}`)
      await deps.sequencer.flush()
      return node
    },
    /** A command of the command line, which writes beside the server. */
    open,
    async close() {
      await db.close()
      await drop()
    },
  }
}

type Parts = {
  db: Db
  time: { now: number; mono: number }
  random: Random
  chain: ReturnType<typeof simChain>
  upstream: ReturnType<typeof simUpstream>
  skew: number
  heads: HeadFile
}

/** An empty data folder. Without one a process that comes back would hear the others for seconds. */
function newHeads(): HeadFile {
  const heads: CheckpointRow[] = []
  return { path: 'heads.json', heads, keep: async (more) => void heads.push(...more) }
}

async function openNode(parts: Parts): Promise<Node> {
  const { db: own, time, random, chain, upstream, skew, heads } = parts
  const line = lifelineOf(own)
  const clock = { now: () => time.now + skew, monotonic: () => time.mono }
  const errors: string[] = []
  const made = await makeDeps({
    config,
    db: line.db,
    signer: signerFromHex(testPrivateKey),
    log: logInto(errors),
    clock,
    random,
    headFile: heads,
  })
  const sequencer = { ...made.sequencer, wake: () => undefined, hear: () => undefined }
  const ids = new Map<string, string>()
  const told: Ids = {
    make(prefix) {
      const id = made.ids.make(prefix)
      ids.set(prefix, id)
      return id
    },
  }
  const turns = new Map<string, number>()
  const ledger: Service['ledger'] = {
    post: (command) =>
      made.ledger.post({
        ...command,
        decide(unit) {
          if (command.run !== undefined) turns.set(command.run, nextTurn())
          return command.decide(unit)
        },
      }),
  }
  const outside = { chain: chain.port, upstreams: upstream.port, sequencer, ledger, ids: told }
  const deps: Service = { ...made, ...outside }
  let app: { handle(request: Request): Promise<Response> } | undefined
  return {
    name: deps.settings.node,
    skew,
    heads,
    ids,
    turns,
    deps,
    db: line.db,
    line,
    now: clock.now,
    look: depositWatcher(deps),
    renew: planRenewer(deps),
    count: receiptCounter(deps),
    handle: (request) => {
      app ??= doorsOf(deps)
      return app.handle(request)
    },
    unsettled: new Set(),
    errors,
    close: () => {
      line.cut()
      if ('raw' in own) void own.close()
    },
  }
}

/** Those doors of the service that commands go through: all of them take a second to make. */
function doorsOf(deps: Service): { handle(request: Request): Promise<Response> } {
  const { settings, ids, log } = deps
  const { baseUrl, listen } = settings
  return makeRoot({ baseUrl, listen, ids, log })
    .use(runsApi(deps))
    .use(balanceApi(deps))
    .use(receiptsApi(deps))
}

/** Another process has a connection of its own; to a server all go by one pool. */
function connectTo(db: Db): Db {
  if (!('raw' in db)) return db
  const own = openSqlite((db as ReturnType<typeof openSqlite>).raw.filename)
  quicken(own)
  return own
}

/** No one pulls the plug of the machine here: what a process wrote is written. */
const quicken = (db: object): void => {
  const { raw } = db as ReturnType<typeof openSqlite>
  raw.run('PRAGMA synchronous = OFF')
}

const randomOf = (dice: Prng): Random => ({
  bytes(count) {
    const out = new Uint8Array(count)
    for (let i = 0; i < count; i++) out[i] = dice.below(256)
    return out
  },
})

/** Only what no one expects is kept: a run that could not be stored is expected. */
function logInto(errors: string[]): Log {
  const expected =
    /^(run\.settle_failed|run\.background_failed|deposit\.reversed|run\.failed|event\.not_told)$/
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (event, error) => {
      if (!expected.test(event)) errors.push(`${event}: ${String(error)}`)
    },
  }
}

/** A port without a listener: every network call of the service is replaced. */
const nowhere = 'http://127.0.0.1:9'
export const origin = 'http://localhost:4663'

const config = configOf(`
base_url = "${origin}"
[limits]
rpm = 10_000_000
concurrency = 100_000
keyless_per_minute = 10_000_000
[chain]
rpc_urls = ["${nowhere}"]
treasury = "${treasury}"
token = "${token}"
[deposits]
min_nusd = ${bounds.least}
soft_limit_nusd_per_day = ${bounds.soft}
final_above_nusd = ${bounds.late}
[[upstreams]]
id = "sim"
base_url = "${nowhere}"
[[models]]
id = "sim/chat"
route = ["sim:first", "sim:second"]
kind = "chat"
context_tokens = 100_000
max_output_tokens = 1000
input_pusd = ${prices.input}
output_pusd = ${prices.output}
request_nusd = ${prices.request}
bytes_per_token = 4
on_disconnect = "cut"
overhead_per_message = 0
overhead_fixed = 0
[[models]]
id = "sim/drained"
route = ["sim:first", "sim:second"]
kind = "chat"
context_tokens = 100_000
max_output_tokens = 1000
input_pusd = ${prices.input}
output_pusd = ${prices.output}
request_nusd = ${prices.request}
bytes_per_token = 4
on_disconnect = "drain"
overhead_per_message = 0
overhead_fixed = 0
${Object.entries(offers)
  .map(
    ([id, { price, monthly, discountBps, maxKeys }]) => `[[plans]]
id = "${id}"
price_nusd = ${price}
period = "${monthly ? 'month' : 'none'}"
discount_bps = ${discountBps}
limits = { max_keys = ${maxKeys}, rpm = 10_000_000, concurrency = 100_000 }`,
  )
  .join('\n')}
`)
