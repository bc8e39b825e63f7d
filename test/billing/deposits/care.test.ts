import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { privateKeyToAccount } from 'viem/accounts'
import { assignDeposit, claimDeposits, claimText } from '../../../src/billing/deposits/claim.ts'
import { creditDue } from '../../../src/billing/deposits/credit.ts'
import { applyReorg } from '../../../src/billing/deposits/reorg.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { result } from '../../proof/chain/proxy.ts'
import { outcomeOf, rejectionOf } from '../../support/rejection.ts'
import { usd } from '../../support/world.ts'
import { alice, bob, type Depositing, depositingWorld, exchange, units } from './depositing.ts'
import { type StubChain, stubChain, type Tx, transferLog } from './stub-chain.ts'

setDefaultTimeout(60_000)

let chain: StubChain
let w: Depositing
beforeEach(async () => {
  chain = stubChain()
  w = await depositingWorld({ url: chain.url })
  await w.look()
})
afterEach(async () => {
  expect(await w.faults()).toEqual([])
  await w.stop()
  await chain.stop()
})

const spend = (account: string, dollars: number) =>
  w.deps.ledger.post({
    account,
    keys: [],
    decide(unit) {
      const row = unit.account(account)
      if (!row) throw new Error('no account')
      const amount = BigInt(dollars) * usd
      row.balance -= amount
      unit.changed('account', row)
      const move = { kind: 'plan', source: 'user', target: 'plans' } as const
      unit.addTransfer({ accountId: account, ref: 'spent', ...move, amount, at: unit.now })
    },
  })
const events = (event: string) => w.logged.filter((one) => one.event === event).length
/** The server tells of the block of a transaction, and of nothing that it did there. */
const forget = (tx: Tx) => {
  const found = { transactionHash: tx.hash, status: '0x1', blockHash: chain.hashOf(tx.block) }
  const rest = { from: alice, to: alice, contractAddress: null, gasUsed: '0x1', logs: [] }
  chain.fault = (method) =>
    method === 'eth_getLogs'
      ? result([])
      : method === 'eth_getTransactionReceipt'
        ? result({ ...found, blockNumber: `0x${tx.block.toString(16)}`, ...rest })
        : undefined
}

describe('the soft limit of a day', () => {
  test('counts what the same look credited, and what was credited before it', async () => {
    for (const dollars of [60, 60]) chain.add([transferLog(alice, units(dollars))])
    chain.mine(20)
    await w.look()
    expect([await w.states(), await w.balance(alice)]).toEqual([
      ['credited 60', 'confirming 60'],
      60,
    ])
    for (const dollars of [25, 25]) chain.add([transferLog(alice, units(dollars))])
    chain.add([transferLog(bob, units(90))])
    chain.mine(20)
    await w.look()
    expect((await w.states()).slice(2)).toEqual(['credited 25', 'confirming 25', 'credited 90'])
    expect([await w.balance(alice), await w.balance(bob)]).toEqual([85, 90])
    expect(events('deposit.credited')).toBe(3)
  })

  test('lets what is above it wait, which is said from the 20th block on', async () => {
    chain.add([transferLog(alice, units(200))])
    chain.mine(19)
    await w.look()
    expect(await w.states()).toEqual(['detected 200'])
    chain.mine()
    await w.look()
    expect(await w.states()).toEqual(['confirming 200'])
  })
})

describe('more than one page of deposits', () => {
  test('is taken in whole and credited whole in one look, each once', async () => {
    const log = transferLog(alice, units(0.1))
    for (const count of [300, 300]) chain.add(Array.from({ length: count }, () => log))
    await w.look()
    expect((await w.states()).length).toBe(600)
    chain.mine(2000)
    await w.look()
    expect(await w.balance(alice)).toBe(60)
    expect((await w.all()).every(({ status }) => status === 'credited')).toBe(true)
    await w.look()
    expect((await w.all()).every(({ status }) => status === 'finalized')).toBe(true)
    expect(await w.balance(alice)).toBe(60)
  })
})

describe('a block that no longer holds a transfer of its transaction', () => {
  test('takes nothing back that was credited from just that block, and says so', async () => {
    const tx = chain.add([transferLog(alice, units(50))])
    chain.mine(20)
    await w.look()
    forget(tx)
    chain.mine()
    await w.look()
    expect([await w.states(), await w.balance(alice)]).toEqual([['credited 50'], 50])
    expect(events('deposit.contradicted')).toBe(1)
  })

  test('orphans what was not credited yet', async () => {
    const tx = chain.add([transferLog(alice, units(50))])
    await w.look()
    forget(tx)
    chain.mine()
    await w.look()
    expect(await w.states()).toEqual(['orphaned 50'])
    chain.fault = undefined
    chain.mine(30)
    await w.look()
    await w.look()
    expect([await w.states(), await w.balance(alice)]).toEqual([['credited 50'], 50])
  })

  test('takes back what was credited from another block', async () => {
    const tx = chain.add([transferLog(alice, units(50)), transferLog(bob, units(20))])
    chain.mine(20)
    await w.look()
    chain.reorg(tx.block)
    Object.assign(tx, { block: tx.block + 1, logs: [transferLog(bob, units(20))] })
    chain.mine()
    await w.look()
    expect([await w.balance(alice), await w.balance(bob)]).toEqual([0, 20])
    expect(events('deposit.reversed')).toBe(1)
  })
})

test('one that comes back in the very block it was taken away from gets only what was taken', async () => {
  const tx = chain.add([transferLog(alice, units(50))])
  const { block, logs } = tx
  chain.mine(20)
  await w.look()
  await spend(alice, 45)
  // In another block the same transaction does something else, and then the first one is back.
  chain.reorg(block)
  tx.logs = []
  chain.mine()
  await w.look()
  expect([await w.states(), await w.balance(alice)]).toEqual([['reversed 50'], 0])
  chain.restore()
  tx.logs = logs
  chain.mine()
  await w.look()
  await w.look()
  expect([await w.states(), await w.balance(alice)]).toEqual([['credited 50'], 5])
  expect((await w.all()).map(({ loss }) => loss)).toEqual([0n])
})

test('A final deposit keeps its money if its block leaves the chain, and raises an alarm.', async () => {
  const tx = chain.add([transferLog(alice, units(50))])
  chain.mine(1020)
  await w.look()
  await w.look()
  expect(await w.states()).toEqual(['finalized 50'])
  chain.reorg(tx.block, [tx])
  const { chain: asked, depositPolicy: policy } = w.deps
  const lease = await w.deps.deposits.takeLease()
  if (!asked || !policy || !lease) throw new Error('no chain')
  await applyReorg(w.deps, { chain: asked, policy, lease }, tx.hash)
  expect([await w.states(), await w.balance(alice)]).toEqual([['finalized 50'], 50])
  expect(events('deposit.final_denied')).toBe(1)
})

test('a process that lost the right to watch credits nothing', async () => {
  chain.add([transferLog(alice, units(50))])
  await w.look()
  chain.mine(2000)
  const { chain: asked, depositPolicy: policy } = w.deps
  const lease = await w.deps.deposits.takeLease()
  if (!asked || !policy || !lease) throw new Error('no chain')
  const deposits = { ...w.deps.deposits, takeLease: async () => undefined }
  const heads = { latest: chain.latest, safe: chain.latest, finalized: chain.latest }
  await creditDue({ ...w.deps, deposits }, { chain: asked, policy, lease }, heads)
  expect([await w.states(), await w.balance(alice)]).toEqual([['detected 50'], 0])
})

describe('a deposit that is given to someone', () => {
  const sender = privateKeyToAccount(
    '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
  )
  const visitor = { clientAddress: '', userAgent: '', requestId: 'req_1' }
  const claimFor = async (txHash: string, account: string, deps = w.deps) =>
    claimDeposits(deps, {
      ...{ account, txHash, visitor: visitor as Parameters<typeof claimDeposits>[1]['visitor'] },
      signature: await sender.signMessage({ message: claimText(txHash, account) }),
    })
  const audits = async (action: string) => {
    const { auditEntries } = w.db.tables
    const all = await w.db.read((q) => rows(q.select().from(auditEntries)))
    return all.filter((one) => one.action === action).map(({ detail }) => detail)
  }

  test('is what is left of a transaction: what someone has already is left out', async () => {
    const tx = chain.add([transferLog(exchange, units(5)), transferLog(exchange, units(7))])
    chain.mine(20)
    await w.look()
    const [five, seven] = await w.deps.deposits.ofTxs([tx.hash])
    const wish = { account: bob, reason: 'a test', actor: 'operator' }
    await assignDeposit(w.deps, { id: five?.id ?? '', ...wish })
    expect((await claimFor(tx.hash, alice)).map(({ id }) => id)).toEqual([seven?.id ?? ''])
    expect([await w.balance(alice), await w.balance(bob)]).toEqual([7, 5])
    expect(await rejectionOf(claimFor(tx.hash, alice))).toMatchObject({ type: 'conflict' })
    expect(await audits('deposit.claimed')).toMatchObject([{ moved_nusd: String(7n * usd) }])
    expect(await audits('deposit.assigned')).toMatchObject([
      { moved_nusd: String(5n * usd), reason: 'a test', from: exchange },
    ])
  })

  test('is one that is there', async () => {
    const wish = { id: 'dep_none', account: bob, reason: 'a test', actor: 'operator' }
    expect(await rejectionOf(assignDeposit(w.deps, wish))).toMatchObject({ type: 'not_found' })
  })

  test('is not said to be given where something broke, also behind one that was', async () => {
    const tx = chain.add([transferLog(exchange, units(5)), transferLog(exchange, units(7))])
    chain.mine(20)
    await w.look()
    const { post } = w.deps.ledger
    let posted = 0
    const ledger: typeof w.deps.ledger = {
      post: (command) => (posted++ === 0 ? post(command) : Promise.reject(new Error('broken'))),
    }
    expect(await outcomeOf(claimFor(tx.hash, alice, { ...w.deps, ledger }))).toThrow('broken')
    expect((await claimFor(tx.hash, alice)).length).toBe(1)
    expect(await w.balance(alice)).toBe(12)
  })
})
