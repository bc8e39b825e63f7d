import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { asc } from 'drizzle-orm'
import { operatorTeller } from '../../../src/app/operator-events.ts'
import { writeExposition } from '../../../src/kernel/exposition.ts'
import { checkUpstream } from '../../../src/models/upstream/check.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { promise } from '../../support/promise.ts'
import { modelToml } from '../../support/runs.ts'
import { usd, type World, world } from '../../support/world.ts'

setDefaultTimeout(60_000)

/** A model server whose answer to every run is set from outside. */
async function startProvider() {
  const state = { status: 401, message: 'Incorrect API key provided' }
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const isGood = state.status === 200
      response.writeHead(state.status, { 'content-type': 'application/json' })
      const message = { role: 'assistant', content: 'Hello.' }
      const whole = {
        ...{ id: 'x', object: 'chat.completion', model: 'any' },
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
      }
      response.end(JSON.stringify(isGood ? whole : { error: { message: state.message } }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { state, url: `http://127.0.0.1:${port}/v1`, stop: () => server.close() }
}

describe('a provider that does not take our key or account', () => {
  let provider: Awaited<ReturnType<typeof startProvider>>
  let w: World
  let secret: string
  let now = 0
  beforeAll(async () => {
    provider = await startProvider()
    const toml = `[[upstreams]]\nid = "far"\nbase_url = "${provider.url}"\n`
    w = await world({ toml: toml + modelToml('far/any', '"far:any"'), monotonic: () => now })
    secret = (await w.key({ balance: 10n * usd })).secret
  })
  afterAll(async () => {
    await w?.stop()
    provider?.stop()
  })

  const ask = async () => {
    const json = { model: 'far/any', messages: [{ role: 'user', content: 'hi' }], max_tokens: 9 }
    return await w.call('/v1/chat/completions', { key: secret, json })
  }
  const statusOf = async () => (await (await w.call('/v1/status')).json()) as Told
  type Told = { status: string; models: { degraded: number; failing_upstreams: number } }
  const told = async () => {
    const { events } = w.db.tables
    const all = await w.db.read((q) => rows(q.select().from(events).orderBy(asc(events.place))))
    return all.filter(({ type }) => type.startsWith('upstream.'))
  }

  promise`T13 H: A model server that refuses the operator's key or account is an alarm from its
    first refusal on.`
  test.each([401, 402, 403])(
    'is an alarm with its first %d, and none after it answers again',
    async (status) => {
      const look = operatorTeller(w.deps)
      const before = (await told()).length
      provider.state.status = status
      provider.state.message = 'no'
      const refused = await ask()
      expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([502, 'false'])
      await look()
      expect(await statusOf()).toMatchObject({
        status: 'degraded',
        models: { degraded: 1, failing_upstreams: 1 },
      })
      const [opened] = (await told()).slice(before)
      expect(opened).toMatchObject({ type: 'upstream.opened' })
      expect(JSON.stringify(opened)).toContain(`${status}`)
      const failures = writeExposition(w.deps.meters.families())
      expect(failures).toContain(
        'counterfoil_upstream_failures_total{upstream="far",reason="denied"}',
      )
      provider.state.status = 200
      expect((await ask()).status).toBe(200)
      // It is told for a minute at least, so that no client makes it come and go.
      expect((await statusOf()).status).toBe('degraded')
      now += 60_000
      await look()
      expect(await statusOf()).toMatchObject({
        status: 'ok',
        models: { degraded: 0, failing_upstreams: 0 },
      })
      expect((await told()).slice(before).map(({ type }) => type)).toEqual([
        'upstream.opened',
        'upstream.closed',
      ])
    },
  )

  test("a 403 for what a request says is its client's, and no alarm", async () => {
    provider.state.status = 403
    provider.state.message = 'Your chosen model requires moderation and your input was flagged'
    expect((await ask()).status).toBe(400)
    expect((await statusOf()).status).toBe('ok')
  })
})

describe('why a server is not reached', () => {
  let other: Server
  let port = 0
  beforeAll(async () => {
    other = createServer((request, response) => {
      const isModels = request.url === '/v1/models'
      response.writeHead(isModels ? 200 : 404).end(isModels ? '{"data":[{"id":"any"}]}' : '{}')
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    port = (other.address() as AddressInfo).port
  })
  afterAll(() => void other?.close())

  const servers = (): [words: string, baseUrl: string][] => [
    ['dns', 'http://no-such-host.invalid/v1'],
    ['refused', 'http://127.0.0.1:9/v1'],
    ['tls', `https://127.0.0.1:${port}/v1`],
  ]

  test('is said by the check of upstreams and in the metrics of a run', async () => {
    const ids = servers().map(([id, url]) => `[[upstreams]]\nid = "${id}"\nbase_url = "${url}"\n`)
    const models = servers().map(([id]) => modelToml(`far/${id}`, `"${id}:any"`))
    const w = await world({ toml: [...ids, ...models].join('') })
    try {
      const { secret } = await w.key({ balance: 10n * usd })
      for (const [id, base_url] of servers()) {
        expect(await checkUpstream({ base_url, api_key: undefined })).toEqual({
          status: id as 'dns',
          models: null,
        })
        const json = {
          model: `far/${id}`,
          messages: [{ role: 'user', content: 'hi' }],
          max_tokens: 9,
        }
        const refused = await w.call('/v1/chat/completions', { key: secret, json })
        expect([id, refused.status]).toEqual([id, 502])
      }
      const metrics = writeExposition(w.deps.meters.families())
      for (const [id] of servers()) {
        expect(metrics).toContain(
          `counterfoil_upstream_failures_total{upstream="${id}",reason="${id}"}`,
        )
      }
      expect(metrics).toContain('counterfoil_refusals_total{type="upstream_error"} 3')
      expect(metrics).toContain('counterfoil_refusals_total{type="internal_error"} 0')
      expect(metrics).toContain('counterfoil_reloads_total{result="ok"} 0')
    } finally {
      await w.stop()
    }
  })

  test('a base URL without /v1, or with the path of a door, is found, with the right one', async () => {
    const baseUrl = `http://127.0.0.1:${port}/v1`
    for (const wrong of ['', '/v1/chat/completions', '/v1/responses']) {
      const base_url = `http://127.0.0.1:${port}${wrong}`
      expect(await checkUpstream({ base_url, api_key: undefined })).toEqual({
        status: 'misplaced',
        models: null,
        baseUrl,
      })
    }
    expect((await checkUpstream({ base_url: baseUrl, api_key: undefined })).status).toBe('ok')
    const elsewhere = `http://127.0.0.1:${port}/other/v2`
    expect((await checkUpstream({ base_url: elsewhere, api_key: undefined })).status).toBe(
      'unlisted',
    )
  })
})

describe('a stream that flows', () => {
  test.each([
    ['of words is never cut by timeout_total_ms', (n: number) => word(`w${n} `), 'complete'],
    ['of comments alone is', () => ': waiting\n\n', 'timeout'],
  ])('%s', async (_, piece, outcome) => {
    const server = createServer((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(word('first '))
      let n = 0
      const timer = setInterval(() => {
        n++
        if (n < 12) return void response.write(piece(n))
        clearInterval(timer)
        response.end(`${word('', 'stop')}data: [DONE]\n\n`)
      }, 100)
      response.on('close', () => clearInterval(timer))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const toml = `[[upstreams]]\nid = "slow"\nbase_url = "http://127.0.0.1:${port}/v1"\ntimeout_total_ms = 400\n`
    const w = await world({ toml: toml + modelToml('slow/any', '"slow:any"') })
    try {
      const { secret } = await w.key({ balance: 10n * usd })
      const messages = [{ role: 'user', content: 'hi' }]
      const json = { model: 'slow/any', messages, max_tokens: 99, stream: true }
      const text = await (await w.call('/v1/chat/completions', { key: secret, json })).text()
      expect(text).toContain('first ')
      if (outcome === 'complete') expect(text).toContain('w11 ')
      else expect(text).toContain('upstream_timeout')
      expect(text.includes('[DONE]')).toBe(outcome === 'complete')
    } finally {
      await w.stop()
      server.closeAllConnections()
      server.close()
    }
  })
})

const word = (content: string, finish: string | null = null): string =>
  `data: ${JSON.stringify({
    ...{ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'any' },
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
  })}\n\n`
