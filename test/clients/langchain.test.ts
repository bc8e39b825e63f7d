import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ChatOpenAI, type ChatOpenAIFields, OpenAIEmbeddings } from '@langchain/openai'
import OpenAI from 'openai'
import { agentCost, said, structured } from '../support/agent-upstream.ts'
import { noBinary } from '../support/binary.ts'
import { errorOf, type Served, serveBinary, setEnvironment } from './served.ts'

type Receipt = { id: string; digest: string; cost_nusd: number }
const prompt = 'How is the weather in Rome?'
const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const weather = {
  title: 'weather',
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'integer' } },
  required: ['city', 'degrees'],
}

describe.skipIf(noBinary)('@langchain/openai 1.6.0', () => {
  let served: Served
  let reset = () => {}
  beforeAll(async () => {
    served = await serveBinary()
    reset = setEnvironment(served.baseUrl, served.secret)
  }, 60_000)
  afterAll(async () => {
    reset()
    await served?.stop()
  })

  /** The client as it comes: it reads the two variables, late, and is told the model. */
  const made = (model = 'test/agent', fields: ChatOpenAIFields = {}) =>
    new ChatOpenAI({ model, ...fields })
  const rawOf = ({ additional_kwargs }: { additional_kwargs: Record<string, unknown> }) => {
    const raw = additional_kwargs['__raw_response'] as { receipt?: Receipt } | undefined
    if (!raw?.receipt) throw new Error('there is no receipt')
    return raw.receipt
  }

  test.each(['', '/'])('needs the two variables alone; a base URL may end in %p', async (slash) => {
    const before = setEnvironment(served.baseUrl + slash, served.secret)
    try {
      expect((await made().invoke(prompt)).content).toBe(said.join(''))
    } finally {
      before()
    }
  })

  test('chat: the answer, its cost and its receipt', async () => {
    const [run] = await served.ranBy(async () => {
      const answer = await made('test/agent', { __includeRawResponse: true }).invoke(prompt)
      expect(answer.usage_metadata).toMatchObject({ input_tokens: 7, output_tokens: 5 })
      expect(answer.response_metadata['usage']).toMatchObject({ cost_nusd: agentCost })
      await served.checkReceipt(rawOf(answer))
    })
    expect(run).toMatchObject({ outcome: 'complete', cost_nusd: agentCost })
  })

  test('stream: every word; the message is named as its run, which names its receipt', async () => {
    const chunks = await Array.fromAsync(await made().stream(prompt))
    expect(chunks.map(({ content }) => content).join('')).toBe(said.join(''))
    const all = chunks.slice(1).reduce((sum, chunk) => sum.concat(chunk), chunks[0] ?? fail())
    expect(all.usage_metadata?.total_tokens).toBe(12)
    expect(all.response_metadata['usage']).toMatchObject({ cost_nusd: agentCost })
    const path = `/v1/runs/${all.id}`
    const run = await (await served.server.call(path, { key: served.secret })).json()
    expect(run).toMatchObject({ cost_nusd: agentCost, receipt_id: expect.stringMatching(/^rcpt_/) })
  })

  test('stream without usage asked for: the receipt on the last chunk that came, and usage', async () => {
    const client = made('test/agent', { streamUsage: false, __includeRawResponse: true })
    const chunks = await Array.fromAsync(await client.stream(prompt))
    // The client makes a chunk of its own from the usage, which follows the last one that came.
    await served.checkReceipt(rawOf(chunks.at(-2) ?? fail()))
    expect(chunks.at(-1)?.usage_metadata?.total_tokens).toBe(12)
  })

  test('tools: calls whole and streamed, and the answer to what they said', async () => {
    const fn = { name: 'weather', description: 'of a city', parameters: city }
    const client = made().bindTools([{ type: 'function', function: fn }])
    const called = await client.invoke(prompt)
    const expected = [{ city: 'Rome' }, { city: 'Bonn' }]
    expect(called.tool_calls?.map(({ args }) => args)).toEqual(expected)
    const chunks = await Array.fromAsync(await client.stream(prompt))
    const all = chunks.slice(1).reduce((sum, chunk) => sum.concat(chunk), chunks[0] ?? fail())
    expect(all.tool_calls?.map(({ args }) => args)).toEqual(expected)
    const answers = (called.tool_calls ?? []).map(({ id }) => ({
      role: 'tool' as const,
      tool_call_id: id ?? '',
      content: 'sunny',
    }))
    const asked = [{ role: 'user' as const, content: prompt }, called, ...answers]
    expect((await client.invoke(asked)).content).toBe(said.join(''))
  })

  test('structured output: by schema, as an object, by a function', async () => {
    const client = made()
    for (const method of ['jsonSchema', 'jsonMode'] as const) {
      const output = client.withStructuredOutput<typeof structured>(weather, { method })
      expect(await output.invoke(prompt)).toEqual(structured)
    }
    const called = client.withStructuredOutput(city, { method: 'functionCalling', name: 'weather' })
    expect(await called.invoke(prompt)).toEqual({ city: 'Rome' })
  })

  test('embeddings', async () => {
    const ask = (model: string) => new OpenAIEmbeddings({ model }).embedDocuments(['one', 'two'])
    const [run] = await served.ranBy(async () => {
      const found = await ask('test/embed')
      expect(found.map((one) => one.map((n) => Math.round(n * 10)))).toEqual([
        [6, 8],
        [6, 8],
      ])
    })
    expect(run).toMatchObject({ outcome: 'complete', cost_nusd: 7_000 })
    expect((await ask('counterfoil/embed-1'))[0]).toHaveLength(256)
  })

  test('errors: in the classes of openai, with status, code and message', async () => {
    const ask = async (apiKey: string, model = 'test/agent') => {
      const client = made(model, { apiKey, maxRetries: 0 })
      return (await errorOf(client.invoke(prompt))) as InstanceType<typeof OpenAI.APIError>
    }
    type Case = [asked: Promise<unknown>, kind: unknown, status: number, code: string]
    const busy = await served.child({ rpm: 1 })
    await made('test/agent', { apiKey: busy }).invoke(prompt)
    const reader = await served.key('--scopes', 'runs:read')
    const { secret } = served
    const cases: Case[] = [
      [ask('sk-service-wrong'), OpenAI.AuthenticationError, 401, 'invalid_key'],
      [ask(reader), OpenAI.PermissionDeniedError, 403, 'scope_denied'],
      [ask(await served.poorKey()), OpenAI.APIError, 402, 'cap_exceeded'],
      [ask(secret, 'test/none'), OpenAI.NotFoundError, 404, 'model_not_found'],
      [ask(secret, 'test/broken'), OpenAI.InternalServerError, 502, 'upstream_error'],
      [ask(busy), OpenAI.RateLimitError, 429, 'rate_limited'],
    ]
    for (const [asked, kind, status, code] of cases) {
      const thrown = await asked
      expect(thrown).toBeInstanceOf(kind as typeof OpenAI.APIError)
      expect(thrown).toMatchObject({ status, code, message: expect.stringContaining(`${status} `) })
    }
  })

  test('a failure of the model is tried again by itself, and charged once', async () => {
    const client = made('test/flaky')
    for (const ask of [
      async () => (await client.invoke(prompt)).content,
      async () => {
        const chunks = await Array.fromAsync(await client.stream(prompt))
        return chunks.map(({ content }) => content).join('')
      },
    ]) {
      const ran = await served.ranBy(async () => expect(await ask()).toBe(said.join('')))
      expect(ran.map(({ outcome, cost_nusd }) => [outcome, cost_nusd])).toEqual([
        ['failed', 0],
        ['complete', agentCost],
      ])
    }
  }, 30_000)

  test('a payment that is required is not tried again', async () => {
    let calls = 0
    const counted: typeof fetch = Object.assign(
      (...asked: Parameters<typeof fetch>) => {
        calls++
        return fetch(...asked)
      },
      { preconnect: fetch.preconnect },
    )
    const poor = { apiKey: await served.poorKey(), configuration: { fetch: counted } }
    expect(await errorOf(made('test/agent', poor).invoke(prompt))).toMatchObject({ status: 402 })
    expect(calls).toBe(1)
  })

  test('an abort stops the model; what was delivered is charged, once', async () => {
    const client = made('test/endless')
    const [run, ...more] = await served.ranBy(async () => {
      const gone = new AbortController()
      let delivered = 0
      const read = async () => {
        for await (const chunk of await client.stream(prompt, { signal: gone.signal })) {
          if (chunk.content && ++delivered === 5) gone.abort()
        }
      }
      await errorOf(read())
      expect(delivered).toBeGreaterThanOrEqual(5)
    })
    expect(more).toEqual([])
    expect(run).toMatchObject({ status: 'cancelled', outcome: 'cancelled' })
    expect(run?.cost_nusd).toBeGreaterThanOrEqual(5 * 2_000)
    expect(run?.cost_nusd).toBeLessThan(run?.hold_nusd ?? 0)
    expect(served.stub.counts.active).toBe(0)
  })
})

function fail(): never {
  throw new Error('there are no chunks')
}
