import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { noAnvil } from '../../contracts/anvil.ts'
import { fault, promise } from '../../support/promise.ts'
import { until } from '../../support/runs.ts'
import { faults, type RpcProxy, rpcProxy } from '../chain/proxy.ts'
import { type Anchored, anchoredWorld, worldOn } from './anchored.ts'

describe.skipIf(noAnvil)('a chain that does not answer', () => {
  let a: Anchored
  let proxy: RpcProxy
  let w: Awaited<ReturnType<typeof worldOn>>
  beforeAll(async () => {
    a = await anchoredWorld()
    proxy = rpcProxy(a.chain.url)
    w = await worldOn({ urls: [proxy.url], registry: a.registry.address })
    await w.receipts(2)
    await w.look(4)
  }, 60_000)
  afterEach(() => {
    proxy.fault = undefined
  })
  afterAll(async () => {
    await w.stop()
    await proxy.stop()
    await a.stop()
  })

  /** Looks until the server was asked after its rest, and the trouble is this one. */
  const untilTrouble = (trouble: string | null): Promise<unknown> =>
    until('the chain', async () => {
      await w.look()
      return w.deps.health.chain.trouble === trouble
    })
  const back = (): Promise<unknown> => {
    proxy.fault = undefined
    return untilTrouble(null)
  }

  fault`34`
  test.each(['busy', 'malformed', 'refused', 'unreachable'])(
    'because it is %s changes nothing, and receipts go on being logged',
    async (reason) => {
      const before = await w.anchors()
      proxy.fault = faults[reason]
      await w.receipts(3)
      w.advance(10_000)
      await w.look(2)
      expect(await w.anchors()).toEqual(before)
      const { chain, log, status } = await w.status()
      expect(chain).toMatchObject({ id: 4663, status: reason })
      expect(log.oldest_unanchored_s).toBeGreaterThanOrEqual(10)
      expect(status).toBe('ok')
      expect((await w.proof(await w.receipts(1))).anchor.status).toBe('pending')
      await back()
    },
    30_000,
  )

  promise`F5`
  test('because what comes back is another chain is not believed', async () => {
    proxy.fault = faults['busy']
    await w.receipts(1)
    w.advance(10_000)
    await w.look()
    const before = await w.anchors()
    proxy.fault = faults['wrong_chain']
    await untilTrouble('wrong_chain')
    expect(await w.anchors()).toEqual(before)
    expect((await w.status()).chain.status).toBe('wrong_chain')
    await back()
  }, 30_000)

  test('twice as long as an anchor may take is degraded, and its return takes one transaction', async () => {
    await w.look(3)
    const anchored = await w.anchors()
    const sent = (await w.transactions()).length
    proxy.fault = faults['malformed']
    const id = await w.receipts(5)
    w.advance(599_000)
    await w.look()
    expect((await w.status()).status).toBe('ok')
    w.advance(602_000)
    await w.look()
    const { status, anchors } = await w.status()
    expect([status, anchors.status, anchors.reason]).toEqual(['degraded', 'degraded', 'late'])
    expect(anchors.lag_s).toBeGreaterThan(1200)
    expect((await w.proof(id)).anchor).toMatchObject({ status: 'pending', expected_by: null })
    await back()
    await w.look()
    expect((await w.anchors()).length).toBe(anchored.length + 1)
    expect((await w.transactions()).length).toBe(sent + 1)
    expect((await w.proof(id)).anchor.status).toBe('confirmed')
    expect((await w.status()).status).toBe('ok')
  }, 30_000)

  test('at the start is degraded: no one knows whether the log is whole', async () => {
    const down = rpcProxy(a.chain.url)
    down.fault = faults['busy']
    const late = await worldOn({ urls: [down.url], registry: a.registry.address })
    await late.look()
    const { status, anchors } = await late.status()
    expect([status, anchors.reason]).toEqual(['degraded', 'chain_unavailable'])
    expect((await late.run()).status).toBe(200)
    await late.stop()
    await down.stop()
  }, 30_000)
})
