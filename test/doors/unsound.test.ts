import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import { messageToChat } from '../../src/models/protocols/messages/answer-to-chat.ts'
import { toMessage } from '../../src/models/protocols/messages/chat-to-answer.ts'
import { toWholeResponse } from '../../src/models/protocols/responses/chat-to-answer.ts'
import { responsesToChat } from '../../src/models/protocols/responses/request-to-chat.ts'
import { eventsOf, startJsonServer } from '../support/messages-upstream.ts'
import { expectSettled, lastRun, modelToml, receiptIdOf, upstreamToml } from '../support/runs.ts'
import { usd, type World, world } from '../support/world.ts'

/** Half of a surrogate pair, as JSON writes it. */
const half = String.raw`"Rome \ud83d"`
const deep = `${'['.repeat(300)}${']'.repeat(300)}`
const usage = { input_tokens: 3, output_tokens: 4 }

const wholeOf = (block: string): string =>
  `{"id":"msg_1","type":"message","role":"assistant","model":"x","content":[${block}],` +
  `"stop_reason":"end_turn","stop_sequence":null,"usage":${JSON.stringify(usage)}}`

const wholes: Record<string, string> = {
  half: wholeOf(`{"type":"text","text":${half}}`),
  name: wholeOf(`{"type":"tool_use","id":"t","name":"f","input":{${half}:1}}`),
  huge: wholeOf(`{"type":"tool_use","id":"t","name":"f","input":{"a":1e999}}`),
  deep: wholeOf(`{"type":"tool_use","id":"t","name":"f","input":{"a":${deep}}}`),
}

const frame = (type: string, rest: string): string =>
  `event: ${type}\ndata: {"type":"${type}",${rest}}\n\n`

/** A stream with one block whose only delta is this. */
const streamOf = (start: string, delta: string): string =>
  frame(
    'message_start',
    `"message":{"id":"m","type":"message","role":"assistant","content":[],"usage":${JSON.stringify(usage)}}`,
  ) +
  frame('content_block_start', `"index":0,"content_block":${start}`) +
  frame('content_block_delta', `"index":0,"delta":${delta}`) +
  frame('content_block_stop', '"index":0') +
  frame('message_delta', '"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}') +
  frame('message_stop', '"x":1')

const call = '{"type":"tool_use","id":"t","name":"f","input":{}}'
const inputDelta = (json: string): string =>
  `{"type":"input_json_delta","partial_json":${JSON.stringify(json)}}`

const streams: Record<string, string> = {
  half: streamOf('{"type":"text","text":""}', `{"type":"text_delta","text":${half}}`),
  name: streamOf(call, inputDelta(`{${half}:1}`)),
  huge: streamOf(call, inputDelta('{"a":1e999}')),
  deep: streamOf(call, inputDelta(`{"a":${deep}}`)),
  cut: streamOf(call, inputDelta('{"a":')),
}

describe('an answer that no receipt could commit to as it came', () => {
  let server: Awaited<ReturnType<typeof startJsonServer>>
  let w: World
  let secret: string

  beforeAll(async () => {
    server = await startJsonServer((body, response) => {
      const name = String(body['model'])
      const isStream = body['stream'] === true
      const type = isStream ? 'text/event-stream' : 'application/json'
      response.writeHead(200, { 'content-type': type })
      if (name === 'plain') response.end(eventsOf(body).join(''))
      else response.end((isStream ? streams : wholes)[name])
    })
    const names = ['plain', ...Object.keys(streams)]
    const models = names.map((name) => modelToml(`far/${name}`, `"far:${name}"`))
    w = await world({
      toml: upstreamToml('far', server.url, 'kind = "anthropic"') + models.join(''),
    })
    secret = (await w.key({ balance: 100n * usd })).secret
  })
  afterAll(async () => {
    await expectSettled(w)
    await w.stop()
    await server.stop()
  })

  const ask = (model: string, more: JsonObject = {}, headers: Record<string, string> = {}) => {
    const messages = [{ role: 'user', content: 'hi' }]
    const json = { model: `far/${model}`, max_tokens: 50, messages, ...more }
    return w.call('/v1/messages', { key: secret, json, headers })
  }

  async function expectPaid(): Promise<void> {
    const run = await lastRun(w)
    expect([run.outcome, run.usageSource]).toEqual(['complete', 'reported'])
    expect(run.cost).toBeGreaterThan(0n)
    const id = await receiptIdOf(w, secret, run.id)
    const file = await (await w.call(`/v1/receipts/${id}`, { key: secret })).json()
    expect(file.receipt.content.output).toMatch(/^0x/)
  }

  test.each(Object.keys(wholes))('whole, with %s, is charged and has a receipt', async (name) => {
    const answer = await ask(name)
    expect(answer.status).toBe(200)
    expect((await answer.json()).counterfoil.receipt).toBeDefined()
    await expectPaid()
  })

  test.each(Object.keys(streams))(
    'streamed, with %s, is charged and has a receipt',
    async (name) => {
      const text = await (await ask(name, { stream: true })).text()
      expect(text).toContain('event: message_stop')
      expect(text).not.toContain('event: error')
      await expectPaid()
    },
  )

  test('a retry with the same Idempotency-Key gets the stream that the first call got', async () => {
    const headers = { 'idempotency-key': 'once-4663' }
    const first = await (await ask('plain', { stream: true }, headers)).text()
    const again = await (await ask('plain', { stream: true }, headers)).text()
    expect(again).toBe(first)
    expect(first.split('event: message_stop')).toHaveLength(2)
    await expectPaid()
  })
})

test('a word that every object has as a member is a word like any other', () => {
  const message = { type: 'message', content: [], stop_reason: 'constructor' }
  const [choice] = (messageToChat(message)?.['choices'] ?? []) as JsonObject[]
  expect(choice?.['finish_reason']).toBe('stop')
  const paid = { usage: { inputTokens: 1, outputTokens: 1 }, counterfoil: {} }
  const said = { message: { content: 'x' }, finish_reason: 'toString' }
  expect(toMessage({ id: 'msg_1', model: 'm' }, said, paid)['stop_reason']).toBe('end_turn')
  const base = { id: 'resp_1', model: 'm', createdAt: 1, asked: {} }
  expect(toWholeResponse(base, said, paid)['status']).toBe('completed')
  const asked = { model: 'm', input: [{ type: 'constructor' }] }
  expect(responsesToChat(asked).ignored).toEqual(['input.constructor'])
})
