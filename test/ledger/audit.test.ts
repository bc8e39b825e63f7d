import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { auditStore } from '../../src/ledger/store/audit.ts'
import type { RunRow } from '../../src/storage/db/schema/schema.ts'
import { insert } from '../../src/storage/db/sql/query-steps.ts'
import { direct } from '../storage/db/direct.ts'
import { promise } from '../support/promise.ts'
import { outcomeOf } from '../support/rejection.ts'
import { engines } from '../support/world.ts'
import { newAccount, officeOn, openOffice, pictureOf } from './office.ts'

const hourMs = 3_600_000

promise`D1`
describe.each(engines)('an audit on %s', (engine) => {
  let office: Awaited<ReturnType<typeof openOffice>>
  let audits: ReturnType<typeof auditStore>
  let account: string
  let open: RunRow
  let keyId: string

  beforeAll(async () => {
    office = await openOffice(engine)
    audits = auditStore(office.db)
    account = newAccount()
    await office.grant(account, 1000n)
    const parent = await office.key({ account })
    const key = await office.key({ account, parentId: parent.id, capWindow: 'day' })
    keyId = key.id
    await office.end(await office.hold(key, 50n), 30n)
    // What came before the point that a whole audit remembers, and what came after it.
    office.clock.set(office.clock.now() + hourMs)
    expect(await audits.whole(office.clock.now())).toEqual([])
    office.clock.set(office.clock.now() + hourMs)
    await office.grant(account, 7n)
    await office.end(await office.hold(key, 20n), 0n)
    await office.end(await office.hold(key, 20n), 20n)
    open = await office.hold(key, 11n)
  }, 30_000)
  afterAll(() => office.close())

  const whole = () => audits.whole(office.clock.now())
  const expectFine = async () => {
    expect(await audits.sinceLast()).toEqual([])
    const before = await pictureOf(office.db)
    expect(await whole()).toEqual([])
    expect(await pictureOf(office.db)).toEqual(before)
  }

  /** Breaks the database, looks what each audit says, and mends it. */
  async function plant(breaks: string, mends: string) {
    await direct(office.db, breaks)
    const found = { sinceLast: await audits.sinceLast(), whole: await whole() }
    await direct(office.db, mends)
    await expectFine()
    return found
  }

  test('finds nothing where nothing is wrong', expectFine)

  test('ends where it is when all ends, and remembers nothing', async () => {
    const before = await pictureOf(office.db)
    const ended = AbortSignal.abort(new Error('all ends'))
    expect(await outcomeOf(audits.whole(office.clock.now() + hourMs, ended))).toThrow('all ends')
    expect(await pictureOf(office.db)).toEqual(before)
  })

  test.each([
    ['one nano-USD too much', 'balance + 1', 'balance - 1'],
    ['one nano-USD too little', 'balance - 1', 'balance + 1'],
  ])('finds a balance of %s', async (_, wrong, right) => {
    const { sinceLast, whole: all } = await plant(
      `update accounts set balance = ${wrong} where id = '${account}'`,
      `update accounts set balance = ${right} where id = '${account}'`,
    )
    expect(all).toEqual([expect.stringContaining(`balance of account ${account}`)])
    expect(sinceLast.length).toBeGreaterThan(0)
  })

  test.each([
    ['more', 'held + 1', 'held - 1'],
    ['less', 'held - 1', 'held + 1'],
    ['nothing', 'held - 11', 'held + 11'],
  ])('finds an account that holds %s than its open runs', async (_, wrong, right) => {
    const { sinceLast, whole: all } = await plant(
      `update accounts set held = ${wrong} where id = '${account}'`,
      `update accounts set held = ${right} where id = '${account}'`,
    )
    expect(all).toEqual([expect.stringContaining(`held of account ${account}`)])
    expect(sinceLast).toEqual(all)
  })

  test.each([
    ['more', 'held + 1', 'held - 1'],
    ['nothing', 'held - 11', 'held + 11'],
  ])('finds a key window that holds %s than its open runs', async (_, wrong, right) => {
    const at = `key_id = '${keyId}' and window_start = ${open.windows[0]?.[1]}`
    const { sinceLast, whole: all } = await plant(
      `update key_windows set held = ${wrong} where ${at}`,
      `update key_windows set held = ${right} where ${at}`,
    )
    expect(all).toEqual([expect.stringContaining(`held of key window ${keyId}`)])
    expect(sinceLast).toEqual(all)
  })

  test('finds a key that spent other than its runs cost, in the whole audit', async () => {
    const at = `key_id = '${keyId}' and window_start = ${open.windows[0]?.[1]}`
    const { whole: all } = await plant(
      `update key_windows set spent = spent - 1 where ${at}`,
      `update key_windows set spent = spent + 1 where ${at}`,
    )
    expect(all).toEqual([expect.stringContaining(`spent of key window ${keyId}`)])
  })

  test('finds a run whose cost was changed afterwards', async () => {
    await direct(
      office.db,
      engine === 'sqlite'
        ? 'drop trigger if exists runs_charge_never_changes'
        : 'drop trigger if exists runs_charge_never_changes on runs',
    )
    const { whole: all } = await plant(
      'update runs set cost = cost - 1 where cost = 30',
      'update runs set cost = cost + 1 where cost = 29',
    )
    // Its charge is this row: the account's balance no longer follows from the journal either.
    expect(all).toHaveLength(3)
    expect(all[0]).toContain(`balance of account ${account}`)
    expect(all.slice(1).every((fault) => fault.includes('spent of key window'))).toBe(true)
  })

  test('finds a window that vanished, and one of no one', async () => {
    const at = `key_id = '${keyId}' and window_start = ${open.windows[0]?.[1]}`
    const moved = await plant(
      `update key_windows set window_start = 5 where ${at}`,
      `update key_windows set window_start = ${open.windows[0]?.[1]} where window_start = 5`,
    )
    expect(moved.whole.length).toBe(4)
    expect(moved.sinceLast.length).toBe(2)
  })

  test.each([
    ['an old', 1000n],
    ['a young', 7n],
  ])('The audit finds %s transfer missing after its guard was dropped.', async (_, amount) => {
    const { transfers } = await pictureOf(office.db)
    const gone = transfers.find((transfer) => transfer.amount === amount)
    if (!gone) throw new Error('no such transfer')
    const [drop] =
      office.db.engine === 'sqlite'
        ? ['drop trigger if exists transfers_never_vanish']
        : ['drop trigger if exists transfers_never_change on transfers']
    await direct(office.db, drop ?? '')
    await direct(office.db, `delete from transfers where amount = ${amount}`)
    expect(await whole()).toEqual([expect.stringContaining(`balance of account ${account}`)])
    await office.db.write(() => insert(office.db.tables.transfers, [gone]))
    await expectFine()
  })

  test('finds an account that has money and no journal', async () => {
    const { whole: all, sinceLast } = await plant(
      "insert into accounts (id, balance, held, status, created_at) values ('0xnone', 5, 0, 'active', 0)",
      "delete from accounts where id = '0xnone'",
    )
    expect(all).toEqual(['balance of account 0xnone is 5, but should be 0'])
    expect(sinceLast.length).toBeGreaterThan(0)
  })

  test('is of one moment: it finds nothing wrong while others spend', async () => {
    const busy = newAccount()
    const node = engine === 'sqlite' ? office : officeOn(office.db, office.clock)
    await node.grant(busy, 10_000n)
    const key = await node.key({ account: busy })
    let done = false
    const spending = Array.from({ length: 4 }, async () => {
      while (!done) {
        await node.grant(busy, 1n)
        await node.end(await node.hold(key, 3n), 2n)
      }
    })
    const found: string[] = []
    for (let i = 0; i < 8; i++) found.push(...(await audits.sinceLast()), ...(await whole()))
    done = true
    await Promise.all(spending)
    expect(found).toEqual([])
  }, 30_000)
})
