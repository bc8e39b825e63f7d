import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { statSync } from 'node:fs'
import { changeKey } from '../../src/access/keys/change.ts'
import { Refusal } from '../../src/kernel/refusal.ts'
import { auditStore } from '../../src/ledger/store/audit.ts'
import { lookEveryMs } from '../../src/storage/db/engine/version.ts'
import type { KeyRow, RunRow } from '../../src/storage/db/schema/schema.ts'
import { closeAll, freshFile, openFile } from '../storage/db/file.ts'
import { outcomeOf, rejectionOf } from '../support/rejection.ts'
import { allRuns } from '../support/runs.ts'
import { faultsOf, newAccount, pictureOf } from './office.ts'

setDefaultTimeout(60_000)

afterEach(closeAll)

/** A process with a SQLite file of its own, and an account with a key of it. */
async function serverWith(balance: bigint, capLimit = 1_000_000n) {
  const file = freshFile()
  const server = openFile(file)
  const account = newAccount()
  await server.grant(account, balance)
  const key = await server.key({ account, capLimit })
  const begin = (amount: bigint, of: KeyRow = key): Promise<RunRow> =>
    server.hold(of, amount, server.ledger, true)
  const later = (ms: number) => server.clock.set(server.clock.now() + ms)
  const count = (table: 'runs' | 'open_runs'): number => {
    const found = server.raw.query(`select count(*) as n from ${table}`).get()
    return Number((found as { n: bigint }).n)
  }
  /** Runs with a row, ended and open, and those without. */
  const counts = () => [count('runs'), count('open_runs'), server.db.open.size]
  const held = () => server.db.open.heldOf(account)
  /** Everything stored is whole by itself, as another process sees it. */
  const expectWhole = async () => {
    expect(faultsOf(await pictureOf(server.db))).toEqual([])
    expect(await auditStore(server.db).faults(server.clock.now())).toEqual([])
  }
  return { file, server, account, key, begin, later, counts, held, expectWhole }
}

/** Why a hold was refused: the type, what limited it, and how much that could still hold. */
async function refusalOf(asked: Promise<unknown>) {
  const error = await rejectionOf(asked)
  if (!(error instanceof Refusal)) throw error
  const { limited_by, available_nusd } = error.detail.metadata ?? {}
  return [error.type, limited_by, available_nusd]
}

/** Fails each COMMIT from `begin` to `end`. */
function commitFault({ raw }: ReturnType<typeof openFile>) {
  raw.run('CREATE TABLE p (id INTEGER PRIMARY KEY)')
  raw.run('CREATE TABLE c (id INTEGER REFERENCES p (id) DEFERRABLE INITIALLY DEFERRED)')
  const tables = ['runs', 'open_runs']
  return {
    begin() {
      for (const name of tables) {
        raw.run(
          `CREATE TRIGGER broken_${name} AFTER INSERT ON ${name} BEGIN INSERT INTO c VALUES (1); END`,
        )
      }
    },
    end() {
      for (const name of tables) raw.run(`DROP TRIGGER broken_${name}`)
    },
  }
}

describe('a hold where one process writes', () => {
  test('writes nothing to the file, and counts at once for the next', async () => {
    const { file, server, account, key, begin, expectWhole } = await serverWith(100n, 60n)
    const child = await server.key({ account, parentId: key.id, capLimit: 50n })
    const written = () => [
      server.raw.query('select total_changes() as n').get(),
      statSync(`${file}-wal`).size,
    ]
    const before = written()
    await begin(30n, child)
    expect(await refusalOf(begin(21n, child))).toEqual(['cap_exceeded', 'key', 20])
    expect(await refusalOf(begin(31n))).toEqual(['cap_exceeded', 'key', 30])
    expect(await refusalOf(begin(31n, child))).toEqual(['cap_exceeded', 'key', 20])
    await begin(20n, child)
    await begin(10n)
    expect(await rejectionOf(begin(1n))).toMatchObject({ type: 'cap_exceeded' })
    const wide = await server.key({ account })
    expect(written()).not.toEqual(before)
    const after = written()
    expect(await rejectionOf(begin(41n, wide))).toMatchObject({ type: 'insufficient_balance' })
    await begin(40n, wide)
    expect(await rejectionOf(begin(1n, wide))).toMatchObject({ type: 'insufficient_balance' })
    expect(written()).toEqual(after)
    await expectWhole()
  })

  test('leaves one row when its run ends young, and what it cost', async () => {
    const { begin, server, counts, expectWhole } = await serverWith(100n)
    const run = await begin(30n)
    await server.sweep()
    expect(counts()).toEqual([0, 0, 1])
    await server.end(run, 7n)
    expect(counts()).toEqual([1, 0, 0])
    expect((await pictureOf(server.db)).accounts).toMatchObject([{ balance: 93n, held: 0n }])
    expect(await outcomeOf(server.end(run, 7n))).toThrow('is not open')
    await expectWhole()
  })

  test('gets its row when it is no longer new, which its end deletes', async () => {
    const { begin, later, server, counts, expectWhole } = await serverWith(100n)
    const old = await begin(30n)
    later(499)
    const young = await begin(20n)
    await server.sweep()
    expect(counts()).toEqual([0, 0, 2])
    later(1)
    await server.sweep()
    expect(counts()).toEqual([0, 1, 1])
    const picture = await pictureOf(server.db)
    expect(picture.accounts).toMatchObject([{ balance: 100n, held: 30n }])
    expect(picture.runs).toMatchObject([{ id: old.id, status: 'running', finishedAt: null }])
    await expectWhole()
    expect(await rejectionOf(begin(51n))).toMatchObject({ type: 'insufficient_balance' })
    await Promise.all([server.end(old, 1n), server.end(young, 2n)])
    expect(counts()).toEqual([2, 0, 0])
    expect((await pictureOf(server.db)).accounts).toMatchObject([{ balance: 97n, held: 0n }])
    await expectWhole()
  })

  test.each(['before', 'behind'])('ends well with its sweep %s it in one batch', async (order) => {
    const { begin, later, server, counts, expectWhole } = await serverWith(100n)
    const runs = [await begin(30n), await begin(20n)]
    later(500)
    const sweep = () => server.sweep()
    const ends = () => runs.map((run) => server.end(run, 3n))
    const together = order === 'before' ? [sweep(), ...ends()] : [...ends(), sweep()]
    await Promise.all(together)
    expect(counts()).toEqual([2, 0, 0])
    expect((await pictureOf(server.db)).accounts).toMatchObject([{ balance: 94n, held: 0n }])
    await expectWhole()
    expect((await begin(94n)).hold).toBe(94n)
  })

  test('is found with those that have ended, whether it has a row or not', async () => {
    const { begin, later, server } = await serverWith(100n)
    const stored = await begin(1n)
    later(500)
    await server.sweep()
    const ended = await begin(1n)
    await server.end(ended, 1n)
    const young = await begin(1n)
    const told = (await allRuns(server)).map(({ id, finishedAt }) => [id, finishedAt !== null])
    const ids = [stored.id, ended.id, young.id].sort()
    expect(told).toEqual(ids.map((id) => [id, id === ended.id]))
  })
})

describe('a COMMIT that fails', () => {
  test('at the end keeps the hold, and its next end charges it once', async () => {
    const { begin, later, server, counts, expectWhole } = await serverWith(100n)
    const old = await begin(30n)
    later(500)
    await server.sweep()
    const young = await begin(20n)
    const fault = commitFault(server)
    fault.begin()
    const failed = await Promise.allSettled([server.end(old, 30n), server.end(young, 20n)])
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(counts()).toEqual([0, 1, 1])
    expect(await rejectionOf(begin(51n))).toMatchObject({ type: 'insufficient_balance' })
    await begin(50n)
    fault.end()
    await Promise.all([server.end(old, 0n), server.end(young, 20n)])
    expect(counts()).toEqual([2, 0, 1])
    expect((await pictureOf(server.db)).accounts).toMatchObject([{ balance: 80n, held: 0n }])
    await expectWhole()
  })

  test('at the sweep leaves the hold in memory, and the next sweep stores it', async () => {
    const { begin, later, server, counts, expectWhole } = await serverWith(100n)
    const runs = [await begin(30n), await begin(20n)]
    later(500)
    const fault = commitFault(server)
    fault.begin()
    expect(await outcomeOf(server.sweep())).toThrow()
    expect(counts()).toEqual([0, 0, 2])
    expect(await rejectionOf(begin(51n))).toMatchObject({ type: 'insufficient_balance' })
    fault.end()
    await server.sweep()
    expect(counts()).toEqual([0, 2, 0])
    await Promise.all(runs.map((run) => server.end(run, 1n)))
    await expectWhole()
  })
})

describe('another process that writes to the file', () => {
  test('Another process mints, grants and changes a cap, and all holds stay.', async () => {
    const { file, key, account, begin, server, counts, expectWhole } = await serverWith(100n, 80n)
    const runs = [await begin(30n), await begin(20n)]
    const other = openFile(file)
    const writes = [
      () => other.key({ account }),
      () => other.grant(account, 5n),
      () => changeKey(other, { keyId: key.id, actor: 'test', change: { capLimit: 70n } }),
    ]
    const rooms: unknown[] = []
    for (const write of writes) {
      await write()
      await Bun.sleep(lookEveryMs + 1)
      rooms.push((await refusalOf(begin(1000n)))[2])
    }
    expect(rooms).toEqual([30, 30, 20])
    const wide = await server.key({ account })
    expect(await refusalOf(begin(56n, wide))).toEqual(['insufficient_balance', 'balance', 55])
    expect(counts()).toEqual([0, 0, 2])
    await Promise.all(runs.map((run) => server.end(run, run.hold)))
    expect((await pictureOf(server.db)).accounts).toMatchObject([{ balance: 55n, held: 0n }])
    await expectWhole()
  })

  test('lowers a cap below what is held: runs get their rows and end, nothing more begins', async () => {
    const { file, key, begin, later, server, counts } = await serverWith(1000n, 100n)
    const runs = [await begin(30n), await begin(30n), await begin(30n)]
    await changeKey(openFile(file), { keyId: key.id, actor: 'test', change: { capLimit: 10n } })
    await Bun.sleep(2)
    expect(await rejectionOf(begin(1n))).toMatchObject({ type: 'cap_exceeded' })
    later(500)
    await server.sweep()
    expect(counts()).toEqual([0, 3, 0])
    for (const run of runs) await server.end(run, 30n)
    expect(counts()).toEqual([3, 0, 0])
    expect(await rejectionOf(begin(1n))).toMatchObject({ type: 'cap_exceeded' })
    const { windows, accounts } = await pictureOf(server.db)
    expect(windows).toMatchObject([{ spent: 90n, held: 0n }])
    expect(accounts).toMatchObject([{ balance: 910n, held: 0n }])
    expect(await auditStore(server.db).faults(server.clock.now())).toEqual([])
  })

  test('lowers a cap below what is held, and runs end that have no row', async () => {
    const { file, key, begin, server, counts } = await serverWith(1000n, 100n)
    const runs = [await begin(40n), await begin(30n), await begin(30n)]
    await changeKey(openFile(file), { keyId: key.id, actor: 'test', change: { capLimit: 10n } })
    await Promise.all(runs.map((run) => server.end(run, run.hold)))
    expect(counts()).toEqual([3, 0, 0])
    const { windows } = await pictureOf(server.db)
    expect(windows).toMatchObject([{ spent: 100n, held: 0n }])
    expect(await rejectionOf(begin(1n))).toMatchObject({ type: 'cap_exceeded' })
    expect(await auditStore(server.db).faults(server.clock.now())).toEqual([])
  })
})

describe('a process that dies', () => {
  test('frees the holds without a row, and leaves those with one to the next', async () => {
    const { file, key, begin, later, server, account } = await serverWith(100n)
    const stored = await begin(30n)
    later(500)
    await server.sweep()
    await begin(20n)
    const ended = await begin(5n)
    await server.end(ended, 5n)
    await server.db.close()
    const next = openFile(file)
    const { accounts, runs } = await pictureOf(next.db)
    expect(accounts).toMatchObject([{ id: account, balance: 95n, held: 30n }])
    expect(runs.map(({ id }) => id).sort()).toEqual([stored.id, ended.id].sort())
    await next.hold(key, 65n, next.ledger, true)
    expect(await rejectionOf(next.hold(key, 1n))).toMatchObject({ type: 'insufficient_balance' })
    await next.end(stored, 0n)
    expect(faultsOf(await pictureOf(next.db))).toEqual([])
  })
})
