import { issueKey } from '../src/access/keys/issue.ts'
import { keyStore } from '../src/access/keys/store.ts'
import { makePlans } from '../src/access/plan-config.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { makeIds } from '../src/kernel/ids.ts'
import { systemRandom } from '../src/kernel/random.ts'
import { grantCredit } from '../src/ledger/grant.ts'
import { endHold, takeHold } from '../src/ledger/hold.ts'
import { openLedger } from '../src/ledger/post.ts'
import { logStore } from '../src/proof/log/store.ts'
import type { Db } from '../src/storage/db/engine/db.ts'
import type { RunRow } from '../src/storage/db/schema/schema.ts'
import { usageOf } from './processes.ts'

const credit = 1_000_000_000_000_000n
const random = systemRandom()
const ids = makeIds(systemClock, random)

export type Measured = { perSecond: number; cpuUs: number }

/**
 * Opens the ledger of a database with a fresh key for each of so many accounts, and gives what a
 * run does there: a hold and a settle, each in a COMMIT, as the engine does it but for the model.
 */
export async function openRuns(db: Db, accounts: number): Promise<(turn: number) => Promise<void>> {
  const logs = logStore(db, { clock: systemClock, node: 'bench', start: 0 })
  const ledger = openLedger(db, systemClock, db.exclusive ? logs.numbering : undefined)
  const plans = makePlans([], { rpm: 6000, concurrency: 1024 })
  const keys = keyStore(db, systemClock, plans)
  const issue = async () => {
    const account = `0x${Buffer.from(random.bytes(20)).toString('hex')}`
    await grantCredit({ ledger, ids }, { account, amount: credit, reason: 'bench', actor: 'bench' })
    const cap = { capLimit: credit, capWindow: 'day' } as const
    const wish = { account, name: 'bench', ...cap, actor: 'bench' }
    return (await issueKey({ ledger, keys, plans, random, ids }, wish)).key
  }
  const made = await Promise.all(Array.from({ length: accounts }, issue))

  return async (turn) => {
    const key = made[turn % made.length]
    if (!key) throw new Error('there is no key')
    const account = key.accountId
    const draft = draftOf(account, key.id)
    const held = await ledger.post({
      account,
      keys: key.lineage,
      decide(unit) {
        const chain = key.lineage.flatMap((id) => unit.key(id) ?? [])
        const run = { ...draft, windows: takeHold(unit, chain, draft.hold, () => ({})) }
        unit.addRun(run)
        return run
      },
    })
    await ledger.post({
      account,
      keys: key.lineage,
      run: held.id,
      decide(unit) {
        const run = unit.run(held.id)
        if (!run) throw new Error('the run is not open')
        endHold(unit, run, 28n)
        const ended = { status: 'succeeded', outcome: 'complete', finishedAt: unit.now } as const
        const receipt = { digest: draft.seed, outputCommitment: draft.seed, durationMs: 0 }
        unit.endRun({ ...held, ...ended, ...receipt, usageSource: 'counted', cost: 28n })
      },
    })
  }
}

/** Does something over and over for a while, so many at once: how often, and this process's CPU. */
export async function measureTurns(
  once: (turn: number) => Promise<void>,
  concurrency: number,
  seconds: number,
): Promise<Measured> {
  const begun = performance.now()
  const until = begun + seconds * 1000
  const before = usageOf(process.pid).cpuUs
  let turns = 0
  const worker = async (index: number): Promise<void> => {
    for (let turn = index; performance.now() < until; turn += concurrency) {
      await once(turn)
      turns++
    }
  }
  await Promise.all(Array.from({ length: concurrency }, (_, index) => worker(index)))
  const perSecond = (turns / (performance.now() - begun)) * 1000
  return { perSecond, cpuUs: (usageOf(process.pid).cpuUs - before) / turns }
}

function draftOf(account: string, keyId: string): RunRow {
  const blank = { startedAt: null, firstByteAt: null, finishedAt: null, usageSource: null }
  const open = { outcome: null, error: null, durationMs: null, outputCommitment: null }
  const unsigned = { digest: null, logPlace: null, signature: null, output: null }
  return {
    id: ids.make('run'),
    accountId: account,
    keyId,
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
