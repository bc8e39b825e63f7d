import { describe, expect, test } from 'bun:test'
import {
  type DepositPolicy,
  isDeepEnough,
  judgeAmount,
  toNusd,
} from '../../../src/billing/deposits/deposit.ts'
import { matchTransfers, sortTransfers } from '../../../src/billing/deposits/match-transfers.ts'
import { unitsOf } from '../../../src/billing/deposits/payment.ts'
import { inclusionOf } from '../../../src/billing/deposits/reorg.ts'
import { checkToken, readSymbol } from '../../../src/billing/deposits/token.ts'
import { readTransfers, type Transfer } from '../../../src/billing/deposits/transfer.ts'
import { type Chain, ChainReverted, ChainUnavailable } from '../../../src/kernel/chain.ts'
import { maxNusd } from '../../../src/kernel/money.ts'
import type { DepositRow } from '../../../src/storage/db/schema/schema.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { alice, bob } from './depositing.ts'
import { token, transferLog, treasury } from './stub-chain.ts'

const policy: DepositPolicy = {
  ...{ treasury, token, decimals: 6, minNusd: 10n, softLimitNusd: 100n, finalAboveNusd: 1000n },
  ...{ secondAboveNusd: 0n, pollMs: 1000 },
}

describe('an amount', () => {
  test.each([
    [1n, 6, 1000n],
    [1n, 9, 1n],
    [7n, 0, 7_000_000_000n],
    [19n, 10, 1n],
    [1_999n, 12, 1n],
    [5n * 10n ** 18n, 18, 5_000_000_000n],
    [maxNusd, 9, maxNusd],
    [maxNusd + 1n, 9, undefined],
    [maxNusd * 1000n + 999n, 12, maxNusd],
  ] as const)('%p units of %p decimals are %p nano-dollars', (units, decimals, nusd) => {
    expect(toNusd(units, decimals)).toBe(nusd)
  })

  test.each([
    [1n, 6, 1n],
    [1000n, 6, 1n],
    [1001n, 6, 2n],
    [7n, 9, 7n],
    [7n, 12, 7000n],
  ] as const)(
    '%p nano-dollars take at least, of %p decimals, %p units',
    (nusd, decimals, units) => {
      expect(unitsOf(nusd, decimals)).toBe(units)
    },
  )

  test.each([
    [10n, 10n, 'detected', null],
    [9n, 10n, 'ignored', 'below_minimum'],
    [1n, 0n, 'detected', null],
    [0n, 0n, 'ignored', 'below_minimum'],
    [undefined, 0n, 'ignored', 'above_bounds'],
  ] as const)('%p, where the least is %p, is %s', (amount, minNusd, status, reason) => {
    expect(judgeAmount(amount, { minNusd })).toEqual({ status, reason })
  })
})

describe('a deposit stands deep enough', () => {
  const heads = { latest: 1000, safe: 900, finalized: 500 }
  test.each([
    ['small, 20 blocks down', 100n, 980, 0n, true],
    ['small, 19 blocks down', 100n, 981, 0n, false],
    ['small, with what came that day just at the limit', 40n, 980, 60n, true],
    ['small, with that above it', 41n, 980, 60n, false],
    ['above the limit of a day, in a safe block', 1000n, 900, 5000n, true],
    ['above the limit of a day, in the next one', 1000n, 901, 0n, false],
    ['very large, in a safe block', 1001n, 900, 0n, false],
    ['very large, in a final block', 1001n, 500, 0n, true],
    ['very large, in the next one', 1001n, 501, 0n, false],
  ] as const)('The depth of a deposit is judged: %s.', (_, amount, blockNumber, today, is) => {
    expect(isDeepEnough({ amount, blockNumber, today }, heads, policy)).toBe(is)
  })
})

const transfer = (logIndex: number, more: Partial<Transfer> = {}): Transfer => ({
  ...{ txHash: '0xa', logIndex, blockNumber: 7, blockHash: '0xb', token, from: alice, units: 5n },
  ordinal: 0,
  ...more,
})
const row = (logIndex: number, more: Partial<DepositRow> = {}): DepositRow => ({
  ...{ id: `dep ${logIndex}`, chainId: 4663, txHash: '0xa', logIndex, blockNumber: 7, token },
  ...{ blockHash: '0xb', from: alice, blockTime: null, tokenAmount: '5', amount: 5000n },
  ...{ account: alice, status: 'detected', reason: null, seenAt: 0, creditedAt: null },
  ...{ ordinal: 0, finalizedAt: null, credits: 0, reversals: 0, loss: 0n, moved: null, ...more },
})

describe('the deposits of a transaction among its transfers of now', () => {
  const match = (rows: DepositRow[], transfers: Transfer[]) => {
    const { moved, same, gone, fresh } = matchTransfers(rows, transfers)
    return {
      moved: moved.map(({ row, transfer }) => [row.logIndex, transfer.logIndex]),
      same: same.map(({ logIndex }) => logIndex),
      gone: gone.map(({ logIndex }) => logIndex),
      fresh: fresh.map(({ logIndex }) => logIndex),
    }
  }
  const none = { moved: [], same: [], gone: [], fresh: [] }

  test('are the same where block and place are', () => {
    expect(match([row(1)], [transfer(1)])).toEqual({ ...none, same: [1] })
  })

  test.each(['orphaned', 'reversed'] as const)('are back where they were %s', (status) => {
    expect(match([row(1, { status })], [transfer(1)])).toEqual({ ...none, moved: [[1, 1]] })
  })

  test('are moved where the block is another, also at the same index', () => {
    const there = transfer(1, { blockHash: '0xc' })
    expect(match([row(1)], [there])).toEqual({ ...none, moved: [[1, 1]] })
    expect(match([row(1)], [transfer(4)])).toEqual({ ...none, moved: [[1, 4]] })
  })

  test('are told from equal ones by their order, however their indices shift', () => {
    const pair = [row(1), row(2, { ordinal: 1 })]
    const shifted = [transfer(2), transfer(3, { ordinal: 1 })]
    expect(match(pair, shifted)).toEqual({
      ...none,
      moved: [
        [1, 2],
        [2, 3],
      ],
    })
    expect(match(pair, [transfer(2)])).toEqual({ ...none, moved: [[1, 2]], gone: [2] })
    expect(match(pair.slice(0, 1), shifted)).toEqual({ ...none, moved: [[1, 2]], fresh: [3] })
  })

  test.each([
    ['of another amount', { units: 6n }],
    ['of another sender', { from: bob }],
    ['of another token', { token: treasury }],
  ])('are gone where what is at their place is a transfer %s', (_, more) => {
    expect(match([row(1)], [transfer(1, more)])).toEqual({ ...none, gone: [1], fresh: [1] })
  })

  test('are gone where there is none, and unknown ones are fresh', () => {
    expect(match([row(1)], [])).toEqual({ ...none, gone: [1] })
    expect(match([], [transfer(1)])).toEqual({ ...none, fresh: [1] })
  })

  test('are looked up again once one is elsewhere, back or gone; others are known or fresh', () => {
    const compared = (known: DepositRow[], ...transfers: Transfer[]) => {
      const { fresh, doubtful } = sortTransfers(transfers, known)
      return [fresh.length, doubtful]
    }
    const next = transfer(2, { ordinal: 1 })
    expect(compared([], transfer(1))).toEqual([1, []])
    expect(compared([row(1)], transfer(1))).toEqual([0, []])
    expect(compared([row(1)], transfer(1), next)).toEqual([1, []])
    expect(compared([row(1)], transfer(1, { blockHash: '0xc' }))).toEqual([0, ['0xa']])
    expect(compared([row(1, { status: 'orphaned' })], transfer(1))).toEqual([0, ['0xa']])
    expect(compared([row(1, { txHash: '0xd' })], transfer(1))).toEqual([1, []])
    expect(compared([], transfer(1), transfer(1, { blockHash: '0xc' }))).toEqual([0, ['0xa']])
  })

  test.each([
    ['detected', ['0xa']],
    ['confirming', ['0xa']],
    ['credited', ['0xa']],
    ['finalized', []],
    ['reversed', []],
    ['orphaned', []],
    ['ignored', []],
  ] as const)(
    'are looked up where one that is %s is missing beside another: %p',
    (status, found) => {
      const known = [row(1), row(2, { ordinal: 1, status })]
      expect(sortTransfers([transfer(1)], known)).toEqual({ fresh: [], doubtful: [...found] })
    },
  )
})

test('transfers are read in the order of the chain, each once', () => {
  const plain = transferLog(alice, 5n)
  const log = (blockNumber: number, logIndex: number) => ({
    ...{ ...plain, removed: false, transactionHash: `0x${blockNumber}` },
    ...{ blockHash: '0xb', blockNumber, logIndex },
  })
  const logs = [log(8, 1), log(7, 5), log(7, 2), log(8, 0), log(7, 5), log(6, 9)]
  const read = readTransfers(logs as Parameters<typeof readTransfers>[0], policy)
  expect(read.map(({ blockNumber, logIndex }) => [blockNumber, logIndex])).toEqual([
    [6, 9],
    [7, 2],
    [7, 5],
    [8, 0],
    [8, 1],
  ])
})

test('equal transfers of one transaction are numbered in their order, others each from 0', () => {
  const log = (logIndex: number, more: object = {}) => ({
    ...{ ...transferLog(alice, 5n), removed: false, transactionHash: '0xa' },
    ...{ blockHash: '0xb', blockNumber: 7, logIndex, ...more },
  })
  const logs = [
    ...[log(9), log(2), log(4, transferLog(bob, 5n)), log(5, transferLog(alice, 6n)), log(7)],
    ...[log(11, { transactionHash: '0xd' }), log(2, { blockHash: '0xc' })],
  ]
  const read = readTransfers(logs as Parameters<typeof readTransfers>[0], policy)
  const told = read.map(
    ({ blockHash, logIndex, ordinal }) => `${blockHash} ${logIndex}: ${ordinal}`,
  )
  expect(told.sort()).toEqual(
    ['0xb 11: 0', '0xb 2: 0', '0xb 4: 0', '0xb 5: 0', '0xb 7: 1', '0xb 9: 2', '0xc 2: 0'].sort(),
  )
})

describe('where a transaction stands', () => {
  const log = transferLog(alice, 5n)
  const standing = (receipt: object | undefined, hash = '0xb') => {
    const logs = [
      { ...log, transactionHash: '0xa', blockHash: '0xb', blockNumber: 7, logIndex: 0 },
      { ...log, transactionHash: '0xother', blockHash: '0xb', blockNumber: 7, logIndex: 1 },
      { ...log, transactionHash: '0xa', blockHash: '0xold', blockNumber: 7, logIndex: 2 },
    ]
    const whole = { status: 'success', blockNumber: 7, blockHash: '0xb', logs }
    const chain = {
      receipt: async () => receipt && { ...whole, ...receipt },
      block: async () => ({ number: 7, hash, timestampMs: 9 }),
    }
    return inclusionOf({ chain: chain as unknown as Chain, policy }, '0xa')
  }

  test('is its block, and only its own transfers in that block', async () => {
    const found = await standing({})
    expect([found?.blockHash, found?.blockTime]).toEqual(['0xb', 9])
    expect(found?.transfers.map(({ logIndex }) => logIndex)).toEqual([0])
  })

  test('is nowhere while it is in no block, failed, or its block is none of the chain', async () => {
    expect(await standing(undefined)).toBeUndefined()
    expect(await standing({ status: 'reverted' })).toBeUndefined()
    expect(await standing({}, '0xc')).toBeUndefined()
  })
})

describe('the token of the configuration', () => {
  const textWord = (text: string) => Buffer.from(text.padEnd(32, '\0')).toString('hex')
  const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}` as const
  const check = (call: () => Promise<string>, code = '0x6001') =>
    checkToken({ code: async () => code, call } as Pick<Chain, 'call' | 'code'>, policy)

  test('is right where it has its decimals, and its code is told by a hash', async () => {
    const right = await check(async () => word(6))
    expect(right).toEqual({ trouble: null, codeHash: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(await check(async () => word(6), '0x6002')).not.toEqual(right)
  })

  test.each([
    ['there is no code', async () => word(6), '0x', 'no_token'],
    ['it answers no word', async () => '0x06', '0x6001', 'no_token'],
    ['it refuses', () => Promise.reject(new ChainReverted('0x')), '0x6001', 'no_token'],
    ['it has other decimals', async () => word(18), '0x6001', 'wrong_decimals'],
  ] as [string, () => Promise<string>, string, 'no_token' | 'wrong_decimals'][])(
    'is refused where %s',
    async (_, call, code, trouble) => {
      expect(await check(call, code)).toEqual({ trouble })
    },
  )

  test.each([
    ['as text', word(32) + word(4).slice(2) + textWord('USDX'), 'USDX'],
    ['as 32 bytes, as old tokens do', `0x${textWord('DAI')}`, 'DAI'],
    ['with markup', word(32) + word(3).slice(2) + textWord('<b>'), null],
    ['with a text that is too long', word(32) + word(31).slice(2) + textWord('U'.repeat(31)), null],
    ['with a length beyond its answer', word(32) + word(4_000_000).slice(2) + textWord(''), null],
    ['with nothing', '0x', null],
    ['with a number alone', word(6), null],
  ] as const)('The token’s symbol is read or refused %s.', async (_, answer, symbol) => {
    const chain = { call: async () => answer } as unknown as Pick<Chain, 'call'>
    expect(await readSymbol(chain, policy.token)).toBe(symbol)
  })

  test('that refuses to tell its symbol is taken all the same', async () => {
    const call = () => Promise.reject(new ChainReverted('0x'))
    expect(await readSymbol({ call }, policy.token)).toBe(null)
  })

  test('is neither where the chain cannot be asked', async () => {
    const away = () => Promise.reject(new ChainUnavailable('timeout'))
    expect(await outcomeOf(check(away))).toThrow(ChainUnavailable)
  })
})
