import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Engine, engines, type World, world } from '../../support/world.ts'

for (const engine of engines) {
  describe(`the state of a server on ${engine}`, () => {
    let w: World
    beforeAll(async () => {
      w = await world({ engine })
    })
    afterAll(() => w.stop())

    test('GET /v1/status tells it to everybody, and pretends nothing', async () => {
      const answer = await w.call('/v1/status')
      expect(answer.status).toBe(200)
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(await answer.json()).toEqual({
        object: 'status',
        status: 'ok',
        version: expect.any(String),
        commit: w.deps.version.commit,
        uptime_s: expect.any(Number),
        chain: { id: 4663, head: null, lag_s: null, status: 'disabled' },
        log: { size: 0, status: 'ok', anchored_size: 0, oldest_unanchored_s: null },
        ledger: 'checking',
        models: { live: 2, degraded: 0, failing_upstreams: 0 },
        clock: { status: 'ok', offset_ms: null },
        database: {
          engine: engineName(engine),
          schema: expect.any(Number),
          migrated: 'ok',
          status: 'ok',
          // No job runs here, so no notice comes back.
          ...(engine !== 'sqlite' && { connections: 'enough', notices: 'polling' }),
        },
        anchors: { status: 'disabled', lag_s: null },
        witnesses: { required: 0, data: [] },
        deposits: { status: 'disabled' },
        features: { chat: true, embeddings: true, runs: true, receipts: true },
      })
    })

    test('its log grows with the receipts of runs', async () => {
      const { secret } = await w.key({ balance: 1n })
      const messages = [{ role: 'user', content: 'hi' }]
      const json = { model: 'counterfoil/echo-1', messages }
      for (let n = 1; n <= 3; n++) {
        await w.call('/v1/chat/completions', { key: secret, json })
        await w.deps.sequencer.flush()
        // The prices are the first leaf.
        expect((await (await w.call('/v1/status')).json()).log.size).toBe(n + 1)
      }
    })

    test('it is degraded while the ledger is not balanced', async () => {
      w.deps.health.ledger = 'unbalanced'
      const told = await (await w.call('/v1/status')).json()
      expect([told.status, told.ledger]).toEqual(['degraded', 'unbalanced'])
      w.deps.health.ledger = 'balanced'
      expect((await (await w.call('/v1/status')).json()).status).toBe('ok')
    })

    test('any Authorization header is ignored', async () => {
      for (const authorization of ['Bearer sk-service-nonsense', 'Basic x', 'Bearer a, Bearer b']) {
        expect((await w.call('/v1/status', { headers: { authorization } })).status).toBe(200)
      }
    })

    test('/livez and /readyz answer supervisors; a stopping server is not ready', async () => {
      expect(await (await w.call('/livez')).json()).toEqual({ status: 'ok' })
      expect(await (await w.call('/readyz')).json()).toEqual({ status: 'ok' })
      w.deps.health.stopping = true
      const answer = await w.call('/readyz')
      const { error } = await answer.json()
      expect([answer.status, error.metadata]).toEqual([503, { reason: 'stopping' }])
      expect((await w.call('/livez')).status).toBe(200)
      w.deps.health.stopping = false
    })
  })
}

const engineName = (engine: Engine) => (engine === 'sqlite' ? 'sqlite' : 'postgres')

describe('a database that is gone', () => {
  test('/readyz is 503, /livez 200, and the status is degraded without detail', async () => {
    const w = await world()
    await w.db.close()
    const answer = await w.call('/readyz')
    const { error } = await answer.json()
    expect([answer.status, error.metadata]).toEqual([503, { reason: 'database' }])
    expect((await w.call('/livez')).status).toBe(200)
    const told = await (await w.call('/v1/status')).json()
    expect([told.status, told.database.status, told.log.size]).toEqual(['degraded', 'down', null])
    await w.stop().catch(() => undefined)
  })
})
