import { describe, expect, test } from 'bun:test'
import { maxNusd, toUsd } from '../../src/kernel/money.ts'
import { Refusal } from '../../src/kernel/refusal.ts'
import { grant } from '../../src/ledger/grant.ts'
import {
  endHold,
  mostFor,
  type Room,
  roomsOf,
  type Shortage,
  takeHold,
} from '../../src/ledger/hold.ts'
import { numberTransfers } from '../../src/ledger/number-transfers.ts'
import { account, key, now, openRun, paperUnit, window } from './paper-unit.ts'

/** A leaf with a cap by day below a root with one for life, each with something taken. */
const leaf = (state = {}) =>
  key({ lineage: ['leaf', 'root'], capLimit: 70n, capWindow: 'day', ...state })
const root = (state = {}) => key({ id: 'root', lineage: ['root'], capLimit: 80n, ...state })
const today = Date.UTC(2026, 0, 15)

function desk(own = {}, rows: { leaf?: object; root?: object } = {}) {
  const ofLeaf = window({ windowStart: today, limit: 70n, spent: 3n, held: 2n, ...rows.leaf })
  const ofRoot = window({ keyId: 'root', limit: 80n, spent: 4n, held: 6n, ...rows.root })
  const alice = account({ held: 10n, ...own })
  const made = paperUnit({ accounts: [alice], windows: [ofLeaf, ofRoot] })
  return { ...made, alice, ofLeaf, ofRoot }
}

const refusalOf = (ask: () => unknown): Refusal => {
  try {
    ask()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('the rooms of a chain', () => {
  test('are each cap less what its window spent and holds, and the balance less what is held', () => {
    const { unit } = desk()
    expect(roomsOf(unit, 'alice', [leaf(), root()])).toEqual([
      { available: 65n, limitedBy: 'key', keyId: 'leaf' },
      { available: 70n, limitedBy: 'ancestor', keyId: 'root' },
      { available: 90n, limitedBy: 'balance' },
    ])
  })

  test('are none of an account that is not there', () => {
    expect(roomsOf(desk().unit, 'bob', []).at(-1)?.available).toBe(0n)
  })

  test.each([
    ['the key', {}, {}, {}, 65n],
    ['the key above', { capLimit: 900n }, {}, {}, 70n],
    ['the balance', { capLimit: 900n }, { capLimit: 900n }, {}, 90n],
    ['the most of one run', { maxCostPerRun: 9n }, { maxCostPerRun: 11n }, {}, 9n],
    ['the most of one run of the key above', {}, { maxCostPerRun: 11n }, {}, 11n],
  ])('limit a run by the least: %s', (_, own, above, of, most) => {
    expect(mostFor(desk(of).unit, 'alice', [leaf(own), root(above)])).toBe(most)
  })
})

describe('a hold', () => {
  test('is taken to the last unit from every window and the account, which are written', () => {
    const { unit, tracked, alice, ofLeaf, ofRoot } = desk()
    const windows = takeHold(unit, [leaf(), root()], 65n, () => ({}))
    expect(windows).toEqual([
      ['leaf', today],
      ['root', 0],
    ])
    expect([alice.held, ofLeaf.held, ofRoot.held]).toEqual([75n, 67n, 71n])
    expect([alice.balance, ofLeaf.spent, ofRoot.spent]).toEqual([100n, 3n, 4n])
    expect([...tracked.written.accounts, ...tracked.written.windows]).toEqual([
      alice,
      ofLeaf,
      ofRoot,
    ])
  })

  test('takes the cap of now into the window', () => {
    const { unit, ofLeaf, ofRoot } = desk()
    takeHold(unit, [leaf({ capLimit: 75n }), root({ capLimit: 90n })], 1n, () => ({}))
    expect([ofLeaf.limit, ofRoot.limit]).toEqual([75n, 90n])
  })

  type Case = {
    what: string
    own?: object
    above?: object
    amount: bigint
    by: Room['limitedBy']
    left: number
    resets?: string
  }
  const wide = { capLimit: 900n }
  const most = { maxCostPerRun: 9n }
  const cases: Case[] = [
    { what: 'its own cap', amount: 66n, by: 'key', left: 65, resets: '2026-01-16T00:00:00.000Z' },
    { what: 'the cap above', own: wide, amount: 71n, by: 'ancestor', left: 70 },
    { what: 'the balance', own: wide, above: wide, amount: 91n, by: 'balance', left: 90 },
    { what: 'the most of one run', own: most, amount: 10n, by: 'max_cost_per_run', left: 9 },
  ]
  test.each(cases.map((one): [string, Case] => [one.what, one]))(
    'above %s is refused with what is left, and changes nothing',
    (_, { own, above, amount, by, left, resets }) => {
      const { unit, tracked, alice, ofLeaf, ofRoot } = desk()
      let room: bigint | undefined
      const explain = ({ most }: Shortage) => {
        room = most
        return { metadata: { more: 1 } }
      }
      const refusal = refusalOf(() => takeHold(unit, [leaf(own), root(above)], amount, explain))
      const told: Record<string, unknown> = { type: refusal.type, ...refusal.detail.metadata }
      expect(told).toEqual({
        type: by === 'balance' ? 'insufficient_balance' : 'cap_exceeded',
        limited_by: by,
        blocking_key_id: { key: 'leaf', ancestor: 'root', balance: null, max_cost_per_run: 'leaf' }[
          by
        ],
        required_nusd: Number(amount),
        required_usd: toUsd(amount),
        available_nusd: left,
        available_usd: toUsd(BigInt(left)),
        held_nusd: { key: 2, ancestor: 6, balance: 10, max_cost_per_run: 0 }[by],
        held_usd: toUsd({ key: 2n, ancestor: 6n, balance: 10n, max_cost_per_run: 0n }[by]),
        resets_at: resets ?? null,
        more: 1,
      })
      expect(room).toBe(BigInt(left))
      expect([alice.held, ofLeaf.held, ofRoot.held]).toEqual([10n, 2n, 6n])
      expect(tracked.written.accounts.size + tracked.written.windows.size).toBe(0)
    },
  )

  test('of exactly the most of one run is taken', () => {
    const { unit, alice } = desk()
    takeHold(unit, [leaf({ maxCostPerRun: 9n }), root()], 9n, () => ({}))
    expect(alice.held).toBe(19n)
  })

  test('tells the least room also where the most of one run refuses', () => {
    const { unit } = desk({ held: 95n })
    let told: bigint | undefined
    const explain = ({ most }: Shortage) => {
      told = most
      return {}
    }
    refusalOf(() => takeHold(unit, [leaf({ maxCostPerRun: 9n }), root()], 10n, explain))
    expect(told).toBe(5n)
  })

  test('of a key without an account is our bug', () => {
    expect(() => takeHold(desk().unit, [key({ accountId: 'bob' })], 1n, () => ({}))).toThrow(
      'without an account',
    )
  })
})

describe('the end of a hold', () => {
  const held = () => desk({ held: 50n }, { leaf: { held: 42n }, root: { held: 46n } })
  const run = (state = {}) =>
    openRun({
      windows: [
        ['leaf', today],
        ['root', 0],
      ],
      ...state,
    })

  test.each([0n, 1n, 39n, 40n])('charges %p, frees the rest, and tells the journal', (cost) => {
    const { unit, tracked, alice, ofLeaf, ofRoot } = held()
    endHold(unit, run(), cost)
    expect([alice.balance, alice.held]).toEqual([100n - cost, 10n])
    expect([ofLeaf.spent, ofLeaf.held]).toEqual([3n + cost, 2n])
    expect([ofRoot.spent, ofRoot.held]).toEqual([4n + cost, 6n])
    expect([...tracked.written.accounts, ...tracked.written.windows]).toEqual([
      alice,
      ofLeaf,
      ofRoot,
    ])
    const told = { accountId: 'alice', ref: 'run_1', kind: 'run', source: 'user' } as const
    const line = { ...told, target: 'revenue', amount: cost, at: now } as const
    expect(tracked.added.transfers).toEqual(cost === 0n ? [] : [line])
  })

  test.each([
    ['twice', { finishedAt: now }, 1n, 'ended twice'],
    ['for less than nothing', {}, -1n, 'cost more than it holds'],
    ['for more than it holds', {}, 41n, 'cost more than it holds'],
    ['of no account', { accountId: 'bob' }, 1n, 'has no account'],
  ])('%s is our bug, and changes nothing', (_, state, cost, message) => {
    const { unit, tracked, alice } = held()
    expect(() => endHold(unit, run(state), cost)).toThrow(message)
    expect([alice.balance, alice.held, tracked.added.transfers.length]).toEqual([100n, 50n, 0])
  })

  test('in a window that was not loaded is our bug', () => {
    expect(() => endHold(held().unit, run({ windows: [['other', 0]] }), 1n)).toThrow(
      'was not loaded',
    )
  })
})

describe('a grant', () => {
  test.each([1n, maxNusd - 100n])('of %p arrives and is told', (amount) => {
    const { unit, tracked, alice } = desk()
    expect(grant(unit, 'alice', amount, 'g1')).toBe(100n + amount)
    expect(alice.balance).toBe(100n + amount)
    expect([...tracked.written.accounts]).toEqual([alice])
    const told = { accountId: 'alice', ref: 'g1', kind: 'grant', source: 'grants' } as const
    expect(tracked.added.transfers).toEqual([{ ...told, target: 'user', amount, at: now }])
  })

  test.each([
    [0n, 'invalid_request'],
    [-1n, 'invalid_request'],
    [maxNusd - 99n, 'conflict'],
  ] as const)('A grant of %p nano-USD is refused.', (amount, type) => {
    const { unit, alice } = desk()
    expect(refusalOf(() => grant(unit, 'alice', amount, 'g1')).type).toBe(type)
    expect(alice.balance).toBe(100n)
  })

  test('to an account that was not opened is our bug', () => {
    expect(() => grant(desk().unit, 'bob', 1n, 'g1')).toThrow('not opened')
  })
})

describe('the transfers of a batch', () => {
  test('are numbered by account, with the balance after each and times that never go back', () => {
    const alice = account({ balance: 120n, moves: 4, movedAt: now + 5 })
    const bob = account({ id: 'bob', balance: 7n })
    const { unit, tracked } = paperUnit({ accounts: [alice, bob] })
    const line = (accountId: string, ref: string, amount: bigint, isIn: boolean, at: number) => {
      const sides = isIn
        ? ({ kind: 'grant', source: 'grants', target: 'user' } as const)
        : ({ kind: 'run', source: 'user', target: 'revenue' } as const)
      unit.addTransfer({ accountId, ref, ...sides, amount, at })
    }
    line('alice', 'a', 30n, true, now)
    line('bob', 'b', 7n, true, now + 1)
    line('alice', 'c', 10n, false, now + 9)
    // From the side of the operator to another: no money of the account moved.
    const loss = { ref: 'd', kind: 'loss', source: 'deposits', target: 'loss', amount: 5n } as const
    unit.addTransfer({ accountId: 'alice', ...loss, at: now + 2 })
    const told = numberTransfers(tracked).map(({ ref, seq, balance, at }) => [
      ref,
      seq,
      balance,
      at,
    ])
    expect(told).toEqual([
      ['a', 5, 130n, now + 5],
      ['c', 6, 120n, now + 9],
      ['d', 7, 120n, now + 9],
      ['b', 1, 7n, now + 1],
    ])
    expect([alice.moves, alice.movedAt, bob.moves, bob.movedAt]).toEqual([7, now + 9, 1, now + 1])
    expect(tracked.written.accounts).toEqual(new Set([alice, bob]))
  })

  test('of an account that was not loaded is our bug', () => {
    const { unit, tracked } = paperUnit({})
    const line = { kind: 'grant', source: 'grants', target: 'user', amount: 1n } as const
    unit.addTransfer({ accountId: 'bob', ref: 'a', ...line, at: now })
    expect(() => numberTransfers(tracked)).toThrow('was not loaded')
  })
})
