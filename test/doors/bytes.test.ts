import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import { startJsonServer } from '../support/messages-upstream.ts'
import { promise } from '../support/promise.ts'
import { expectSettled, lastRun, modelToml, receiptIdOf, upstreamToml } from '../support/runs.ts'
import { usd, type World, world } from '../support/world.ts'

/** A frame as a server writes it: with spaces, an unusual order and an escape, which must stay. */
const frame = (event: string, data: string): string => `event: ${event}\ndata: ${data}\n\n`

/** Answers with what only their own protocol can say, as they came from a server. */
const recorded = {
  messages: {
    path: '/v1/messages',
    ask: {
      max_tokens: 900,
      thinking: { type: 'enabled', budget_tokens: 500 },
      system: [{ type: 'text', text: 'Short.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: [{ type: 'thinking', thinking: 'So.', signature: 'c2lnbmVk' }],
        },
        {
          role: 'user',
          content: [{ type: 'text', text: 'On', cache_control: { type: 'ephemeral' } }],
        },
      ],
      tools: [
        { name: 'f', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } },
      ],
    },
    frames: [
      frame(
        'message_start',
        '{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant",' +
          '"model":"far/m","content":[],"stop_reason":null,"usage":{"input_tokens":3,' +
          '"cache_creation":{"ephemeral_1h_input_tokens":4},"cache_creation_input_tokens":4,' +
          '"cache_read_input_tokens":5,"output_tokens":1}}}',
      ),
      frame('ping', '{"type": "ping"}'),
      frame('brand_new', '{"type":"brand_new","score":1.50,"text":"\\u00e9"}'),
      frame(
        'content_block_start',
        '{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}',
      ),
      frame(
        'content_block_delta',
        '{"index":0,"type":"content_block_delta","delta":{"thinking":"So","type":"thinking_delta"}}',
      ),
      frame(
        'content_block_delta',
        '{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"RXE="}}',
      ),
      frame('content_block_stop', '{"type":"content_block_stop","index":0}'),
      frame(
        'content_block_start',
        '{"type":"content_block_start","index":1,"content_block":{"type":"server_block","id":"x","data":{"a":[1,2]}}}',
      ),
      frame('content_block_stop', '{"type":"content_block_stop","index":1}'),
    ],
    end: [
      frame(
        'message_delta',
        '{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},' +
          '"usage":{"output_tokens":9},"context_management":{"applied_edits":[]}}',
      ),
      frame('message_stop', '{"type":"message_stop"}'),
    ],
    whole: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'far/m',
      content: [
        { type: 'thinking', thinking: 'So', signature: 'RXE=' },
        { type: 'server_block', id: 'x', data: { a: [1, 2] } },
        { type: 'text', text: 'é', citations: [{ type: 'char_location', start: 1 }] },
      ],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 3, cache_read_input_tokens: 5, output_tokens: 9 },
      context_management: { applied_edits: [] },
    },
  },
  responses: {
    path: '/v1/responses',
    ask: {
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'k',
      input: [
        { type: 'reasoning', summary: [], encrypted_content: 'c2VhbGVk' },
        { type: 'message', role: 'assistant', phase: 'final', content: [] },
        { role: 'user', content: [{ type: 'input_text', text: 'On' }] },
      ],
    },
    frames: [
      frame(
        'response.created',
        '{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","status":"in_progress","output":[]}}',
      ),
      frame('response.brand_new', '{"sequence_number":1, "type":"response.brand_new","x":2.0}'),
      frame(
        'response.output_item.added',
        '{"type":"response.output_item.added","output_index":0,"sequence_number":2,' +
          '"item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"Z2Vo"}}',
      ),
      frame(
        'response.output_item.done',
        '{"type":"response.output_item.done","output_index":0,"sequence_number":3,' +
          '"item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"Z2VoZWlt"}}',
      ),
      frame(
        'response.output_item.added',
        '{"type":"response.output_item.added","output_index":1,"sequence_number":4,' +
          '"item":{"id":"ws_1","type":"web_search_call","status":"in_progress"}}',
      ),
      frame(
        'response.web_search_call.searching',
        '{"type":"response.web_search_call.searching","output_index":1,"item_id":"ws_1","sequence_number":5}',
      ),
      frame(
        'response.output_item.done',
        '{"type":"response.output_item.done","output_index":1,"sequence_number":6,' +
          '"item":{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"\\u00e9"}}}',
      ),
    ],
    end: [
      frame(
        'response.completed',
        '{"type":"response.completed","sequence_number":7,"response":{"id":"resp_1","status":"completed",' +
          '"output":[{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"Z2VoZWlt"},' +
          '{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"\\u00e9"}}],' +
          '"usage":{"input_tokens":12,"output_tokens":9},"new_member":1.5}}',
      ),
    ],
    whole: {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      output: [
        { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'Z2VoZWlt' },
        { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { query: 'é' } },
        { id: 'new_1', type: 'brand_new', anything: [1, 2] },
      ],
      usage: { input_tokens: 12, output_tokens: 9 },
      new_member: 1.5,
    },
  },
} as const
const protocols = ['messages', 'responses'] as const

/** An object without the receipt, which stands at its top or in its answer. */
function withoutReceipt(data: JsonObject): JsonObject {
  const { counterfoil, response, ...rest } = data
  if (response === undefined) return rest
  const { counterfoil: _, ...inner } = response as JsonObject
  return { ...rest, response: inner }
}

describe.each(protocols)('%s before a server of its protocol', (protocol) => {
  const { path, ask, frames, end, whole } = recorded[protocol]
  let server: Awaited<ReturnType<typeof startJsonServer>>
  let w: World
  let secret: string

  beforeAll(async () => {
    server = await startJsonServer((body, response) => {
      const isStream = body['stream'] === true
      response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json')
      response.end(isStream ? [...frames, ...end].join('') : JSON.stringify(whole))
    })
    const kind = protocol === 'messages' ? 'anthropic' : 'responses'
    const toml = upstreamToml('far', server.url, `kind = "${kind}"`) + modelToml('far/m', '"far:m"')
    w = await world({ toml })
    secret = (await w.key({ balance: 10n * usd })).secret
  })
  afterAll(async () => {
    await expectSettled(w)
    await w.stop()
    await server.stop()
  })

  const send = (stream: boolean, call: string) => {
    // An answer that is kept says so.
    const store = protocol === 'responses' ? { store: false } : {}
    const json = { model: 'far/m', ...ask, ...store, stream }
    return w.call(path, { key: secret, json, headers: { 'idempotency-key': call } })
  }

  async function expectReceipt(id: string): Promise<void> {
    const run = await lastRun(w)
    expect([run.outcome, run.usageSource, run.cost > 0n]).toEqual(['complete', 'reported', true])
    expect(await receiptIdOf(w, secret, run.id)).toBe(id)
    const file = await (await w.call(`/v1/receipts/${id}`, { key: secret })).json()
    const verdict = await (await w.call('/v1/receipts/verify', { json: file })).json()
    expect(verdict.valid).toBe(true)
  }

  test('each member of the request arrives as it is', async () => {
    await (await send(false, 'request')).text()
    const { stream, model, store, max_output_tokens, ...seen } = server.seen.at(-1)?.body ?? {}
    expect(seen as unknown).toEqual(ask)
  })

  promise`D33`
  test('a stream comes back byte by byte but for the receipt, and so does a replay', async () => {
    const answer = await send(true, 'stream')
    const text = await answer.text()
    const head = frames.join('')
    expect(text.slice(0, head.length)).toBe(head)
    const told = text.slice(head.length).split('\n\n').slice(0, -1)
    expect(told).toHaveLength(end.length)
    const dataOf = (one: string): JsonObject => JSON.parse(one.slice(one.indexOf('{')))
    expect(told.map((one) => withoutReceipt(dataOf(one)))).toEqual(end.map(dataOf))
    // An event without the receipt keeps its bytes there too.
    for (const [at, one] of told.entries()) {
      if (!one.includes('"counterfoil"')) expect(`${one}\n\n`).toBe(end[at] ?? '')
    }
    await expectReceipt(answer.headers.get('x-receipt-id') ?? '')
    const again = await send(true, 'stream')
    expect([again.headers.get('idempotent-replayed'), await again.text()]).toEqual(['true', text])
  })

  test('a whole answer comes back as it is but for the receipt, and so does a replay', async () => {
    const answer = await send(false, 'whole')
    const text = await answer.text()
    const { counterfoil, ...rest } = JSON.parse(text)
    expect(rest).toEqual(whole as unknown)
    await expectReceipt(counterfoil.receipt.id)
    const again = await send(false, 'whole')
    expect([again.headers.get('idempotent-replayed'), await again.text()]).toEqual(['true', text])
  })
})
