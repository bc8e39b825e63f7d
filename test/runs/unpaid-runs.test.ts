import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { grantCredit } from '../../src/ledger/grant.ts'
import { promise } from '../support/promise.ts'
import { modelsToml, modelToml, until, upstreamToml } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { engines, usd, type World, world } from '../support/world.ts'

const limits = '[limits]\nunpaid_runs_per_day = 3\n'
/** Its output alone has a price, so that who hangs up before it pays nothing. */
const freeInput = (name: string, route: string) => `[[models]]
id = "free/${name}"
route = ["${route}"]
kind = "chat"
context_tokens = 10000
max_output_tokens = 1000
input_pusd = 0
output_pusd = 2_000_000
on_disconnect = "cut"
`

describe.each(engines)('runs that held money and cost nothing, on %s', (engine) => {
  let w: World
  let stub: StubUpstream
  let made = 0
  beforeAll(async () => {
    stub = await startStubUpstream()
    const toml =
      limits +
      modelsToml(stub.url, ['normal', 'status-500', 'status-400']) +
      freeInput('stall', 'stub:stall') +
      upstreamToml('nowhere', 'http://127.0.0.1:9') +
      freeInput('after-failure', 'nowhere:a", "stub:stall') +
      modelToml('free/step', '{ to = "stub:normal", input = "$0/M", output = "$0/M" }, "stub:b"')
    w = await world({ engine, now: Date.UTC(2026, 5, 1, 12), toml })
  }, 60_000)
  afterAll(async () => {
    await w.stop()
    await stub.stop()
  })

  async function client() {
    const account = `0x${(++made).toString(16).padStart(40, 'd')}`
    const { secret: key } = await w.key({ account, balance: usd / 2n })
    const ask = (model: string, signal?: AbortSignal) => {
      const json = { model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 }
      return w.call('/v1/chat/completions', { key, json, ...(signal ? { signal } : {}) })
    }
    const status = async (model: string) => {
      const answer = await ask(model)
      await answer.text()
      return answer.status
    }
    /** Hangs up once the model server has the request. */
    const hangUp = async (model = 'free/stall') => {
      const leaves = new AbortController()
      const calls = stub.calls.length
      const asked = ask(model, leaves.signal).catch(() => undefined)
      await until('the call', () => stub.calls.length > calls)
      leaves.abort()
      await asked
      await until('the end', () => w.deps.live.count() === 0)
    }
    const counted = async () => (await w.deps.accounts.find(account))?.unpaidRuns ?? 0
    return { account, ask, status, hangUp, counted }
  }

  promise`T3`
  test('A client that hangs up again and again at no cost gets 429 until midnight or a deposit.', async () => {
    const { account, ask, status, hangUp, counted } = await client()
    for (let i = 0; i < 3; i++) await hangUp()
    expect(await counted()).toBe(3)
    const refused = await ask('stub/normal')
    const { error } = await refused.json()
    expect([refused.status, error.type, error.metadata]).toEqual([
      429,
      'rate_limited',
      { limited_by: 'unpaid_runs' },
    ])
    expect(error.message).toContain('Wait until midnight UTC, or deposit')
    expect(refused.headers.get('retry-after')).toBe(String(12 * 3600))
    await grantCredit(w.deps, { account, amount: usd, reason: 'test', actor: 'test' })
    expect(await status('stub/normal')).toBe(200)
    for (let i = 0; i < 3; i++) await hangUp()
    expect(await status('stub/normal')).toBe(429)
    w.advance(12 * 3_600_000)
    expect(await status('stub/normal')).toBe(200)
    w.advance(-12 * 3_600_000)
  })

  promise`T3`
  test.each(['key_revoked', 'brake', 'session_ended', 'account_suspended'] as const)(
    'A run that ends at no cost by %s counts where its account does that itself.',
    async (reason) => {
      const { ask, status } = await client()
      for (let i = 0; i < 3; i++) {
        const calls = stub.calls.length
        const asked = ask('free/stall')
        await until('the call', () => stub.calls.length > calls)
        for (const run of w.deps.live.all()) run.stop(reason)
        await (await asked).text()
      }
      expect(await status('stub/normal')).toBe(reason === 'account_suspended' ? 200 : 429)
    },
  )

  test('Runs that a step without a price answers count, and the refusal says so.', async () => {
    const { ask, status, counted } = await client()
    for (let i = 0; i < 3; i++) expect(await status('free/step')).toBe(200)
    expect(await counted()).toBe(3)
    const { error } = await (await ask('free/step')).json()
    expect(error.message).toContain('a server without a price answered them')
  })

  test('Requests that the model refuses count, failures of its server and paid runs do not.', async () => {
    const { status, hangUp, counted } = await client()
    for (let i = 0; i < 6; i++) expect(await status('stub/status-500')).toBe(502)
    for (let i = 0; i < 3; i++) await hangUp('free/after-failure')
    for (let i = 0; i < 3; i++) expect(await status('stub/normal')).toBe(200)
    expect(await counted()).toBe(0)
    for (let i = 0; i < 3; i++) expect(await status('stub/status-400')).toBe(400)
    expect(await counted()).toBe(3)
    expect(await status('stub/normal')).toBe(429)
  })
})
