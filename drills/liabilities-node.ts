/**
 * One process of the drill of liabilities: opens a service on a day of its own, waits for a line,
 * lets the daily job run while money moves, and judges what is there. A step can kill it.
 */
import { sql } from 'drizzle-orm'
import { openDatabase } from '../src/app/open-database.ts'
import { openHeads } from '../src/app/open-signer.ts'
import { makeDeps, type Service } from '../src/app/wiring.ts'
import { grantCredit } from '../src/ledger/grant.ts'
import { liabilityPublisher } from '../src/proof/liabilities/publish-liabilities.ts'
import type { LiabilityStore } from '../src/proof/liabilities/store.ts'
import { keepCheckpoint } from '../src/proof/log/checkpoint.ts'
import { signerFromHex } from '../src/proof/signer/signer.ts'
import type { Db } from '../src/storage/db/engine/db.ts'
import { rows } from '../src/storage/db/sql/query-steps.ts'
import { useWasmKeccak } from '../src/verify/fast/keccak-wasm.ts'
import { configOf, testPrivateKey } from '../test/support/world.ts'
import { accountOf, amountOf, judgeLiabilities } from './liabilities-judge.ts'

export type LiabilitiesNodeOptions = {
  data: string
  /** Of a PostgreSQL server; SQLite in the data folder without. */
  url?: string | undefined
  /** From 1: one statement must be there a day. */
  day: number
  accounts: number
  /** Kills the process before or after this call of the store, from 1. */
  dies?: { step: number; when: 'before' | 'after' } | undefined
  /** Whether credit is granted while the job runs. */
  busy?: boolean | undefined
  /** Judges what is there at the end. */
  judges?: boolean | undefined
  /** Tells how long it took; nothing is judged then. */
  measures?: boolean | undefined
}

/** The last line that the process prints. */
export type LiabilitiesNodeReport = {
  faults: string[]
  /** Calls of the store, and grants that were acknowledged while the job ran. */
  steps: number
  grants: number
  measured?: { ms: number; stallMs: number; grownMiB: number; slowestGrantMs: number }
}

const dayMs = 86_400_000
const firstDay = Date.UTC(2026, 0, 1, 6)
/** Grants at once while accounts are opened. */
const atOnce = 256

/** Calls of the store that were made. */
let steps = 0

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? '') as LiabilitiesNodeOptions)

async function main(wish: LiabilitiesNodeOptions): Promise<void> {
  useWasmKeccak()
  const { deps, db } = await open(wish)
  let grants = await grantsIn(db)
  for (; grants < wish.accounts; grants = await grantsIn(db)) {
    const some = Math.min(atOnce, wish.accounts - grants)
    await Promise.all(Array.from({ length: some }, (_, i) => grantOne(deps, wish, grants + i)))
  }
  console.log('ready')
  for await (const _ of console) break
  const before = grants
  let isOver = false
  let slowestGrantMs = 0
  const granting = async () => {
    while (wish.busy && !isOver) {
      const from = performance.now()
      await grantOne(deps, wish, grants)
      slowestGrantMs = Math.max(slowestGrantMs, performance.now() - from)
      grants += 1
    }
  }
  const busy = granting()
  const watched = wish.measures ? watch() : undefined
  await liabilityPublisher(deps)(new AbortController().signal)
  const measured = watched?.stop()
  await keepCheckpoint(deps)
  isOver = true
  await busy
  const made = steps
  const faults = wish.judges ? await judgeLiabilities({ deps, db }, { ...wish, to: grants }) : []
  await deps.sequencer.stop()
  await db.close()
  const told: LiabilitiesNodeReport = {
    faults,
    steps: made,
    grants: grants - before,
    ...(measured && { measured: { ...measured, slowestGrantMs } }),
  }
  console.log(JSON.stringify(told))
  process.exit(0)
}

/** A service whose clock stands on that day; leases go by it too, so that no kill waits for one. */
async function open(wish: LiabilitiesNodeOptions): Promise<{ deps: Service; db: Db }> {
  const { data, url = `sqlite:${data}/counterfoil.db`, day } = wish
  const config = { ...configOf(''), data, database_url: url }
  const { db } = await openDatabase(config, { mayCreate: true })
  const begun = firstDay + day * dayMs + (wish.judges ? 60_000 : 0)
  const quiet = () => {}
  const deps = await makeDeps({
    config,
    db: { ...db, readClock: undefined },
    signer: signerFromHex(testPrivateKey),
    log: {
      ...{ debug: quiet, info: quiet, warn: quiet },
      error: (event, error) => console.error(event, error),
    },
    clock: {
      now: () => begun + Math.floor(performance.now()),
      monotonic: () => performance.now(),
    },
    headFile: openHeads(config),
  })
  return { deps: { ...deps, liabilities: dying(deps.liabilities, wish.dies) }, db }
}

/** The same store; one of its calls is the last of this process. */
function dying(store: LiabilityStore, dies: LiabilitiesNodeOptions['dies']): LiabilityStore {
  const die = () => process.kill(process.pid, 'SIGKILL')
  return new Proxy(store, {
    get(target, name: keyof LiabilityStore) {
      const call = target[name] as (...args: unknown[]) => Promise<unknown>
      return async (...args: unknown[]) => {
        const step = ++steps
        if (dies?.step === step && dies.when === 'before') die()
        const answer = await call(...args)
        if (dies?.step === step) die()
        return answer
      }
    },
  })
}

/** The n-th grant there is, from 0; one follows the other, so that a moment is a number of them. */
function grantOne(
  deps: Service,
  { accounts }: LiabilitiesNodeOptions,
  n: number,
): Promise<unknown> {
  const [account, amount] = [accountOf(n % accounts), amountOf(n)]
  return grantCredit(deps, { account, amount, reason: 'drill', actor: 'drill' })
}

/** All grants so far: each moved an account once. */
async function grantsIn(db: Db): Promise<number> {
  const { accounts } = db.tables
  const n = sql<number>`cast(coalesce(sum(${accounts.moves}), 0) as integer)`
  const [found] = await db.read((q) => rows(q.select({ n }).from(accounts)))
  return Number(found?.n ?? 0)
}

/** Looks at time, memory and the longest turn of the event loop. */
function watch() {
  Bun.gc(true)
  const rss = () => process.memoryUsage.rss()
  const [from, before] = [performance.now(), rss()]
  let [last, stallMs, most] = [from, 0, before]
  const look = () => {
    const now = performance.now()
    stallMs = Math.max(stallMs, now - last)
    last = now
    most = Math.max(most, rss())
  }
  const timer = setInterval(look, 1)
  return {
    stop() {
      look()
      clearInterval(timer)
      return { ms: last - from, stallMs, grownMiB: (most - before) / 2 ** 20 }
    },
  }
}
