import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import {
  chunkOf,
  embeddingToml,
  expectSettled,
  modelsToml,
  modelToml,
  pricedBuiltins,
  upstreamToml,
} from '../support/runs.ts'
import { type StubHandler, startStubUpstream, stubWords } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

/** The official client as it comes: nothing set but the base URL and the key. */
const clientOf = (w: World, apiKey: string, slash = '') =>
  new OpenAI({ baseURL: `${w.origin}/v1${slash}`, apiKey })

type Stub = Awaited<ReturnType<typeof startStubUpstream>>
type Paid = { receipt?: { id: string; digest: string; url: string; cost_nusd: number } }
let stub: Stub
let scripted: Stub
let script: StubHandler
let w: World
let secret: string
let client: OpenAI
const hello: ChatCompletionMessageParam[] = [{ role: 'user', content: 'hello there my friend' }]
const echo = 'counterfoil/echo-1'

beforeAll(async () => {
  stub = await startStubUpstream()
  scripted = await startStubUpstream({ handler: (call, response) => script(call, response) })
  const toml = [
    pricedBuiltins,
    modelsToml(stub.url, ['normal']),
    upstreamToml('scripted', scripted.url),
    modelToml('scripted/chat', '"scripted:chat"'),
    embeddingToml('stub/embed', '"stub:embed"'),
  ]
  w = await world({ toml: toml.join('\n') })
  secret = (await w.key({ balance: 10n * usd })).secret
  client = clientOf(w, secret)
})
beforeEach(() => {
  stub.calls.length = 0
  scripted.calls.length = 0
})
afterAll(async () => {
  await expectSettled(w)
  await w.stop()
  await stub.stop()
  await scripted.stop()
})

/** Follows the link of a receipt with the same key. */
async function receiptAt(paid: Paid) {
  const { receipt } = paid
  if (!receipt) throw new Error('the answer names no receipt')
  const answer = await fetch(receipt.url, { headers: { authorization: `Bearer ${secret}` } })
  expect(answer.status).toBe(200)
  const file = await answer.json()
  expect(file.digest).toBe(receipt.digest)
  expect(file.receipt.charge.amount).toBe(String(receipt.cost_nusd))
  return file
}

describe('the official client, with only base URL and key set', () => {
  test('a base URL with a slash at its end works as well', async () => {
    const slashed = clientOf(w, secret, '/')
    const said = await slashed.chat.completions.create({ model: echo, messages: hello })
    expect(said.choices[0]?.message.content).toBe('hello there my friend')
    expect((await slashed.models.list()).data.map(({ id }) => id)).toContain(echo)
    expect((await slashed.models.retrieve(echo)).id).toBe(echo)
  })

  test('chat answers, with usage, cost and a receipt that can be fetched', async () => {
    const said = await client.chat.completions.create({ model: echo, messages: hello })
    expect(said.choices[0]?.finish_reason).toBe('stop')
    expect(said.usage).toMatchObject({ prompt_tokens: 4, completion_tokens: 4, total_tokens: 8 })
    // (4 × 150,000 + 4 × 600,000) / 1000
    expect(said.usage).toMatchObject({ cost_nusd: 3_000 })
    const file = await receiptAt(said as Paid)
    expect(file.receipt.run.outcome).toBe('complete')
  })

  test('several choices are answered and charged', async () => {
    const said = await client.chat.completions.create({ model: echo, messages: hello, n: 2 })
    expect(said.choices.map(({ index }) => index)).toEqual([0, 1])
    expect(said.usage?.completion_tokens).toBe(8)
  })

  test('embeddings come in the base64 that the client asks for, and as numbers', async () => {
    for (const model of ['counterfoil/embed-1', 'stub/embed']) {
      const asked = { model, input: ['one text', 'another'] }
      const found = await client.embeddings.create(asked)
      expect(found.data).toHaveLength(2)
      expect(typeof found.data[0]?.embedding[0]).toBe('number')
      const plain = await client.embeddings.create({ ...asked, encoding_format: 'float' })
      expect(plain.data[1]?.embedding.length).toBe(found.data[1]?.embedding.length as number)
      await receiptAt(found as Paid)
    }
  })

  test('the key of the gateway never reaches the upstream', async () => {
    await client.chat.completions.create({ model: 'stub/normal', messages: hello })
    expect(JSON.stringify(stub.calls)).not.toContain(secret)
  })
})

describe('streams of the official client', () => {
  const wanted = { model: 'stub/normal', messages: hello, stream: true } as const

  test('the receipt rides on the finishing chunk when no usage was asked for', async () => {
    const chunks = await Array.fromAsync(await client.chat.completions.create(wanted))
    expect(chunks.every((chunk) => chunk.choices.length > 0)).toBe(true)
    const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')
    expect(text).toBe(stubWords.join(''))
    expect(chunks.filter((chunk) => 'receipt' in chunk)).toHaveLength(1)
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop')
    await receiptAt(chunks.at(-1) as Paid)
  })

  test('with include_usage it rides on the usage chunk, the last', async () => {
    const options = { ...wanted, stream_options: { include_usage: true } }
    const chunks = await Array.fromAsync(await client.chat.completions.create(options))
    const last = chunks.at(-1)
    expect(last?.choices).toEqual([])
    expect(last?.usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 })
    expect(chunks.findIndex((chunk) => 'receipt' in chunk)).toBe(chunks.length - 1)
    await receiptAt(last as Paid)
  })

  test('the stream helper gives the whole answer, for the built-in and for an upstream', async () => {
    for (const model of [echo, 'stub/normal']) {
      const helper = client.chat.completions.stream({
        model,
        messages: hello,
        stream_options: { include_usage: true },
      })
      const said = await helper.finalChatCompletion()
      expect(said.choices[0]?.message.role).toBe('assistant')
      expect(said.choices[0]?.finish_reason).toBe('stop')
      expect(said.usage?.total_tokens).toBeGreaterThan(0)
    }
  })

  test('the helper works though an upstream leaves out the role, for two choices too', async () => {
    script = (_, response) => {
      const said = [0, 1].map((index) => chunkOf({ content: `choice ${index}` }, null, index))
      const ends = [0, 1].map((index) => chunkOf({}, 'stop', index))
      response.end([...said, ...ends, 'data: [DONE]\n\n'].join(''))
    }
    const asked = { model: 'scripted/chat', messages: hello, n: 2 }
    const said = await client.chat.completions.stream(asked).finalChatCompletion()
    expect(said.choices.map(({ message }) => message.content)).toEqual(['choice 0', 'choice 1'])
  })

  test('the X-Receipt-Id of the headers names the receipt of the last chunk', async () => {
    const { data, response } = await client.chat.completions.create(wanted).withResponse()
    const chunks = await Array.fromAsync(data)
    const paid = chunks.at(-1) as Paid
    expect(response.headers.get('x-receipt-id')).toBe(paid.receipt?.id ?? '')
  })
})

describe('tools of the official client', () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }]
  const asked = { model: 'scripted/chat', messages: hello, tools, tool_choice: 'auto' as const }
  const call = (index: number, said: object) => ({ tool_calls: [{ index, ...said }] })

  test('tool calls stream by index and come together again', async () => {
    script = (_, response) => {
      const opens = (index: number, name: string) =>
        call(index, { id: `call_${index}`, type: 'function', function: { name, arguments: '' } })
      const frames = [
        chunkOf({ role: 'assistant', content: null, ...opens(0, 'weather') }),
        chunkOf(call(0, { function: { arguments: '{"city":' } })),
        chunkOf(opens(1, 'weather')),
        chunkOf(call(1, { function: { arguments: '{"city":"Bonn"}' } })),
        chunkOf(call(0, { function: { arguments: '"Rome"}' } })),
        chunkOf({}, 'tool_calls'),
        'data: [DONE]\n\n',
      ]
      response.end(frames.join(''))
    }
    const said = await client.chat.completions.stream(asked).finalChatCompletion()
    const calls = said.choices[0]?.message.tool_calls ?? []
    expect(calls.map((one) => 'function' in one && one.function.arguments)).toEqual([
      '{"city":"Rome"}',
      '{"city":"Bonn"}',
    ])
    expect(said.choices[0]?.finish_reason).toBe('tool_calls')
    expect(scripted.calls[0]?.body).toMatchObject({ tools, tool_choice: 'auto', max_tokens: 1000 })
  })

  test('parameters and the answers of tools pass through to the upstream', async () => {
    const fn = { name: 'weather', arguments: '{}' }
    const tool_calls = [{ id: 'call_1', type: 'function' as const, function: fn }]
    script = (_, response) => {
      const message = { role: 'assistant', content: null, tool_calls }
      const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
      response.end(JSON.stringify({ choices, usage: { prompt_tokens: 9, completion_tokens: 3 } }))
    }
    const options = { seed: 7, temperature: 0.5, stop: ['x'], max_completion_tokens: 9 }
    const messages: ChatCompletionMessageParam[] = [
      ...hello,
      { role: 'assistant', tool_calls },
      { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'sunny' }] },
    ]
    const said = await client.chat.completions.create({ ...asked, ...options, messages })
    expect(said.choices[0]?.message.tool_calls).toEqual(tool_calls)
    expect(scripted.calls[0]?.body).toMatchObject({ ...options, messages, model: 'chat' })
    expect(scripted.calls[0]?.body['max_tokens']).toBeUndefined()
  })
})
