/**
 * `bun bench/ledger.ts`: durable runs a second in process, hold and settle each in a COMMIT with
 * fsync: as the server does it, many at once, against one transaction a command.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrateSqlite } from '../src/db/migrate.ts'
import type { RunRow } from '../src/db/schema.ts'
import { openSqlite } from '../src/db/sqlite.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { makeIds } from '../src/kernel/ids.ts'
import { systemRandom } from '../src/kernel/random.ts'
import { issueKey } from '../src/keys/issue.ts'
import { keyStore } from '../src/keys/store.ts'
import { grantCredit } from '../src/ledger/grant.ts'
import { endHold, takeHold } from '../src/ledger/ledger.ts'
import { openLedger } from '../src/ledger/store.ts'
import { logStore } from '../src/log/store.ts'
import { makePlans } from '../src/plans/plan.ts'
import { usageOf } from './processes.ts'

const account = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const rounds = 3
const secondsEach = 2

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-ledger-'))
const db = openSqlite(join(folder, 'counterfoil.db'))
migrateSqlite(db.raw, systemClock.now(), () => {})
const random = systemRandom()
const ids = makeIds(systemClock, random)
const logs = logStore(db, { clock: systemClock, node: 'bench', start: 0 })
const ledger = openLedger(db, systemClock, logs.numbering)
const plans = makePlans([], { rpm: 6000, concurrency: 1024 })
const keys = keyStore(db, systemClock, plans)
const credit = 1_000_000_000_000_000n
await grantCredit({ ledger, ids }, { account, amount: credit, reason: 'bench', actor: 'bench' })
const wish = { account, name: 'bench', capLimit: credit, capWindow: 'day', actor: 'bench' } as const
const { key } = await issueKey({ ledger, keys, plans, random, ids }, wish)

/** One run as the engine does it, but for its model. */
async function runOnce(): Promise<void> {
  const draft = draftOf()
  const held = await ledger.post({
    account,
    keys: key.lineage,
    decide(book) {
      const chain = key.lineage.flatMap((id) => book.key(id) ?? [])
      const run = { ...draft, windows: takeHold(book, chain, draft.hold, () => ({})) }
      book.addRun(run)
      return run
    },
  })
  await ledger.post({
    account,
    keys: key.lineage,
    run: held.id,
    decide(book) {
      const run = book.run(held.id)
      if (!run) throw new Error('the run is not open')
      endHold(book, run, 28n)
      Object.assign(run, { finishedAt: book.now, status: 'succeeded', outcome: 'complete' })
      Object.assign(run, { cost: 28n, digest: draft.seed, outputCommitment: draft.seed })
      book.changed('run', run)
    },
  })
}

async function measure(concurrency: number): Promise<{ perSecond: number; cpuUs: number }> {
  const until = performance.now() + secondsEach * 1000
  const before = usageOf(process.pid).cpuUs
  let runs = 0
  const worker = async (): Promise<void> => {
    while (performance.now() < until) {
      await runOnce()
      runs++
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  const cpuUs = (usageOf(process.pid).cpuUs - before) / runs
  return { perSecond: runs / secondsEach, cpuUs }
}

const results = new Map<number, number[]>()
await measure(64)
for (let round = 0; round < rounds; round++) {
  for (const concurrency of [1, 32, 256]) {
    const { perSecond, cpuUs } = await measure(concurrency)
    results.set(concurrency, [...(results.get(concurrency) ?? []), perSecond])
    console.log(
      `  ${String(concurrency).padStart(3)} at once ${perSecond.toFixed(0).padStart(7)} runs/s` +
        `  ${cpuUs.toFixed(1)} µs CPU a run`,
    )
  }
}
const middle = (concurrency: number): number =>
  (results.get(concurrency) ?? []).toSorted((a, b) => a - b)[1] ?? Number.NaN
console.log(`  32 at once against one at a time: ${(middle(32) / middle(1)).toFixed(1)}`)
console.log(`  256 at once against one at a time: ${(middle(256) / middle(1)).toFixed(1)}`)
await db.close()
rmSync(folder, { recursive: true, force: true })

function draftOf(): RunRow {
  const blank = { startedAt: null, firstByteAt: null, finishedAt: null, usageSource: null }
  const open = { outcome: null, error: null, durationMs: null, outputCommitment: null }
  const unsigned = { digest: null, logPlace: null, signature: null, output: null }
  return {
    id: ids.make('run'),
    accountId: account,
    keyId: key.id,
    node: 'node_0123456789abcdef',
    status: 'running',
    kind: 'chat',
    model: 'bench/t16',
    route: 'stub:stub-t16',
    createdAt: systemClock.now(),
    ...blank,
    hold: 10_000n,
    windows: [],
    priceList: 'default@1',
    lines: [],
    cost: 0n,
    discountBps: 0,
    clamped: false,
    ...open,
    tags: {},
    metadata: {},
    seed: random.bytes(32),
    inputCommitment: random.bytes(32),
    issuer: 'http://localhost:4663',
    passport: '',
    ...unsigned,
    background: false,
    outputUntil: null,
  }
}
