import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { scopes } from '../../../src/access/keys/key.ts'
import { readExport } from '../../../src/front/mcp/api/read-export.ts'
import { promise } from '../../support/promise.ts'
import { modelsToml, pricedBuiltins, until } from '../../support/runs.ts'
import { startStubUpstream } from '../../support/stub-upstream.ts'
import { usd, type World, world } from '../../support/world.ts'
import { clients } from './clients.ts'

const echo = 'counterfoil/echo-1'

let stub: Awaited<ReturnType<typeof startStubUpstream>>
let w: World
beforeAll(async () => {
  stub = await startStubUpstream()
  w = await world({ toml: `${pricedBuiltins}\n${modelsToml(stub.url, ['stall'])}` })
})
afterAll(async () => {
  await w.stop()
  await stub.stop()
})

const connect = clients['client v2']
type Client = Awaited<ReturnType<typeof connect>>

async function using<T>(secret: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect(w.origin, secret)
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

const errorOf = ({ body }: { body: Record<string, unknown> }) =>
  (body['error'] as { type?: string } | undefined)?.type

const wish = { name: 'below', cap: { limit_nusd: 1_000_000 } }

describe('mint_key', () => {
  promise`A22 C: Through MCP a key makes and revokes only keys below it, within its cap, and is
    refused as under /v1.`
  test('A key that mint_key made pays from the cap of the key above it.', async () => {
    const { secret } = await w.key({ balance: usd, scopes: [...scopes] })
    await using(secret, async (client) => {
      const made = await client.call('mint_key', wish)
      expect(made.body).toMatchObject({ object: 'key', cap: { limit_nusd: 1_000_000 } })
      const below = String(made.body['secret'])
      const asked = { model: echo, input: 'one two three', max_output_tokens: 10 }
      const ran = await using(below, (child) => child.call('run', asked))
      expect(ran.body).toMatchObject({ cost_nusd: 2250 })
      const self = await client.call('key_self')
      expect(self.body).toMatchObject({ cap: { spent_nusd: 2250 } })
    })
  })

  test('An idempotency_key makes one key, whose secret is shown once.', async () => {
    const { secret } = await w.key({ scopes: [...scopes] })
    await using(secret, async (client) => {
      const first = await client.call('mint_key', { ...wish, idempotency_key: 'k' })
      const again = await client.call('mint_key', { ...wish, idempotency_key: 'k' })
      expect(again.body).toEqual({ ...first.body, secret: null })
    })
  })

  promise`A22`
  test('A key without keys:mint, and a cap above that of the parent, are refused.', async () => {
    const { secret } = await w.key({ scopes: ['runs:write'] })
    const denied = await using(secret, (client) => client.call('mint_key', wish))
    expect([denied.isError, errorOf(denied)]).toEqual([true, 'scope_denied'])
    const small = await w.key({ scopes: [...scopes], capLimit: 1000n })
    const json = { ...wish, cap: { limit_nusd: 1001 } }
    const refused = await using(small.secret, (client) => client.call('mint_key', json))
    const plain = await (await w.call('/v1/keys', { key: small.secret, json })).json()
    const request_id = expect.stringMatching(/^req_/)
    expect(refused.body).toEqual({ error: { ...plain.error, request_id } })
  })
})

describe('revoke_key', () => {
  promise`A22`
  test('A key below is revoked at once; keys of others are the same 404 as none.', async () => {
    const { secret } = await w.key({ scopes: [...scopes] })
    const stranger = await w.key({ account: `0x${'ab'.repeat(20)}` })
    await using(secret, async (client) => {
      const made = await client.call('mint_key', wish)
      const id = made.body['id']
      const revoked = await client.call('revoke_key', { id })
      expect(revoked.body).toMatchObject({ object: 'key', id, status: 'revoked' })
      const used = await w.call('/v1/keys/self', { key: String(made.body['secret']) })
      expect((await used.json()).error.type).toBe('key_revoked')
      for (const other of [stranger.key.id, 'key_none', '../../runs']) {
        const missing = await client.call('revoke_key', { id: other })
        expect([other, errorOf(missing)]).toEqual([other, 'not_found'])
      }
    })
    expect((await w.call('/v1/keys/self', { key: stranger.secret })).status).toBe(200)
  })

  test('A key without keys:mint revokes itself and no other.', async () => {
    const { secret } = await w.key({ scopes: ['runs:read'] })
    const other = await w.key()
    await using(secret, async (client) => {
      const denied = await client.call('revoke_key', { id: other.key.id })
      expect(errorOf(denied)).toBe('scope_denied')
      const self = await client.call('revoke_key', { id: 'self' })
      expect(self.body).toMatchObject({ status: 'revoked' })
    })
  })
})

test('cancel_run stops a run, and a run that ended is a conflict.', async () => {
  const { secret } = await w.key({ balance: usd })
  const json = { model: 'stub/stall', input: 'wait', max_output_tokens: 5, background: true }
  const { id } = await (await w.call('/v1/runs', { key: secret, json })).json()
  await until('the run', () => w.deps.live.count() > 0)
  await using(secret, async (client) => {
    const cancelled = await client.call('cancel_run', { id })
    expect(cancelled.body).toMatchObject({ object: 'run', id })
    await until('its end', () => w.deps.live.count() === 0)
    expect(errorOf(await client.call('cancel_run', { id }))).toBe('conflict')
    expect(errorOf(await client.call('cancel_run', { id: 'run_none' }))).toBe('not_found')
  })
})

describe('export_usage', () => {
  test('The text of export_usage is the file that the route gives.', async () => {
    const { secret } = await w.key({ balance: usd })
    await using(secret, async (client) => {
      await client.call('run', { model: echo, input: 'counted', max_output_tokens: 5 })
      for (const format of ['csv', 'jsonl', 'focus']) {
        const plain = await w.call(`/v1/usage/export?format=${format}`, { key: secret })
        const exported = await client.call('export_usage', { format })
        expect(exported.body).toEqual({
          object: 'usage.export',
          content_type: plain.headers.get('content-type') ?? '',
          as_of: Number(plain.headers.get('x-as-of')),
          text: await plain.text(),
          is_whole: true,
        })
      }
    })
    const { secret: poor } = await w.key({ scopes: ['runs:read'] })
    const denied = await using(poor, (client) => client.call('export_usage'))
    expect(errorOf(denied)).toBe('scope_denied')
  })

  test('Of a file above 256 KiB it gives whole lines, and reads no further.', async () => {
    const line = `${'x'.repeat(999)}\n`
    let pulled = 0
    let isCancelled = false
    const body = new ReadableStream<Uint8Array>({
      pull(open) {
        pulled++
        open.enqueue(new TextEncoder().encode(line))
      },
      cancel() {
        isCancelled = true
      },
    })
    const file = await readExport(new Response(body, { headers: { 'x-as-of': '7' } }))
    expect(file).toMatchObject({ is_whole: false, as_of: 7, text: line.repeat(262) })
    expect([isCancelled, pulled < 270]).toEqual([true, true])
  })
})

test('The hints of each tool say whether it reads, adds or ends something.', async () => {
  const answer = await w.call('/mcp', {
    headers: { accept: 'application/json, text/event-stream' },
    json: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  })
  const text = await answer.text()
  const { tools } = JSON.parse(text.startsWith('event:') ? (text.split('data: ')[1] ?? '') : text)
    .result as { tools: { name: string; annotations: Record<string, boolean> }[] }
  const named = (wanted: (hints: Record<string, boolean>) => boolean) =>
    tools.filter(({ annotations }) => wanted(annotations)).map(({ name }) => name)
  expect(named((hints) => hints['readOnlyHint'] === false)).toEqual([
    'run',
    'get_quote',
    'cancel_run',
    'mint_key',
    'revoke_key',
  ])
  expect(named((hints) => hints['destructiveHint'] === true)).toEqual(['cancel_run', 'revoke_key'])
})

test('get_quote promises a price, run is charged by it, and verify_receipt finds it kept.', async () => {
  const { secret } = await w.key({ balance: usd, scopes: [...scopes] })
  await using(secret, async (client) => {
    const most = { max_input_tokens: 200, max_output_tokens: 5, valid_s: 60 }
    const quote = await client.call('get_quote', { model: echo, ...most })
    expect(quote.body).toMatchObject({ object: 'quote', uses_left: 1 })
    const { id } = quote.body as { id: string }
    const ran = await client.call('run', {
      model: echo,
      input: 'x',
      max_output_tokens: 5,
      quote: id,
    })
    const receiptId = (ran.body as { receipt_id: string }).receipt_id
    const receipt = await client.call('get_receipt', { id: receiptId })
    const json = { receipt: receipt.body, quote: quote.body }
    const verdict = await client.call('verify_receipt', json)
    const { checks } = verdict.body as { checks: { name: string; status: string }[] }
    expect(checks.find(({ name }) => name === 'quote')?.status).toBe('pass')
    expect(errorOf(await client.call('run', { model: echo, input: 'x', quote: id }))).toBe('gone')
  })
})
