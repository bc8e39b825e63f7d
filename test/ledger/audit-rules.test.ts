import { describe, expect, test } from 'bun:test'
import { type Audit, makeAudit } from '../../src/ledger/audit.ts'
import type { TransferRow } from '../../src/storage/db/schema/schema.ts'
import { account, now, window } from './paper-unit.ts'

const paid = (amount: bigint, at = now): TransferRow => ({
  ...{ accountId: 'alice', ref: 'run_1', kind: 'run', source: 'user', target: 'revenue' },
  ...{ amount, at, seq: 2, balance: 0n },
})
const got = (amount: bigint, at = now): TransferRow => ({
  ...paid(amount, at),
  ...{ ref: 'g1', kind: 'grant', source: 'grants', target: 'user', seq: 1 },
})

/** A run with its charge. */
const ended = (cost: bigint, seq: number): Parameters<Audit['addEnded']>[0] => ({
  ...{ accountId: 'alice', cost, windows: [['leaf', 0]] },
  ...{ seq, movedAt: now },
})

/** 100 came, 30 were spent in a window, 10 are held by an open run. */
function books(until = now) {
  const audit = makeAudit(until)
  audit.addTransfer(got(100n))
  audit.addEnded(ended(20n, 2))
  audit.addEnded(ended(10n, 3))
  audit.addOpenRun({ accountId: 'alice', hold: 4n, windows: [['leaf', 0]] })
  audit.addOpenRun({ accountId: 'alice', hold: 6n, windows: [['leaf', 0]] })
  return audit
}
const alice = account({ balance: 70n, held: 10n })
const leaf = window({ spent: 30n, held: 10n })

describe('an audit of what is remembered', () => {
  test('finds nothing where it is what happened', () => {
    const audit = books()
    audit.checkAccount(alice, true)
    audit.checkWindow('leaf:0', leaf, true)
    expect(audit.faults()).toEqual([])
    expect(audit.sides()).toEqual({ grants: -100n, user: 70n, revenue: 30n })
  })

  test.each([
    [
      'a balance',
      { ...alice, balance: 71n },
      leaf,
      'balance of account alice is 71, but should be 70',
    ],
    ['a hold', { ...alice, held: 9n }, leaf, 'held of account alice is 9, but should be 10'],
    [
      'what a window spent',
      alice,
      { ...leaf, spent: 31n },
      'spent of key window leaf:0 is 31, but should be 30',
    ],
    [
      'what it holds',
      alice,
      { ...leaf, held: 9n },
      'held of key window leaf:0 is 9, but should be 10',
    ],
  ])('names %s that is another', (_, row, of, fault) => {
    const audit = books()
    audit.checkAccount(row, true)
    audit.checkWindow('leaf:0', of, true)
    expect(audit.faults()).toEqual([fault])
  })

  test('names what no row is there for', () => {
    expect(books().faults()).toEqual([
      'held of account alice is 0, but should be 10',
      'held of key window leaf:0 is 0, but should be 10',
      'balance of account alice is 0, but should be 70',
      'spent of key window leaf:0 is 0, but should be 30',
    ])
  })

  test('names rows for which nothing happened', () => {
    const audit = makeAudit(now)
    audit.checkAccount(alice, true)
    audit.checkWindow('leaf:0', leaf, true)
    expect(audit.faults()).toEqual([
      'held of account alice is 10, but should be 0',
      'balance of account alice is 70, but should be 0',
      'held of key window leaf:0 is 10, but should be 0',
      'spent of key window leaf:0 is 30, but should be 0',
    ])
  })

  test('names at most 50 differences', () => {
    const audit = makeAudit(now)
    for (let i = 0; i < 60; i++) audit.checkAccount(account({ id: `a${i}`, held: 0n }), true)
    expect(audit.faults()).toHaveLength(50)
  })
})

describe('an audit of what came since the last', () => {
  test('looks at holds of every row, and at balances only by their sum', () => {
    const audit = books()
    audit.checkAccount({ ...alice, balance: 1n }, false)
    audit.checkWindow('leaf:0', { ...leaf, spent: 1n }, false)
    audit.checkTotal({ until: 0, total: '500' }, 500n)
    expect(audit.faults()).toEqual(['spent of key window leaf:0 is 0, but should be 30'])
  })

  test('adds what moved after the point to what all balances were', () => {
    const audit = makeAudit(now)
    audit.addTransfer(got(100n, now))
    audit.addTransfer(paid(30n, now + 1))
    expect(audit.point()).toEqual({ until: now, total: '100' })
    audit.checkTotal({ until: 0, total: '500' }, 470n)
    expect(audit.faults()).toEqual([])
    audit.checkTotal({ until: 0, total: '500' }, 471n)
    expect(audit.faults()).toEqual(['the sum of all balances is 471, but should be 470'])
  })
})
