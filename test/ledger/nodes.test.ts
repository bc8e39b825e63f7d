import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { promise } from '../support/promise.ts'
import { rejectionOf } from '../support/rejection.ts'
import { engines } from '../support/world.ts'
import { takenTogether } from './answers.ts'
import { faultsOf, newAccount, type Office, officeOn, openOffice, pictureOf } from './office.ts'

// SQLite has one server a file; what its second process does is in test/storage/db/sqlite.test.ts.
const shared = engines.filter((engine) => engine !== 'sqlite')

describe.each(shared)('two nodes on one database, %s', (engine) => {
  let one: Awaited<ReturnType<typeof openOffice>>
  let two: Office
  beforeAll(async () => {
    one = await openOffice(engine)
    two = officeOn(one.db, one.clock)
  }, 30_000)
  afterAll(() => one.close())

  const accountRow = async (account: string) => {
    const picture = await pictureOf(one.db)
    expect(faultsOf(picture)).toEqual([])
    return picture.accounts.find(({ id }) => id === account)
  }

  test('open the same account at once, and both credits arrive', async () => {
    for (let round = 0; round < 10; round++) {
      const account = newAccount()
      await Promise.all([one.grant(account, 3n), two.grant(account, 4n), one.grant(account, 5n)])
      expect(await accountRow(account)).toMatchObject({ balance: 12n, held: 0n })
    }
  }, 30_000)

  test('lose no update of 200 credits that cross', async () => {
    const account = newAccount()
    const grants = Array.from({ length: 200 }, (_, i) => (i % 2 ? one : two).grant(account, 1n))
    const balances = await Promise.all(grants)
    expect(new Set(balances).size).toBe(200)
    expect(await accountRow(account)).toMatchObject({ balance: 200n })
  }, 30_000)

  promise`D2`
  promise`D6`
  test('never overspend: of 400 holds on each, exactly 50 are taken in all', async () => {
    const account = newAccount()
    await one.grant(account, 1000n)
    const key = await two.key({ account })
    const asked = Array.from({ length: 800 }, (_, i) => (i % 2 ? one : two).hold(key, 20n))
    const { done, refused } = await takenTogether(asked)
    expect(done.length).toBe(50)
    expect(refused).toEqual({ insufficient_balance: 750 })
    expect(await accountRow(account)).toMatchObject({ balance: 1000n, held: 1000n })
    // Each ends what the other began.
    await Promise.all(done.map((run, i) => (i % 2 ? one : two).end(run, 20n)))
    expect(await accountRow(account)).toMatchObject({ balance: 0n, held: 0n })
  }, 30_000)

  promise`A10`
  test('keep the cap of a parent whose children spend on both', async () => {
    const account = newAccount()
    await one.grant(account, 100_000n)
    const parent = await one.key({ account, capLimit: 1000n, capWindow: 'month' })
    const mint = (i: number) =>
      (i % 2 ? one : two).key({ account, parentId: parent.id, capLimit: 1000n })
    const children = await Promise.all(Array.from({ length: 10 }, (_, i) => mint(i)))
    const asked = Array.from({ length: 400 }, (_, i) => {
      const child = children[i % children.length] ?? parent
      return (i % 3 ? one : two).hold(child, 20n)
    })
    const { done, refused } = await takenTogether(asked)
    expect(done.length).toBe(50)
    expect(refused).toEqual({ cap_exceeded: 350 })
    const { keys } = await pictureOf(one.db)
    expect(keys.find(({ id }) => id === parent.id)?.childrenCount).toBe(10)
  }, 30_000)

  promise`D7`
  test('end a hold once, no matter who comes first', async () => {
    const account = newAccount()
    await one.grant(account, 1000n)
    const key = await one.key({ account })
    const runs = await Promise.all(Array.from({ length: 30 }, () => one.hold(key, 20n)))
    const ends = runs.flatMap((run) => [one.end(run, 20n), two.end(run, 10n)])
    const outcomes = await Promise.allSettled(ends)
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(30)
    expect(await accountRow(account)).toMatchObject({ held: 0n })
  }, 30_000)

  promise`A5`
  test('take no hold from the commit of a revocation on the other node on', async () => {
    const account = newAccount()
    await one.grant(account, 1000n)
    const parent = await one.key({ account })
    const child = await two.key({ account, parentId: parent.id })
    await two.hold(child, 1n)
    await one.revoke(parent)
    expect(await rejectionOf(two.hold(child, 1n))).toMatchObject({ type: 'key_revoked' })
  })

  test('lock each other out of no account, whatever the order they name them in', async () => {
    const accounts = Array.from({ length: 24 }, newAccount)
    const back = [...accounts].reverse()
    const grants = Array.from({ length: 6 }, () => [
      ...accounts.map((account) => one.grant(account, 1n)),
      ...back.map((account) => two.grant(account, 1n)),
    ])
    await Promise.all(grants.flat())
    const picture = await pictureOf(one.db)
    expect(faultsOf(picture)).toEqual([])
    const balances = accounts.map((id) => picture.accounts.find((row) => row.id === id)?.balance)
    expect(balances).toEqual(accounts.map(() => 12n))
  }, 30_000)
})
