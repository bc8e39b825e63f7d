import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Refusal } from '../../src/kernel/refusal.ts'
import type { Command } from '../../src/ledger/command.ts'
import { promise } from '../support/promise.ts'
import { outcomeOf, rejectionOf } from '../support/rejection.ts'
import { engines } from '../support/world.ts'
import { endedAs, faultsOf, newAccount, openOffice, pictureOf } from './office.ts'

describe.each(engines)('commands of one batch on %s', (engine) => {
  let office: Awaited<ReturnType<typeof openOffice>>
  beforeAll(async () => {
    office = await openOffice(engine)
  }, 30_000)
  afterAll(() => office.close())

  const accountRow = async (account: string) => {
    const picture = await pictureOf(office.db)
    expect(faultsOf(picture)).toEqual([])
    return picture.accounts.find(({ id }) => id === account)
  }

  /** Between two grants and a hold, something that goes wrong. */
  async function besideNeighbours(account: string, bad: () => Promise<unknown>, had = 0n) {
    const key = await office.key({ account })
    await office.grant(account, 100n)
    const outcomes = await Promise.allSettled([
      office.grant(account, 10n),
      office.hold(key, 70n),
      bad(),
      office.hold(key, 30n),
      office.grant(account, 1n),
    ])
    const [first, hold, wrong, later, last] = outcomes
    expect(first).toEqual({ status: 'fulfilled', value: had + 110n })
    expect(hold).toMatchObject({ status: 'fulfilled', value: { hold: 70n } })
    expect(later).toMatchObject({ status: 'fulfilled', value: { hold: 30n } })
    expect(last).toEqual({ status: 'fulfilled', value: had + 111n })
    expect(await accountRow(account)).toMatchObject({ balance: had + 111n, held: 100n })
    // What is remembered is what is stored: the next command decides from the same figures.
    const rest = await office.hold(key, 11n)
    await office.end(rest, 11n)
    expect(await accountRow(account)).toMatchObject({ balance: had + 100n, held: 100n })
    return wrong
  }

  test('a refused one changes nothing and does not disturb its neighbours', async () => {
    const account = newAccount()
    const poor = await office.key({ account, capLimit: 5n })
    const wrong = await besideNeighbours(account, () => office.hold(poor, 6n))
    expect(wrong?.status === 'rejected' && wrong.reason).toBeInstanceOf(Refusal)
  })

  test('one with a bug is undone alone; its neighbours are done once', async () => {
    const account = newAccount()
    let decided = 0
    const broken: Command<void> = {
      account,
      keys: [],
      decide(unit) {
        decided++
        const row = unit.account(account)
        if (!row) throw new Error('no account')
        row.balance += 1_000_000n
        unit.changed('account', row)
        throw new Error('a bug after a change')
      },
    }
    const wrong = await besideNeighbours(account, () => office.ledger.post(broken))
    expect(wrong).toMatchObject({ status: 'rejected', reason: { message: 'a bug after a change' } })
    expect(decided).toBeGreaterThan(0)
  })

  test('one that breaks a CHECK is undone alone; its neighbours are done once', async () => {
    const account = newAccount()
    const key = await office.key({ account })
    const held = endedAs(await office.hold(key, 0n), 0)
    const run = { ...held, id: 'run_broken', windows: [], cost: 1n }
    const broken: Command<void> = { account, keys: [], decide: (unit) => unit.endRun(run) }
    const wrong = await besideNeighbours(account, () => office.ledger.post(broken))
    expect(wrong?.status).toBe('rejected')
  })

  test('one that repeats a transfer is refused by the journal, and its neighbours are not', async () => {
    const account = newAccount()
    await office.grant(account, 5n)
    const { transfers } = await pictureOf(office.db)
    const again = transfers.find((transfer) => transfer.accountId === account)
    if (!again) throw new Error('no transfer')
    const repeated: Command<void> = {
      account,
      keys: [],
      decide(unit) {
        const row = unit.account(account)
        if (!row) throw new Error('no account')
        row.balance += again.amount
        unit.changed('account', row)
        unit.addTransfer(again)
      },
    }
    const wrong = await besideNeighbours(account, () => office.ledger.post(repeated), 5n)
    expect(wrong?.status).toBe('rejected')
  })

  test('more than one batch holds are all answered, each with its own result', async () => {
    const account = newAccount()
    await office.grant(account, 1000n)
    const key = await office.key({ account })
    const amounts = Array.from({ length: 300 }, (_, i) => BigInt(i % 5))
    const runs = await Promise.all(amounts.map((amount) => office.hold(key, amount)))
    expect(runs.map(({ hold }) => hold)).toEqual(amounts)
    expect(new Set(runs.map(({ id }) => id)).size).toBe(300)
    expect(await accountRow(account)).toMatchObject({ balance: 1000n, held: 600n })
  })

  test('a hold charges the windows it was taken from, also when they have passed', async () => {
    const account = newAccount()
    await office.grant(account, 100n)
    const start = office.clock.now()
    const key = await office.key({ account, capLimit: 50n, capWindow: 'day' })
    const run = await office.hold(key, 50n)
    office.clock.set(start + 86_400_000)
    const next = await office.hold(key, 50n)
    await office.end(run, 20n)
    const { windows } = await pictureOf(office.db)
    const own = windows.filter(({ keyId }) => keyId === key.id)
    own.sort((a, b) => a.windowStart - b.windowStart)
    expect(own).toMatchObject([
      { spent: 20n, held: 0n },
      { spent: 0n, held: 50n },
    ])
    await office.end(next, 0n)
    office.clock.set(start)
  })

  promise`D7 C: A run ends once, by whichever cause comes first.`
  test('A hold ends once: a second end is refused and moves nothing.', async () => {
    const account = newAccount()
    await office.grant(account, 100n)
    const run = await office.hold(await office.key({ account }), 40n)
    const ends = [office.end(run, 10n), office.end(run, 20n), office.end(run, 0n)]
    const outcomes = await Promise.allSettled(ends)
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(await accountRow(account)).toMatchObject({ balance: 90n, held: 0n })
  })

  promise`D9`
  test('a cost above the hold is never charged', async () => {
    const account = newAccount()
    await office.grant(account, 100n)
    const run = await office.hold(await office.key({ account }), 40n)
    expect(await outcomeOf(office.end(run, 41n))).toThrow('would cost more than it holds')
    expect(await outcomeOf(office.end(run, -1n))).toThrow('would cost more than it holds')
    expect(await accountRow(account)).toMatchObject({ balance: 100n, held: 40n })
  })

  promise`D5 H: No sum leaves the bounds: the ledger refuses first, the database after it.`
  test('a balance never passes 9,000,000 USD', async () => {
    const account = newAccount()
    const most = 9_000_000_000_000_000n
    expect(await office.grant(account, most - 1n)).toBe(most - 1n)
    expect(await rejectionOf(office.grant(account, 2n))).toMatchObject({ type: 'conflict' })
    expect(await office.grant(account, 1n)).toBe(most)
    expect(await accountRow(account)).toMatchObject({ balance: most })
  })
})
