import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { noAnvil } from '../../contracts/anvil.ts'
import { fault, promise } from '../../support/promise.ts'
import { type Anchored, anchoredWorld, senderAddress } from './anchored.ts'

describe.skipIf(noAnvil)('an anchor on its way', () => {
  let a: Anchored
  beforeEach(async () => {
    a = await anchoredWorld()
    await a.receipts(2)
    // The log is open in the registry, and nothing is anchored yet.
    await a.look()
  }, 60_000)
  afterEach(() => a.stop())

  const stuck = async (): Promise<void> => {
    await a.rpc('evm_setAutomine', false)
    await a.look()
    expect((await a.anchors()).length).toBe(1)
  }
  const mined = async (): Promise<void> => {
    await a.rpc('anvil_mine', '0x1')
    await a.look()
  }
  const feesOf = async () => (await a.transactions()).map(({ maxFeeWei }) => BigInt(maxFeeWei))

  fault`36`
  test('that is stuck is sent again, then twice with higher fees, and ends as one', async () => {
    await stuck()
    a.advance(60_000)
    await a.look()
    expect((await a.transactions()).length).toBe(2)
    for (const count of [3, 4]) {
      a.advance(180_000)
      await a.look(2)
      expect((await a.transactions()).length).toBe(count)
    }
    const [, first = 0n, second = 0n, third = 0n] = await feesOf()
    expect([second * 100n >= first * 125n, third * 100n >= second * 125n]).toEqual([true, true])
    const signed = (await a.transactions()).slice(1)
    expect(
      new Set(signed.map(({ nonce, gas, subject }) => `${nonce} ${gas} ${subject}`)).size,
    ).toBe(1)
    await mined()
    const [status] = await a.anchors()
    expect(status).toStartWith('confirmed 0-')
    expect(await a.rpc('eth_getTransactionCount', senderAddress, 'latest')).toBe('0x2')
  }, 60_000)

  test('never offers more than the cap, and goes on sending what it has', async () => {
    await stuck()
    for (let i = 0; i < 60; i++) {
      a.advance(180_000)
      await a.look()
    }
    const fees = await feesOf()
    expect(fees.every((fee) => fee <= 500_000_000_000n)).toBe(true)
    expect(fees.length).toBeLessThan(40)
    await mined()
    expect((await a.anchors())[0]).toStartWith('confirmed 0-')
  }, 60_000)

  fault`36: the transaction of an anchor is dropped, or offers too little → sent again with the same
    nonce; one root`
  test('that a server dropped goes out again with the same bytes', async () => {
    await stuck()
    const [, sent] = await a.transactions()
    await a.rpc('anvil_dropTransaction', sent?.hash)
    a.advance(60_000)
    await a.look()
    await mined()
    expect((await a.anchors())[0]).toStartWith('confirmed 0-')
    expect((await a.transactions()).length).toBe(2)
  }, 60_000)

  test('whose nonce another transaction used is signed again', async () => {
    await stuck()
    const [, sent] = await a.transactions()
    await a.rpc('anvil_dropTransaction', sent?.hash)
    await a.rpc('anvil_impersonateAccount', senderAddress)
    await a.rpc('eth_sendTransaction', { from: senderAddress, to: senderAddress, value: '0x1' })
    await a.rpc('anvil_mine', '0x1')
    await a.look()
    expect((await a.anchors())[0]).toStartWith('pending 0-')
    await a.rpc('evm_setAutomine', true)
    await a.look(2)
    expect((await a.anchors())[0]).toStartWith('confirmed 0-')
    const nonces = (await a.transactions()).map(({ nonce }) => nonce)
    expect(nonces).toEqual([0, 1, 2])
  }, 60_000)

  promise`G11`
  test('that a reorganisation took out of the chain goes back to pending, and gets in again', async () => {
    const id = await a.receipts(1)
    await a.look(2)
    const before = (await a.proof(id)).anchor
    expect(before.status).toBe('confirmed')
    await a.rpc('evm_setAutomine', false)
    await a.rpc('anvil_reorg', 1, [])
    // What a real server would put back into its pool is forgotten here.
    await a.rpc('anvil_dropAllTransactions')
    await a.look()
    expect((await a.anchors())[0]).toStartWith('pending 0-')
    expect((await a.proof(id)).anchor.status).toBe('pending')
    await a.look()
    expect((await a.proof(id)).anchor.status).toBe('submitted')
    await mined()
    const after = (await a.proof(id)).anchor
    expect(after).toMatchObject({ status: 'confirmed', size: before.size, tx_hash: before.tx_hash })
    expect(after.block_hash).not.toBe(before.block_hash)
    expect((await a.transactions()).length).toBe(2)
    await a.rpc('anvil_mine', '0x2')
    await a.look()
    expect((await a.proof(id)).anchor.status).toBe('final')
  }, 60_000)

  test('an empty wallet is said, costs no transaction, and is enough to fill', async () => {
    await a.rpc('anvil_setBalance', senderAddress, '0x0')
    await a.look(3)
    expect((await a.transactions()).length).toBe(1)
    const { status, anchors } = await a.status()
    expect([status, anchors.status, anchors.reason]).toEqual(['degraded', 'degraded', 'no_funds'])
    expect(anchors.sender).toEqual({ address: senderAddress, balance_wei: '0', low: true })
    expect((await a.anchors()).length).toBe(1)
    const ether = (10n ** 18n).toString(16)
    await a.rpc('anvil_setBalance', senderAddress, `0x${ether}`)
    await a.look(2)
    expect((await a.anchors())[0]).toStartWith('confirmed 0-')
    expect((await a.status()).anchors).toMatchObject({ status: 'ok', reason: null })
  }, 60_000)

  test('a wallet that pays for a few more only is low', async () => {
    const gwei = 10n ** 9n
    await a.rpc('anvil_setBalance', senderAddress, `0x${(1_000_000n * gwei).toString(16)}`)
    await a.look(2)
    expect((await a.status()).anchors.sender.low).toBe(true)
  }, 60_000)

  test('what the registry would refuse is not sent, and is said', async () => {
    const thief = a.chain.accounts[3]
    const log = (await a.deps.anchoring.placeOf(a.deps.settings.issuer))?.id
    await a.rpc('anvil_impersonateAccount', senderAddress)
    await a.registry.send(senderAddress, 'setOwner', log, thief)
    await a.look(2)
    expect(await a.anchors()).toEqual([])
    expect((await a.status()).anchors).toMatchObject({ status: 'degraded', reason: 'not_owner' })
  }, 60_000)
})
