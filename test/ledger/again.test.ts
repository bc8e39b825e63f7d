import type { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { asc } from 'drizzle-orm'
import { toHex } from '../../src/kernel/hex.ts'
import type { UnitOfWork } from '../../src/ledger/unit-of-work.ts'
import { readWholeLogs } from '../../src/proof/log/store/whole.ts'
import { digestOf, factsOf, isEnded } from '../../src/proof/receipts/receipt.ts'
import { finish } from '../../src/runs/finish.ts'
import type { LiveRun } from '../../src/runs/live-run.ts'
import type { FinishedRun } from '../../src/runs/settlement.ts'
import type { EndedRun, RunRow } from '../../src/storage/db/schema/schema.ts'
import { rows } from '../../src/storage/db/sql/query-steps.ts'
import { leafHash, leafKinds } from '../../src/verify/merkle.ts'
import { type Beginner, beginnerOf, beginnerToml, endingOf } from '../runs/beginner.ts'
import { allRuns, expectSettled } from '../support/runs.ts'
import { type Engine, engines, type World, world } from '../support/world.ts'
import { endedAs } from './office.ts'

setDefaultTimeout(60_000)

/** What breaks a batch, by help of a run that goes on. */
type Fault = {
  on: readonly Engine[]
  begin?(w: World): void
  /** What it does to the unit of work. */
  decide(unit: UnitOfWork, open: RunRow): void
  end?(w: World): void
}

/** Ends a run without its money, with something of its row as it must not be. */
const endAs = (unit: UnitOfWork, open: RunRow, change: Partial<EndedRun>): void =>
  unit.endRun({ ...endedAs(open, unit.now), ...change })

const rawOf = ({ db }: World): Database => (db as unknown as { raw: Database }).raw

const faults: Record<string, Fault> = {
  'a decision that breaks': {
    on: engines,
    decide() {
      throw new Error('a bug')
    },
  },
  'a write that breaks a CHECK': {
    on: engines,
    decide: (unit, open) => endAs(unit, open, { cost: open.hold + 1n }),
  },
  'a number that cannot be given': {
    // On a server numbers are given afterwards.
    on: ['sqlite'],
    decide: (unit, open) => endAs(unit, open, { digest: null as never }),
  },
  'a COMMIT that fails': {
    on: ['sqlite'],
    begin(w) {
      const raw = rawOf(w)
      raw.run('CREATE TABLE p (id INTEGER PRIMARY KEY)')
      raw.run('CREATE TABLE c (id INTEGER REFERENCES p (id) DEFERRABLE INITIALLY DEFERRED)')
      const broken = `INSERT ON runs WHEN new.route = 'breaks'`
      raw.run(`CREATE TRIGGER t AFTER ${broken} BEGIN INSERT INTO c VALUES (1); END`)
    },
    decide: (unit, open) => endAs(unit, open, { route: 'breaks' }),
    end: (w) => rawOf(w).run('DROP TRIGGER t'),
  },
}

describe.each(engines)('runs that end in one batch, on %s', (engine) => {
  let w: World
  let by: Beginner
  beforeAll(async () => {
    w = await world({ engine, toml: beginnerToml })
    by = beginnerOf(w)
  })
  afterAll(() => w.stop())

  const here = Object.entries(faults).filter(([, { on }]) => on.includes(engine))

  test.each(here)('are settled once, each on its own leaf, beside %s', async (_, fault) => {
    const callers = [await by.callerOf(), await by.callerOf()] as const
    const starts = [callers[0], callers[1], callers[0], callers[1], callers[0]]
    const [broken, ...lives] = await Promise.all(starts.map((caller) => by.start(caller)))
    if (!broken) throw new Error('no run')
    const ends = lives.map((live, i) => () => finish(w.deps, live, endingOf({ output: `${i}` })))
    let decided = 0
    const breakIt = () => {
      const { accountId: account, windows, id: run } = broken.row
      const decide = (unit: UnitOfWork) => {
        decided++
        fault.decide(unit, broken.row)
      }
      return w.deps.ledger.post({ account, keys: windows.map(([key]) => key), run, decide })
    }
    fault.begin?.(w)
    const together = [ends[0], ends[1], breakIt, ends[2], ends[3]]
    const [first, second, bad, ...rest] = await Promise.allSettled(together.map((end) => end?.()))
    fault.end?.(w)
    // Once in the batch that it broke, and once alone.
    expect({ decided, came: bad?.status }).toEqual({ decided: 2, came: 'rejected' })
    const settled = [first, second, ...rest].map((one) => {
      if (one?.status !== 'fulfilled') throw new Error(`not settled: ${one?.reason}`)
      return one.value as FinishedRun
    })
    settled.push(await finish(w.deps, broken, endingOf()))
    await w.deps.sequencer.flush()
    for (const one of settled) await expectLogged(w, one)
    await expectWholeLog(w)
    await expectSettled(w)
  })

  /** Marks a run as started, as the start of one in the background does. */
  const startOf = ({ row }: LiveRun) =>
    w.deps.ledger.post({
      ...{ account: row.accountId, keys: [], run: row.id },
      decide(unit) {
        const open = unit.run(row.id)
        if (!open) throw new Error('it is not open')
        open.status = 'running'
        open.startedAt = unit.now + 1
        unit.changed('run', open)
      },
    })
  const expectEnded = async (done: FinishedRun) => {
    await w.deps.sequencer.flush()
    await expectLogged(w, done)
    await expectSettled(w)
  }

  test('are stored as they ended, also where their rows were changed before', async () => {
    const live = await by.start(await by.callerOf(), { background: true })
    const [, done] = await Promise.all([startOf(live), finish(w.deps, live, endingOf())])
    await expectEnded(done)
  })

  test('are open no more for what comes behind, which would change what was digested', async () => {
    const live = await by.start(await by.callerOf(), { background: true })
    const [done, late] = await Promise.allSettled([finish(w.deps, live, endingOf()), startOf(live)])
    expect(late).toMatchObject({ status: 'rejected', reason: { message: 'it is not open' } })
    if (done.status === 'rejected') throw done.reason
    await expectEnded(done.value)
  })
})

/** What was returned is what is stored, of which the digest is, of which the leaf is. */
async function expectLogged(w: World, { run, digest }: FinishedRun): Promise<void> {
  const stored = await w.deps.runs.find(run.id)
  if (!stored || !isEnded(stored)) throw new Error(`run ${run.id} has not ended`)
  const { logPlace } = stored
  expect<RunRow>(stored).toEqual(w.db.exclusive ? run : { ...run, logPlace })
  expect(toHex(stored.digest)).toBe(digest)
  expect(toHex(digestOf(factsOf(stored)))).toBe(digest)
  const leaf = (await leavesOf(w)).find(({ idx }) => idx === logPlace)
  const hash = leafHash(leafKinds.receipt, stored.digest)
  expect(toHex(leaf?.hashes.subarray(0, 32) ?? new Uint8Array())).toBe(toHex(hash))
}

/** Every receipt of the log has its run, every run its receipt, and the tree is whole. */
async function expectWholeLog(w: World): Promise<void> {
  const receipts = (await leavesOf(w)).filter(({ kind }) => kind === leafKinds.receipt)
  const places = (await allRuns(w)).map(({ logPlace }) => logPlace ?? -1)
  expect(places.sort((a, b) => a - b)).toEqual(receipts.map(({ idx }) => idx))
  expect((await readWholeLogs(w.db)).faults).toEqual([])
}

const leavesOf = ({ db }: World) =>
  db.read((q) => rows(q.select().from(db.tables.logLeaves).orderBy(asc(db.tables.logLeaves.idx))))
