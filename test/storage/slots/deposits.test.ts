import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { privateKeyToAccount } from 'viem/accounts'
import { claimDeposits, claimText } from '../../../src/billing/deposits/claim.ts'
import {
  type Depositing,
  depositingWorld,
  tomlOf,
  units,
} from '../../billing/deposits/depositing.ts'
import { type StubChain, stubChain, transferLog } from '../../billing/deposits/stub-chain.ts'
import { promise } from '../../support/promise.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { engines } from '../../support/world.ts'
import { keyOfS3, mapFile, ofS3, ofS4 } from './shards.ts'

setDefaultTimeout(60_000)

describe.each(engines)('deposits over two shards, on %s', (engine) => {
  let chain: StubChain
  let s3: Depositing
  let s4: Depositing
  beforeAll(async () => {
    chain = stubChain()
    const start = (id: string) => {
      const toml = `${tomlOf([chain.url])}[shard]\nid = "${id}"\nmap = "${mapFile()}"\n`
      return depositingWorld({ engine, url: chain.url, toml })
    }
    s3 = await start('s3')
    s4 = await start('s4')
    await s3.look()
    await s4.look()
  })
  afterAll(async () => {
    for (const shard of [s3, s4]) {
      expect(await shard.faults()).toEqual([])
      await shard.stop()
    }
    await chain.stop()
  })

  promise`Q1 C: No account has a balance on two shards: only the shard of its slot opens it, credits
    its deposits and signs it in, and a database stays the shard and slots it began as.`
  test('each is credited by the shard of its sender, and ignored by the other', async () => {
    chain.add([transferLog(ofS3, units(50)), transferLog(ofS4, units(70))])
    chain.mine(20)
    for (const shard of [s3, s4]) await shard.look()
    expect(await s3.states()).toEqual(['credited 50', 'ignored 70'])
    expect(await s4.states()).toEqual(['ignored 50', 'credited 70'])
    const foreign = (await s3.all()).find(({ from }) => from === ofS4)
    expect(foreign?.reason).toBe('other_shard')
    const balances = [s3, s4].map((one) => Promise.all([one.balance(ofS3), one.balance(ofS4)]))
    expect(await Promise.all(balances)).toEqual([
      [50, 0],
      [0, 70],
    ])
    chain.mine(980)
    for (const shard of [s3, s4]) await shard.look()
    expect(await s4.states()).toEqual(['ignored 50', 'finalized 70'])
  })

  promise`Q1`
  test('one that a reorg moves to another block stays ignored by the other', async () => {
    const tx = chain.add([transferLog(ofS3, units(60))])
    await s4.look()
    chain.reorg(tx.block)
    chain.mine(30)
    for (let i = 0; i < 3; i++) for (const shard of [s3, s4]) await shard.look()
    expect((await s4.states()).at(-1)).toBe('ignored 60')
    expect(await s4.balance(ofS3)).toBe(0)
  })

  test('one of a wallet of another shard cannot be claimed here, and the answer says where', async () => {
    const row = (await s4.all()).find(({ from }) => from === ofS3)
    if (!row) throw new Error('no deposit')
    const owner = privateKeyToAccount(keyOfS3)
    const signature = await owner.signMessage({ message: claimText(row.txHash, ofS4) })
    const visitor = { clientAddress: '127.0.0.1', userAgent: 'test', requestId: 'req' }
    const claim = claimDeposits(s4.deps, { account: ofS4, txHash: row.txHash, signature, visitor })
    expect(await outcomeOf(claim)).toThrow(/belongs to another shard, which credits it there/)
    expect(await s4.balance(ofS4)).toBe(70)
  })
})
