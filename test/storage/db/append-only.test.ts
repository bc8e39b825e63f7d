import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { insertEnded } from '../../../bench/stored-runs.ts'
import { insert, rows } from '../../../src/storage/db/sql/query-steps.ts'
import { endedAs, newAccount, openOffice, pictureOf } from '../../ledger/office.ts'
import { promise } from '../../support/promise.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { engines } from '../../support/world.ts'

describe.each(engines)('the database itself, %s', (engine) => {
  let office: Awaited<ReturnType<typeof openOffice>>
  let account: string
  beforeAll(async () => {
    office = await openOffice(engine)
    account = newAccount()
    await office.grant(account, 100n)
  }, 30_000)
  afterAll(() => office.close())

  promise`D3 H: Booked transfers cannot be changed or deleted: the database itself refuses.`
  test('changes no transfer and deletes none', async () => {
    const { transfers } = office.db.tables
    const own = eq(transfers.accountId, account)
    const before = await pictureOf(office.db)
    expect(before.transfers.length).toBe(1)
    const change = office.db.write((q) =>
      rows(q.update(transfers).set({ amount: 1n }).where(own).returning()),
    )
    expect(await outcomeOf(change)).toThrow()
    const vanish = office.db.write((q) => rows(q.delete(transfers).where(own).returning()))
    expect(await outcomeOf(vanish)).toThrow()
    expect(await pictureOf(office.db)).toEqual(before)
  })

  promise`F15`
  test('takes the credit of a transfer on the chain once, whatever the account.', async () => {
    const { transfers } = office.db.tables
    const sides = { kind: 'deposit', source: 'deposits', target: 'user' } as const
    const credit = (accountId: string, seq: number) => {
      const line = { accountId, ref: '4663/0xa/0xt/0xb/50/0', ...sides, amount: 50n }
      return office.db.write(() =>
        insert(transfers, [{ ...line, at: office.clock.now() + seq, seq, balance: 150n }]),
      )
    }
    await credit('0xfirst', 1)
    for (const [of, seq] of [
      ['0xfirst', 2],
      ['0xother', 1],
    ] as const) {
      expect(await outcomeOf(credit(of, seq))).toThrow()
    }
  })

  promise`G10`
  test('The database refuses changes and deletions of rows of the log.', async () => {
    const { logLeaves, logCheckpoints } = office.db.tables
    const leaf = { idx: 0, hashes: new Uint8Array(32), kind: 0, runId: null } as const
    const signed = { root: new Uint8Array(32), timestamp: 1, signature: new Uint8Array(65) }
    const checkpoint = { size: 1, issuer: 'http://localhost', ...signed }
    await office.db.write(function* () {
      yield* insert(logLeaves, [leaf])
      yield* insert(logCheckpoints, [checkpoint])
    })
    const changed = { hashes: new Uint8Array(32).fill(1), root: new Uint8Array(32).fill(1) }
    for (const table of [logLeaves, logCheckpoints]) {
      const change = office.db.write((q) => rows(q.update(table).set(changed).returning()))
      expect(await outcomeOf(change)).toThrow()
      const vanish = office.db.write((q) => rows(q.delete(table).returning()))
      expect(await outcomeOf(vanish)).toThrow()
    }
    const kept = await office.db.read(function* (q) {
      return [yield* rows(q.select().from(logLeaves)), yield* rows(q.select().from(logCheckpoints))]
    })
    expect(kept).toEqual([[leaf], [checkpoint]])
  })

  promise`D2`
  promise`D5`
  test('keeps 0 ≤ held ≤ balance ≤ 9,000,000 USD', async () => {
    const { accounts } = office.db.tables
    const set = (values: { balance?: bigint; held?: bigint }) =>
      office.db.write((q) =>
        rows(q.update(accounts).set(values).where(eq(accounts.id, account)).returning()),
      )
    for (const values of [
      { held: 101n },
      { held: -1n },
      { balance: -1n },
      { balance: 9_000_000_000_000_001n },
    ]) {
      expect(await outcomeOf(set(values))).toThrow()
    }
    expect((await pictureOf(office.db)).accounts).toMatchObject([{ balance: 100n, held: 0n }])
  })

  test('keeps spent + held of a window within its limit', async () => {
    const key = await office.key({ account, capLimit: 10n })
    await office.hold(key, 10n)
    const { keyWindows } = office.db.tables
    const set = (values: { spent?: bigint; held?: bigint }) =>
      office.db.write((q) =>
        rows(q.update(keyWindows).set(values).where(eq(keyWindows.keyId, key.id)).returning()),
      )
    for (const values of [{ held: 11n }, { spent: 1n }, { held: -1n }, { spent: -1n }]) {
      expect(await outcomeOf(set(values))).toThrow()
    }
  })

  promise`D9`
  test('lets no run cost more than it holds', async () => {
    const run = endedAs(await office.hold(await office.key({ account }), 5n), 0)
    const end = (cost: bigint) => office.db.write(() => insertEnded(office.db, [{ ...run, cost }]))
    expect(await outcomeOf(end(6n))).toThrow()
    expect(await outcomeOf(end(-1n))).toThrow()
  })

  test('changes no charge of a run and deletes no run', async () => {
    const run = await office.hold(await office.key({ account }), 5n)
    await office.end(run, 3n)
    const { runs } = office.db.tables
    const own = eq(runs.id, run.id)
    const before = await pictureOf(office.db)
    for (const values of [
      { cost: 2n },
      { balance: 99n },
      { seq: null },
      { movedAt: 1 },
      { finishedAt: 1 },
      { accountId: 'another account' },
      { id: 'run_other' },
    ]) {
      const change = office.db.write((q) => rows(q.update(runs).set(values).where(own).returning()))
      expect(await outcomeOf(change)).toThrow()
    }
    const vanish = office.db.write((q) => rows(q.delete(runs).where(own).returning()))
    expect(await outcomeOf(vanish)).toThrow()
    expect(await pictureOf(office.db)).toEqual(before)
  })
})
