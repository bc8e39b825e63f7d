import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../../src/app/routes.ts'
import { serve } from '../../../src/web/http/serve.ts'
import { modelsToml, until } from '../../support/runs.ts'
import { startStubUpstream } from '../../support/stub-upstream.ts'
import { usd, type World, world } from '../../support/world.ts'

let stub: Awaited<ReturnType<typeof startStubUpstream>>
let w: World
beforeAll(async () => {
  stub = await startStubUpstream()
  const toml = `trusted_proxies = ["127.0.0.1", "::1"]\n${modelsToml(stub.url, ['stall', 'normal'])}`
  w = await world({ toml })
})
afterAll(async () => {
  await w.stop()
  await stub.stop()
})

const accept = 'application/json, text/event-stream'
const message = (name: string, args: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
})

/** What a tool answers to one plain request, as no client but curl sends it. */
async function callTool(name: string, args: object, init: { key?: string; headers?: object } = {}) {
  const headers = { accept, ...init.headers }
  const answer = await w.call('/mcp', { ...init, headers, json: message(name, args) })
  const text = await answer.text()
  const data = text.startsWith('event:') ? (text.split('data: ')[1] ?? '') : text
  return JSON.parse(data).result as { isError?: boolean; structuredContent: { error?: object } }
}

const errorOf = async (answer: Response) => {
  const { error } = await answer.json()
  return [answer.status, error.type]
}

describe('POST /mcp', () => {
  test.each(['GET', 'DELETE', 'PUT'])('%s is 405 with Allow', async (method) => {
    const answer = await w.call('/mcp', { method, headers: { accept } })
    expect(answer.headers.get('allow')).toBe('POST')
    expect(await errorOf(answer)).toEqual([405, 'method_not_allowed'])
  })

  test('has the headers of every answer', async () => {
    const answer = await w.call('/mcp', { headers: { accept }, json: message('list_models') })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-request-id')).toStartWith('req_')
    expect(answer.headers.get('cache-control')).toContain('no-store')
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    await answer.text()
  })

  const origins: [origin: string, status: number][] = [
    ['https://evil.example', 403],
    ['http://localhost.evil.example', 403],
    ['http://localhost:1', 403],
    ['null', 403],
    ['chrome-extension://abc', 403],
  ]
  test.each(origins)('a page of %s is %d', async (origin, status) => {
    const headers = { accept, origin }
    const answer = await w.call('/mcp', { headers, json: message('list_models') })
    expect(await errorOf(answer)).toEqual([status, 'csrf_failed'])
  })

  test('a page of our own origin may, by each of its names', async () => {
    const { port } = new URL(w.origin)
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      const headers = { accept, origin: `http://${host}:${port}` }
      const answer = await w.call('/mcp', { headers, json: message('list_models') })
      expect([host, answer.status]).toEqual([host, 200])
      await answer.text()
    }
  })

  test('another Host is 421, before anything', async () => {
    const headers = { accept, host: 'evil.example' }
    const answer = await w.call('/mcp', { headers, json: message('list_models') })
    expect(await errorOf(answer)).toEqual([421, 'misdirected_request'])
  })

  test('a body that is too large, no JSON or of another type is refused', async () => {
    const post = (body: string, type = 'application/json') =>
      w.call('/mcp', { method: 'POST', headers: { accept, 'content-type': type }, body })
    expect(await errorOf(await post(`"${'x'.repeat(33_600_000)}"`))).toEqual([
      413,
      'payload_too_large',
    ])
    expect(await errorOf(await post('{'))).toEqual([400, 'invalid_request'])
    expect(await errorOf(await post('{}', 'text/plain'))).toEqual([415, 'unsupported_media_type'])
  })
})

describe('what a key may, decided under /v1', () => {
  test('a scope that is missing', async () => {
    const { secret } = await w.key({ scopes: ['runs:read'] })
    const { isError, structuredContent } = await callTool('usage', {}, { key: secret })
    expect([isError, structuredContent.error]).toMatchObject([true, { type: 'scope_denied' }])
  })

  test('the address of the caller counts, not that of this process', async () => {
    const { secret: key } = await w.key({ ipCidrs: ['203.0.113.0/24'] })
    const from = (address: string) => ({ key, headers: { 'x-forwarded-for': address } })
    const good = await callTool('key_self', {}, from('203.0.113.9'))
    expect(good.isError).toBeUndefined()
    const bad = await callTool('key_self', {}, from('198.51.100.1'))
    expect(bad.structuredContent.error).toMatchObject({ type: 'ip_not_allowed' })
  })

  test('each call counts against the rate of the key', async () => {
    const { secret: key } = await w.key({ rpm: 2 })
    const calls = []
    for (let n = 0; n < 4; n++) calls.push(await callTool('key_self', {}, { key }))
    const types = calls.map(({ structuredContent }) => structuredContent.error)
    expect(types.at(0)).toBeUndefined()
    expect(types.at(-1)).toMatchObject({ type: 'rate_limited' })
  })

  test('a revoked key cannot be used from then on', async () => {
    const { secret: key } = await w.key()
    await w.call('/v1/keys/self/revoke', { method: 'POST', key })
    const { structuredContent } = await callTool('key_self', {}, { key })
    expect(structuredContent.error).toMatchObject({ type: 'key_revoked' })
  })

  test('a client that hangs up stops its run, and the hold is free again', async () => {
    const { secret, key } = await w.key({ balance: usd })
    const gone = new AbortController()
    const asked = { model: 'stub/stall', input: 'wait', max_output_tokens: 5 }
    const running = w.call('/mcp', {
      key: secret,
      headers: { accept },
      json: message('run', asked),
      signal: gone.signal,
    })
    await until('the run', () => w.deps.live.count() > 0)
    gone.abort()
    await running.then((answer) => answer.text()).catch(() => undefined)
    await until('its end', () => w.deps.live.count() === 0)
    const shown = await w.deps.keys.show(key.id, w.deps.clock.now())
    expect(shown.window?.held ?? 0n).toBe(0n)
  })
})

test('what the server itself gets wrong is an error without detail', async () => {
  const broken = {
    ...w.deps,
    accounts: { ...w.deps.accounts, find: () => Promise.reject(new Error('a secret detail')) },
    settings: { ...w.deps.settings, listen: { hostname: '127.0.0.1', port: 0 } },
  }
  const server = serve(createApp(broken), broken.settings.listen)
  broken.settings.baseUrl = `http://localhost:${server.port}`
  const { secret } = await w.key()
  const answer = await fetch(`${broken.settings.baseUrl}/mcp`, {
    method: 'POST',
    headers: { accept, authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(message('key_self')),
  })
  const text = await answer.text()
  await server.stop(true)
  expect(text).toContain('internal_error')
  expect(text).not.toContain('secret detail')
})

describe('list_models', () => {
  type Page = { data: { id: string }[]; has_more: boolean; next_cursor: string | null }
  const page = async (args: object) => {
    const { structuredContent } = await callTool('list_models', args)
    return structuredContent as unknown as Page
  }
  const idsOf = ({ data }: Page) => data.map(({ id }) => id)

  test('gives the models that a text or a glob fits', async () => {
    expect(idsOf(await page({ filter: 'ECHO' }))).toEqual(['counterfoil/echo-1'])
    const { data } = await (await w.call('/v1/models')).json()
    const own = data
      .map(({ id }: { id: string }) => id)
      .filter((id: string) => /^counterf/.test(id))
    expect(idsOf(await page({ filter: 'counterfoil/*' }))).toEqual(own)
    expect(await page({ filter: 'none' })).toMatchObject({ data: [], next_cursor: null })
  })

  test('gives all of them page by page, each once', async () => {
    const { data } = await (await w.call('/v1/models')).json()
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const next: Page = await page({ limit: 1, ...(cursor === null ? {} : { cursor }) })
      expect(next.has_more).toBe(next.next_cursor !== null)
      seen.push(...idsOf(next))
      cursor = next.next_cursor
    } while (cursor !== null)
    expect(seen).toEqual(data.map(({ id }: { id: string }) => id))
  })

  test('refuses a cursor that it did not give', async () => {
    const { isError, structuredContent } = await callTool('list_models', { cursor: 'none' })
    expect(isError).toBe(true)
    expect(structuredContent.error).toMatchObject({ type: 'invalid_request', param: 'cursor' })
    expect((await callTool('list_models', { limit: 0 })).isError).toBe(true)
  })
})
