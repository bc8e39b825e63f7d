import { describe, expect, test } from 'bun:test'
import {
  creditDeposit,
  moveDeposit,
  reverseDeposit,
} from '../../src/billing/deposits/credit-deposit.ts'
import { depositRows } from '../../src/billing/deposits/deposit-rows.ts'
import { maxNusd } from '../../src/kernel/money.ts'
import { Refusal } from '../../src/kernel/refusal.ts'
import { noteRefunded, refundRows } from '../../src/ledger/refund-rows.ts'
import type { DepositRow } from '../../src/storage/db/schema/schema.ts'
import { account, deposit, now, paperUnit } from './paper-unit.ts'

/** Of the deposit on the paper unit: it names the transfer on the chain, not the row. */
const ref = '4663/0x1/0x/alice/50/0'
const seen = { blockHash: '0xb', blockTime: now - 5 }

function desk(row: Partial<DepositRow> = {}, own = {}, other = {}) {
  const alice = account(own)
  const bob = account({ id: 'bob', balance: 0n, ...other })
  const dep = deposit(row)
  const { unit, tracked } = paperUnit({
    accounts: [alice, bob],
    deposits: [dep],
    parts: [refundRows],
  })
  noteRefunded(unit, { account: 'alice', ref: dep.id }, { total: 0n, count: 0 })
  const journal = () =>
    tracked.added.transfers.map(({ accountId, ref, kind, source, target, amount }) =>
      [accountId, ref, kind, `${source} to ${target}`, amount].join(' '),
    )
  const written = () => [...tracked.written.accounts, ...unit.part(depositRows).written]
  return { unit, tracked, alice, bob, dep, journal, written }
}

describe('the credit of a deposit', () => {
  test.each(['detected', 'confirming'] as const)('gives the whole of one that is %s', (status) => {
    const { unit, alice, dep, journal, written, tracked } = desk({ status, reason: 'second_down' })
    expect(creditDeposit(unit, 'dep_1', seen)).toBe(true)
    expect(alice.balance).toBe(150n)
    const credited = { status: 'credited', credits: 1, reason: null, loss: 0n }
    expect(dep).toMatchObject({ ...credited, creditedAt: now, blockTime: now - 5 })
    expect(journal()).toEqual([`alice ${ref} deposit deposits to user 50`])
    expect(tracked.added.transfers[0]?.at).toBe(now)
    expect(written()).toEqual([alice, dep])
  })

  test('of one that comes back gives what was taken; what was lost stays lost', () => {
    const { unit, alice, dep, journal } = desk({ credits: 1, reversals: 1, loss: 20n })
    expect(creditDeposit(unit, 'dep_1', seen)).toBe(true)
    expect([alice.balance, dep.loss, dep.credits]).toEqual([130n, 0n, 2])
    expect(journal()).toEqual([
      `alice ${ref}/2 deposit deposits to user 30`,
      `alice ${ref}/2/returned loss deposits to loss 20`,
    ])
  })

  test('fills an account to the last unit', () => {
    const { unit, alice } = desk({}, { balance: maxNusd - 50n })
    expect(creditDeposit(unit, 'dep_1', seen)).toBe(true)
    expect(alice.balance).toBe(maxNusd)
  })

  test('that would pass the most of an account waits, and says so', () => {
    const { unit, alice, dep, journal, written } = desk(
      { status: 'detected' },
      { balance: maxNusd - 49n },
    )
    expect(creditDeposit(unit, 'dep_1', seen)).toBe(false)
    expect([alice.balance, dep.status, dep.reason]).toEqual([
      maxNusd - 49n,
      'confirming',
      'balance_full',
    ])
    expect([dep.credits, journal(), written()]).toEqual([0, [], [dep]])
  })

  test.each([
    ['is not there', { id: 'dep_2' }],
    ['is of an account that is not there', { account: 'carol' }],
    ['is larger than any balance', { amount: null }],
    ['is in another block', { blockHash: '0xc' }],
    ['is credited', { status: 'credited' }],
    ['is finalized', { status: 'finalized' }],
    ['is orphaned', { status: 'orphaned' }],
    ['is reversed', { status: 'reversed' }],
    ['is ignored', { status: 'ignored' }],
    ['was credited and never reversed, under any status', { credits: 1, reversals: 0 }],
  ] as [string, Partial<DepositRow>][])('of one that %s moves nothing', (_, row) => {
    const { unit, alice, journal, written } = desk(row)
    expect(creditDeposit(unit, 'dep_1', seen)).toBe(false)
    expect([alice.balance, journal(), written()]).toEqual([100n, [], []])
  })
})

describe('the reversal of a deposit', () => {
  const credited = { status: 'credited', credits: 1, creditedAt: now } as const

  test.each([
    ['all of it', { balance: 80n, held: 30n }, 50n, 0n],
    ['what is left and not held', { balance: 60n, held: 30n }, 30n, 20n],
    ['nothing where all is held', { balance: 30n, held: 30n }, 0n, 50n],
  ])('takes %s, and tells what is lost', (_, own, taken, loss) => {
    const { unit, alice, dep, journal, written } = desk(credited, own)
    expect(reverseDeposit(unit, 'dep_1', '0xb')).toBe(loss)
    expect([alice.balance, alice.held]).toEqual([own.balance - taken, 30n])
    expect(dep).toMatchObject({
      status: 'reversed',
      loss,
      creditedAt: null,
      credits: 1,
      reversals: 1,
    })
    expect(journal()).toEqual([
      ...(taken ? [`alice ${ref} reversal user to deposits ${taken}`] : []),
      ...(loss ? [`alice ${ref} loss loss to deposits ${loss}`] : []),
    ])
    expect(written()).toEqual([alice, dep])
  })

  test('of a second credit has lines of its own', () => {
    const { unit, journal } = desk({ ...credited, credits: 2, reversals: 1 })
    reverseDeposit(unit, 'dep_1', '0xb')
    expect(journal()).toEqual([`alice ${ref}/2 reversal user to deposits 50`])
  })

  test('of a claimed one takes no more than was claimed', () => {
    const { unit, bob, journal } = desk(
      { ...credited, account: 'bob', moved: 35n },
      {},
      {
        balance: 90n,
      },
    )
    expect(reverseDeposit(unit, 'dep_1', '0xb')).toBe(15n)
    expect(bob.balance).toBe(55n)
    expect(journal()).toEqual([
      `bob ${ref} reversal user to deposits 35`,
      `bob ${ref} loss loss to deposits 15`,
    ])
  })

  test.each([
    ['is not there', { id: 'dep_2' }],
    ['is of an account that is not there', { account: 'carol' }],
    ['is larger than any balance', { amount: null }],
    ['is in another block', { blockHash: '0xc' }],
    ['waits', { status: 'confirming' }],
    ['is finalized', { status: 'finalized' }],
    ['was reversed before', { status: 'reversed' }],
  ] as [string, Partial<DepositRow>][])('of one that %s takes nothing', (_, row) => {
    const { unit, alice, journal, written } = desk({ ...credited, ...row })
    expect(reverseDeposit(unit, 'dep_1', '0xb')).toBeUndefined()
    expect([alice.balance, journal(), written()]).toEqual([100n, [], []])
  })
})

describe('a deposit that another account claims', () => {
  test.each(['detected', 'confirming'] as const)('is its own before the credit: %s', (status) => {
    const { unit, alice, bob, dep, journal, written } = desk({ status })
    expect(moveDeposit(unit, 'dep_1', 'bob')).toBe(dep)
    expect([dep.account, dep.moved, alice.balance, bob.balance]).toEqual(['bob', null, 100n, 0n])
    expect([journal(), written()]).toEqual([[], [dep]])
  })

  test.each([
    ['the whole', 'credited', { balance: 80n, held: 30n }, 50n],
    ['the whole of a final one', 'finalized', { balance: 80n, held: 30n }, 50n],
    ['what is left and not held', 'credited', { balance: 60n, held: 30n }, 30n],
    ['the last unit', 'credited', { balance: 31n, held: 30n }, 1n],
  ] as const)('A claim moves %s to the other account.', (_, status, own, moved) => {
    const { unit, alice, bob, dep, journal, written } = desk({ status }, own)
    expect(moveDeposit(unit, 'dep_1', 'bob')).toBe(dep)
    expect([alice.balance, alice.held, bob.balance]).toEqual([own.balance - moved, 30n, moved])
    expect([dep.account, dep.moved, dep.status]).toEqual(['bob', moved, status])
    expect(journal()).toEqual([
      `alice ${ref} claim user to deposits ${moved}`,
      `bob ${ref} claim deposits to user ${moved}`,
    ])
    expect(written()).toEqual([alice, bob, dep])
  })

  test('fills the other account to the last unit, and never beyond', () => {
    const full = desk({ status: 'credited' }, {}, { balance: maxNusd - 50n })
    moveDeposit(full.unit, 'dep_1', 'bob')
    expect(full.bob.balance).toBe(maxNusd)
    const over = desk({ status: 'credited' }, {}, { balance: maxNusd - 49n })
    expect(refusalOf(() => moveDeposit(over.unit, 'dep_1', 'bob'))).toBe('conflict')
    expect([over.alice.balance, over.journal()]).toEqual([100n, []])
  })

  test.each([
    ['there is none', { id: 'dep_2' }, {}, 'not_found'],
    ['it is there already', { account: 'bob' }, {}, 'conflict'],
    ['it was assigned to a third', { account: 'carol' }, {}, 'conflict'],
    ['its sender has no account', { from: 'carol', account: 'carol' }, {}, 'conflict'],
    ['it is reversed', { status: 'reversed' }, {}, 'conflict'],
    ['it is orphaned', { status: 'orphaned' }, {}, 'conflict'],
    ['it is ignored', { status: 'ignored' }, {}, 'conflict'],
    ['it is larger than any balance', { amount: null }, {}, 'conflict'],
    ['all of it is spent or held', {}, { held: 100n }, 'conflict'],
  ] as [string, Partial<DepositRow>, object, string][])(
    'is refused where %s',
    (_, row, own, type) => {
      const { unit, alice, bob, journal, written } = desk({ status: 'credited', ...row }, own)
      expect(refusalOf(() => moveDeposit(unit, 'dep_1', 'bob'))).toBe(type)
      expect([alice.balance, bob.balance, journal(), written()]).toEqual([100n, 0n, [], []])
    },
  )

  test('is refused to the one whose it is, before its credit and after', () => {
    for (const status of ['confirming', 'credited'] as const) {
      const { unit, alice, journal, written } = desk({ status })
      expect(refusalOf(() => moveDeposit(unit, 'dep_1', 'alice'))).toBe('conflict')
      expect([alice.balance, journal(), written()]).toEqual([100n, [], []])
    }
  })

  test('is refused to an account that is not there', () => {
    const { unit } = desk({ status: 'credited' })
    expect(refusalOf(() => moveDeposit(unit, 'dep_1', 'carol'))).toBe('conflict')
  })
})

function refusalOf(ask: () => unknown): string {
  try {
    ask()
  } catch (error) {
    if (error instanceof Refusal) return error.type
    throw error
  }
  return 'nothing'
}
