import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { runPath, signedIn } from '../../front/console/support.ts'
import { soldPlansToml } from '../../support/plans.ts'
import { allRuns, expectSettled, modelsToml, pricedBuiltins } from '../../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'
import { engines, usd, type World, world } from '../../support/world.ts'

// Two hundred at once take their time on a busy machine.
setDefaultTimeout(60_000)

describe.each(engines)('the dashboard with an Idempotency-Key, on %s', (engine) => {
  let w: World
  let stub: StubUpstream
  let own: Awaited<ReturnType<typeof signedIn>>
  beforeAll(async () => {
    stub = await startStubUpstream()
    w = await world({
      engine,
      toml: pricedBuiltins + soldPlansToml + modelsToml(stub.url, ['cut-2']),
    })
    own = await signedIn(w, 500n * usd)
  }, 60_000)
  afterAll(async () => {
    await expectSettled(w)
    await w.stop()
    await stub.stop()
  })

  const post = (path: string, call: string, json: object, accept = '*/*') =>
    own.call(path, { json, headers: { 'idempotency-key': call, accept } })

  test('a plan is bought once, and the answer is the same', async () => {
    const path = '/api/portal/plans/builder/subscribe'
    const first = await post(path, 'buy', {})
    const bought = await first.json()
    expect([first.status, bought.plan, bought.available_nusd]).toEqual([
      200,
      'builder',
      480_000_000_000,
    ])
    const second = await post(path, 'buy', {})
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect({ ...(await second.json()), as_of: '' }).toEqual({ ...bought, as_of: '' })
    const other = await post('/api/portal/plans/scale/subscribe', 'buy', {})
    expect((await other.json()).plan).toBe('scale')
    const mismatch = await post(path, 'buy', { quoted_at: '2026-01-01T00:00:00.000Z' })
    expect(mismatch.status).toBe(422)
  })

  const asks: [string, string, string][] = [
    ['as events', 'text/event-stream', 'counterfoil/echo-1'],
    ['whole', 'application/json', 'counterfoil/echo-1'],
    ['as events that broke off', 'text/event-stream', 'stub/cut-2'],
    ['whole that broke off', 'application/json', 'stub/cut-2'],
  ]
  test.each(asks)('the console runs once, answered %s', async (how, accept, model) => {
    const ask = { model, input: 'hello there' }
    const runs = (await allRuns(w)).length
    const first = await post(runPath, how, ask, accept)
    const text = await first.text()
    const second = await post(runPath, how, ask, accept)
    expect(await second.text()).toBe(text)
    expect(second.status).toBe(first.status)
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'))
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect((await allRuns(w)).length).toBe(runs + 1)
    expect(text.includes('"error"') && !text.includes('"error":null')).toBe(model === 'stub/cut-2')
  })
})
