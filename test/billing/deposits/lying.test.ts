import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { assignDeposit } from '../../../src/billing/deposits/claim.ts'
import type { Lie } from '../../proof/chain/proxy.ts'
import { nightly } from '../../support/nightly.ts'
import { promise } from '../../support/promise.ts'
import {
  alice,
  bob,
  type Depositing,
  depositingWorld,
  exchange,
  tomlOf,
  units,
} from './depositing.ts'
import { lies, together } from './lies.ts'
import { type StubChain, stubChain, transferLog } from './stub-chain.ts'

setDefaultTimeout(300_000)

/** One moment: what comes onto the chain, what an account does, and what the liar says to it. */
type Step = {
  pays: { from: string; dollars: number }[]
  mine: number
  does: 'nothing' | 'spend' | 'assign' | 'restart' | 'rescan'
  lies: string[]
}

const payment = fc.record({
  from: fc.constantFrom(alice, exchange),
  dollars: fc.constantFrom(1, 1, 2, 3),
})
const step: fc.Arbitrary<Step> = fc.record({
  pays: fc.oneof(fc.constant<Step['pays']>([]), fc.array(payment, { minLength: 1, maxLength: 4 })),
  mine: fc.constantFrom(0, 1, 20, 20, 35, 70, 700),
  does: fc.constantFrom('nothing', 'nothing', 'spend', 'assign', 'restart', 'rescan'),
  lies: fc.oneof(
    fc.constant<string[]>([]),
    fc.uniqueArray(fc.constantFrom(...Object.keys(lies), 'final is latest'), {
      minLength: 1,
      maxLength: 3,
    }),
  ),
})

/** What became of deposits that were only made up, for a while, by a lie. */
const isLost = ['orphaned', 'ignored', 'reversed']

/** The first block that a test's chain has transfers in. */
const firstBlock = 10_000

async function twoServers() {
  const servers = [stubChain(firstBlock), stubChain(firstBlock)] as const
  for (const server of servers) Object.assign(server, { safeDepth: 30, finalDepth: 60 })
  const [first, second] = servers
  const toml = tomlOf([first.url]).replace(
    '[deposits]',
    `second_rpc_urls = ["${second.url}"]\n[deposits]`,
  )
  const w = await depositingWorld({ url: first.url, toml })
  return {
    w,
    first,
    second,
    /** Both have the same chain. */
    grow: (pays: Step['pays'], mine: number): void => {
      if (pays.length > 0)
        first.add(pays.map(({ from, dollars }) => transferLog(from, units(dollars))))
      first.mine(mine)
      second.latest = first.latest
      second.txs.splice(0, second.txs.length, ...first.txs)
    },
    look: async (): Promise<void> => {
      // Past every rest that follows a trouble.
      w.advance(60_000)
      await w.look()
    },
    stop: async (): Promise<void> => {
      await w.stop()
      await first.stop()
      await second.stop()
    },
  }
}

const told = (names: string[], server: StubChain): Lie | undefined => {
  if (names.length === 0) return undefined
  return together(...names.map((name) => lies[name] ?? finalIsLatest(server)))
}
const finalIsLatest =
  (server: StubChain): Lie =>
  (method, [tag], truth) =>
    method === 'eth_getBlockByNumber' && tag === 'finalized'
      ? { ...(truth as object), number: `0x${server.latest.toString(16)}` }
      : truth

/** Takes half of what is available; gives what that was. */
function spendHalf(w: Depositing, account: string, ref: string): Promise<bigint> {
  return w.deps.ledger.post({
    account,
    opens: true,
    keys: [],
    decide(unit) {
      const row = unit.account(account)
      const amount = (row?.balance ?? 0n) / 2n
      if (!row || amount === 0n) return 0n
      row.balance -= amount
      unit.changed('account', row)
      const move = { kind: 'plan', source: 'user', target: 'plans' } as const
      unit.addTransfer({ accountId: account, ref, ...move, amount, at: unit.now })
      return amount
    },
  })
}

async function assignOne(w: Depositing): Promise<void> {
  const found = (await w.all()).find(({ account }) => account === exchange)
  const wish = { account: bob, reason: 'a test', actor: 'operator' }
  if (found) await assignDeposit(w.deps, { id: found.id, ...wish }).catch(() => {})
}

async function play(liar: 'first' | 'second', steps: Step[]): Promise<void> {
  const s = await twoServers()
  const { w } = s
  let spent = 0n
  try {
    await s.look()
    for (const [i, { pays, mine, does, lies: names }] of steps.entries()) {
      s.grow(pays, mine)
      if (does === 'restart') w.restart()
      if (does === 'rescan') await w.deps.deposits.wantRescan(firstBlock)
      if (does === 'assign') await assignOne(w)
      if (does === 'spend') spent += await spendHalf(w, alice, `spent ${i}`)
      s[liar].lie = told(names, s[liar])
      await s.look()
    }
    s[liar].lie = undefined
    await w.deps.deposits.wantRescan(firstBlock)
    for (let i = 0; i < 4; i++) {
      s.grow([], 100)
      await s.look()
    }
    const paid = s.first.txs.flatMap(({ logs }) => logs.map(({ data }) => BigInt(data) * 1000n))
    const lasting = (await w.all()).filter(({ status }) => !isLost.includes(status))
    expect(lasting.map(({ status }) => status)).toEqual(paid.map(() => 'finalized'))
    const balances = await Promise.all(
      [alice, bob, exchange].map((one) => w.deps.accounts.find(one)),
    )
    const owed = balances.reduce((sum, account) => sum + (account?.balance ?? 0n), 0n)
    expect(owed + spent).toBe(paid.reduce((sum, one) => sum + one, 0n))
    expect(await w.faults()).toEqual([])
  } finally {
    await s.stop()
  }
}

describe('one of two RPC servers lies, and the chain is credited once it is honest', () => {
  promise`F15`
  test.each(['first', 'second'] as const)(
    'The credits are those of the chain after the %s server lied.',
    async (liar) => {
      const steps = fc.array(step, { minLength: 2, maxLength: 12 })
      await fc.assert(
        fc.asyncProperty(steps, (all) => play(liar, all)),
        { numRuns: Number(process.env.LIES_RUNS ?? nightly(10, 100)) },
      )
    },
  )

  promise`F15`
  test.each([
    ['logs of another block', 'receipts without logs'],
    ...Object.keys(lies).map((name) => [name, 'a lower final block']),
  ])('where it lies twice about final deposits: %s, %s', async (...names) => {
    const pays = [1, 1, 2].map((dollars) => ({ from: alice, dollars }))
    const quiet = { pays: [], does: 'nothing', lies: [] } as const
    const settle: Step[] = [20, 70, 1].map((mine) => ({ ...quiet, pays: [], lies: [], mine }))
    const once: Step[] = [{ ...quiet, pays, mine: 25, lies: [] }]
    const lie: Step = { pays: [], mine: 1, does: 'spend', lies: names }
    await play('first', [...once, ...settle, lie, lie, ...settle])
  })
})
