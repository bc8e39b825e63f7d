import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { noAnvil } from '../../contracts/anvil.ts'
import { promise } from '../../support/promise.ts'
import { type Anchored, anchoredWorld, worldOn } from './anchored.ts'

/** Both worlds have the same origin, sender and registry: the second is an old copy of the first. */
describe.skipIf(noAnvil)('a database that is an old copy', () => {
  let a: Anchored
  let old: Awaited<ReturnType<typeof worldOn>>
  let id = ''
  beforeAll(async () => {
    a = await anchoredWorld()
    await a.receipts(6)
    await a.look(3)
    old = await worldOn({ urls: [a.chain.url], registry: a.registry.address })
    id = await old.receipts(2)
    expect((await old.proof(id)).anchor.status).toBe('pending')
    await old.look()
  }, 60_000)
  afterAll(async () => {
    await old.stop()
    await a.stop()
  })

  test('is found out by a look at the chain, also by an idle one', async () => {
    const { status, anchors } = await old.status()
    expect([status, anchors.status]).toEqual(['degraded', 'diverged'])
    expect(old.logged.map(({ event }) => event)).toContain('log.diverged')
  })

  promise`K12`
  test('issues nothing: every way to run is 503 log_diverged, and nothing is held', async () => {
    const messages = [{ role: 'user', content: 'hi' }]
    for (const [path, json] of [
      ['/v1/runs', { model: 'counterfoil/echo-1', input: 'hello' }],
      ['/v1/chat/completions', { model: 'counterfoil/echo-1', messages }],
      ['/v1/embeddings', { model: 'counterfoil/embed-1', input: 'hello' }],
    ] as const) {
      const answer = await old.call(path, { key: old.secret, json })
      const { error } = await answer.json()
      expect([path, answer.status, error.type]).toEqual([path, 503, 'log_diverged'])
    }
    const self = await (await old.call('/v1/keys/self', { key: old.secret })).json()
    expect(JSON.stringify(self)).toContain('"held_nusd":0')
  })

  test('An old copy of a database can still be read.', async () => {
    for (const path of [
      `/v1/receipts/${id}`,
      `/v1/receipts/${id}/proof`,
      '/v1/anchors',
      '/v1/models',
    ]) {
      const answer = await old.call(path, { key: old.secret })
      expect([path, answer.status]).toEqual([path, 200])
    }
  })

  test('signs no checkpoint and anchors nothing', async () => {
    const { origin } = old.deps.logs.current
    const before = await old.deps.checkpoints.latest(origin)
    old.advance(3_600_000)
    await old.look(3)
    expect(await old.deps.checkpoints.latest(origin)).toEqual(before)
    expect(await old.anchors()).toEqual([])
    expect(await old.transactions()).toEqual([])
  })

  test('is the log again when it has what the chain has', async () => {
    // The chain of the other world is at rest; here a look finds that all is well.
    await a.look()
    expect((await a.status()).anchors.status).toBe('ok')
    expect((await a.run()).status).toBe(200)
  })
})
