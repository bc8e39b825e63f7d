import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { toHex } from '../../../src/kernel/hex.ts'
import type { Log } from '../../../src/kernel/log.ts'
import { openLedger } from '../../../src/ledger/post.ts'
import { sequencer } from '../../../src/proof/log/sequence.ts'
import { logStore } from '../../../src/proof/log/store.ts'
import { append, emptyFrontier, type StoredLeaf } from '../../../src/proof/log/tree.ts'
import { leaseMs } from '../../../src/storage/db/engine/lease-clock.ts'
import type { KeyRow, RunRow } from '../../../src/storage/db/schema/schema.ts'
import { findFact } from '../../../src/storage/db/sql/facts.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { leafKinds } from '../../../src/verify/merkle.ts'
import { heldClock, newAccount, openOffice, pictureOf } from '../../ledger/office.ts'
import { promise } from '../../support/promise.ts'
import { engines } from '../../support/world.ts'

/** The numbers of the log: 0, 1, 2, … each of one ended run, none for an open one. */
function faultsOf(runs: RunRow[], size: string | undefined): string[] {
  const faults: string[] = []
  const numbers = runs.flatMap((run) => (run.logPlace === null ? [] : [run.logPlace]))
  numbers.sort((a, b) => a - b)
  numbers.forEach((number, i) => {
    if (number !== i) faults.push(`number ${i} is ${number}`)
  })
  if (Number(size ?? 0) !== numbers.length) faults.push(`size ${size} of ${numbers.length}`)
  for (const run of runs) {
    if (run.finishedAt === null && run.logPlace !== null) faults.push(`${run.id} is open`)
  }
  return faults
}

/** The rows of the tree over these runs in the order of their numbers, made at once. */
function leavesOf(runs: RunRow[]): string[] {
  const leaves = runs
    .filter((run) => run.logPlace !== null)
    .sort((a, b) => Number(a.logPlace) - Number(b.logPlace))
    .map(({ digest }) => ({ kind: leafKinds.receipt, digest: digest ?? new Uint8Array() }))
  return append(emptyFrontier, leaves).stored.map(leafLine)
}

const leafLine = ({ idx, kind, hashes }: StoredLeaf) => `${idx} ${kind} ${toHex(hashes)}`

describe.each(engines)('the numbers of the log on %s', (engine) => {
  let office: Awaited<ReturnType<typeof openOffice>>
  let key: KeyRow
  beforeAll(async () => {
    office = await openOffice(engine)
    const account = newAccount()
    await office.grant(account, 1_000_000n)
    key = await office.key({ account })
  }, 30_000)
  afterAll(() => office.close())

  const open = (count: number) =>
    Promise.all(Array.from({ length: count }, () => office.hold(key, 1n)))
  const expectSound = async () => {
    const { runs } = await pictureOf(office.db)
    expect(faultsOf(runs, await findFact(office.db, 'log.size'))).toEqual([])
    expect(await storedLeaves()).toEqual(leavesOf(runs))
    return runs
  }
  const storedLeaves = async () => {
    const { logLeaves } = office.db.tables
    const found = await office.db.read((q) => rows(q.select().from(logLeaves)))
    return found.sort((a, b) => a.idx - b.idx).map(leafLine)
  }

  if (engine === 'sqlite') {
    test('are given by the command that ends a run, also when a batch is undone', async () => {
      const { numbering } = storeOf('one')
      const ledger = openLedger(office.db, office.clock, numbering)
      const runs = await open(120)
      const asked = runs.flatMap((run, i) => {
        const end = office.end(run, 1n, ledger)
        // Each seventh is ended twice, which undoes the batch and repeats it one by one.
        return i % 7 === 0 ? [end, office.end(run, 1n, ledger)] : [end]
      })
      const outcomes = await Promise.allSettled(asked)
      expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(120)
      const numbered = await expectSound()
      expect(numbered.every((run) => run.logPlace !== null)).toBe(true)
    })
    return
  }

  promise`G10 H: Each receipt has one index of the log, which no crash and no second node repeats.`
  test('have no gap and no duplicate when two nodes number and both end runs', async () => {
    const logged: string[] = []
    const nodes = ['one', 'two'].map((name) =>
      sequencer({ store: storeOf(name), log: logOf(logged), clock: office.clock }),
    )
    const runs = await open(300)
    await Promise.all(
      runs.map(async (run, i) => {
        await office.end(run, 1n)
        nodes[i % 2]?.wake()
        if (i % 10 === 0) await nodes[(i / 10) % 2]?.flush()
      }),
    )
    for (const node of nodes) await node.flush()
    for (const node of nodes) await node.stop()
    const numbered = await expectSound()
    expect(numbered.every((run) => run.logPlace !== null)).toBe(true)
    expect(logged).toEqual([])
  }, 30_000)

  test('stay whole when the lease changes hands in the middle', async () => {
    const clocks = [
      heldClock(office.clock.now() + leaseMs),
      heldClock(office.clock.now() + leaseMs),
    ]
    const [slow, fast] = clocks.map((clock, i) => ({ clock, store: storeOf(`late ${i}`, clock) }))
    if (!slow || !fast) throw new Error('no stores')
    const before = (await expectSound()).length
    for (const run of await open(60)) await office.end(run, 0n)
    const first = await slow.store.takeLease()
    if (!first) throw new Error('no lease')
    expect(await slow.store.number(first, 20)).toBe(20)
    // Its machine sleeps: its clock stands still while that of the other goes on.
    fast.clock.set(fast.clock.now() + leaseMs + 1)
    const second = await fast.store.takeLease()
    if (!second) throw new Error('no lease')
    const [late, good] = await Promise.allSettled([
      slow.store.number(first, 20),
      fast.store.number(second, 20),
    ])
    expect(late.status).toBe('rejected')
    expect(good).toEqual({ status: 'fulfilled', value: 20 })
    expect(await fast.store.number(second, 256)).toBe(20)
    const all = await expectSound()
    expect(all.filter((run) => run.logPlace !== null).length).toBe(before + 60)
  }, 30_000)

  const logOf = (logged: string[]): Log => ({
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (event, error) => void logged.push(`${event} ${error}`),
  })

  function storeOf(node: string, clock = office.clock) {
    return logStore(office.db, { clock, node, start: 0 })
  }
})
