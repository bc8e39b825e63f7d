import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { refuse } from '../../src/kernel/refusal.ts'
import type { Command } from '../../src/ledger/command.ts'
import { openLedger } from '../../src/ledger/post.ts'
import type { Posted, UnitOfWork } from '../../src/ledger/unit-of-work.ts'
import { outcomeOf } from '../support/rejection.ts'
import { engines } from '../support/world.ts'
import { newAccount, openOffice } from './office.ts'

type Office = Awaited<ReturnType<typeof openOffice>>

/** Posts commands while another one of `account` is decided: they wait, and then go together. */
async function postBehind(
  { ledger }: Pick<Office, 'ledger'>,
  account: string,
  commands: readonly Command<unknown>[],
): Promise<PromiseSettledResult<unknown>[]> {
  let waiting: Promise<unknown>[] = []
  const first = {
    ...{ account, keys: [] },
    decide: () => {
      if (waiting.length === 0) waiting = commands.map((command) => ledger.post(command))
    },
  }
  await ledger.post(first)
  return Promise.allSettled(waiting)
}

const bug = (account: string): Command<never> => ({
  ...{ account, keys: [] },
  decide: () => {
    throw new Error('a bug')
  },
})

describe.each(engines)('of two commands of one batch on %s', (engine) => {
  let office: Office
  beforeAll(async () => {
    office = await openOffice(engine)
  }, 30_000)
  afterAll(() => office.close())

  test('one with a bug fails alone', async () => {
    const account = newAccount()
    const done: Command<string> = { account, keys: [], decide: () => 'done' }
    const [wrong, right] = await postBehind(office, account, [bug(account), done])
    expect(wrong).toMatchObject({ status: 'rejected', reason: { message: 'a bug' } })
    expect(right).toEqual({ status: 'fulfilled', value: 'done' })
  })

  test('neither is decided again because the other is refused', async () => {
    const account = newAccount()
    const decided: UnitOfWork[] = []
    const refused: Command<never> = {
      ...{ account, keys: [] },
      decide(unit) {
        decided.push(unit)
        refuse('invalid_key')
      },
    }
    const done = { ...refused, decide: (unit: UnitOfWork) => decided.push(unit) }
    const [no, yes] = await postBehind(office, account, [refused, done])
    expect(no).toMatchObject({ status: 'rejected', reason: { type: 'invalid_key' } })
    expect(yes).toEqual({ status: 'fulfilled', value: 2 })
    expect(decided).toHaveLength(2)
    expect(decided[0]).toBe(decided[1])
  })
})

test('where one process writes alone, all that wait go in one batch', async () => {
  const office = await openOffice('sqlite')
  const books = new Set<UnitOfWork>()
  const commands = Array.from({ length: 60 }, () => ({
    ...{ account: newAccount(), keys: [] },
    decide: (unit: UnitOfWork) => void books.add(unit),
  }))
  await postBehind(office, newAccount(), commands)
  expect(books.size).toBe(1)
  await office.close()
})

test('of a batch is told what it changed, once; of one that failed nothing', async () => {
  const office = await openOffice('sqlite')
  const told: Posted[] = []
  const ledger = openLedger(office.db, office.clock, undefined, (posted) => told.push(posted))
  const account = newAccount()
  await office.grant(account, 7n, ledger)
  expect(await outcomeOf(ledger.post(bug(account)))).toThrow('a bug')
  await office.grant(account, 1n, ledger)
  const amounts = told.map(({ added }) => added.transfers.map(({ amount }) => amount))
  expect(amounts).toEqual([[7n], [1n]])
  expect(told.map(({ written }) => [...written.accounts].map(({ id }) => id))).toEqual([
    [account],
    [account],
  ])
  await office.close()
})
