import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  APICallError,
  embedMany,
  generateText,
  isStepCount,
  jsonSchema,
  Output,
  RetryError,
  streamText,
  tool,
} from 'ai'
import { agentCost, said, structured } from '../support/agent-upstream.ts'
import { noBinary } from '../support/binary.ts'
import { errorOf, type Served, serveBinary } from './served.ts'

type Receipt = { id: string; digest: string; cost_nusd: number }
const prompt = 'How is the weather in Rome?'
const schema = jsonSchema<typeof structured>({
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'integer' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
})

describe.skipIf(noBinary)('ai 7.0.173 with @ai-sdk/openai-compatible 3.0.92', () => {
  let served: Served
  beforeAll(async () => {
    served = await serveBinary()
  }, 60_000)
  afterAll(() => served?.stop())

  type Options = { includeUsage?: boolean; supportsStructuredOutputs?: boolean }
  const made = (apiKey = served.secret, slash = '', more: Options = {}) =>
    createOpenAICompatible({
      name: 'counterfoil',
      baseURL: served.baseUrl + slash,
      apiKey,
      ...more,
    })
  const agent = () => made()('test/agent')

  test.each(['', '/'])('needs a base URL and a key alone; it may end in %p', async (slash) => {
    const { text } = await generateText({ model: made(undefined, slash)('test/agent'), prompt })
    expect(text).toBe(said.join(''))
  })

  test('chat: the answer, its cost, its receipt in the body and by its header', async () => {
    const [run] = await served.ranBy(async () => {
      const asked = { model: agent(), prompt, include: { responseBody: true } }
      const { usage, response } = await generateText(asked)
      expect(usage).toMatchObject({ inputTokens: 7, outputTokens: 5 })
      expect(usage.raw).toMatchObject({ cost_nusd: agentCost })
      const { receipt } = response.body as { receipt: Receipt }
      expect(response.headers?.['x-receipt-id']).toBe(receipt.id)
      await served.checkReceipt(receipt)
    })
    expect(run).toMatchObject({ outcome: 'complete', cost_nusd: agentCost })
  })

  test.each([false, true])('stream: every word, the receipt last (includeUsage %p)', async (is) => {
    const model = made(undefined, '', { includeUsage: is })('test/agent')
    const result = streamText({ model, prompt, include: { rawChunks: true } })
    const raw: { receipt?: Receipt }[] = []
    let text = ''
    for await (const part of result.fullStream) {
      if (part.type === 'text-delta') text += part.text
      if (part.type === 'raw') raw.push(part.rawValue as { receipt?: Receipt })
      if (part.type === 'error') throw part.error
    }
    expect(text).toBe(said.join(''))
    const { receipt } = raw.at(-1) ?? {}
    if (!receipt) throw new Error('there is no receipt')
    await served.checkReceipt(receipt)
    expect((await result.response).headers?.['x-receipt-id']).toBe(receipt.id)
    expect((await result.usage).totalTokens).toBe(12)
  })

  test('tools: a conversation that runs them, plain and streamed', async () => {
    const asked: string[] = []
    const weather = tool({
      inputSchema: jsonSchema<{ city: string }>({
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
      }),
      execute: async ({ city }) => {
        asked.push(city)
        return `sunny in ${city}`
      },
    })
    const wish = { model: agent(), prompt, tools: { weather }, stopWhen: isStepCount(3) }
    expect((await generateText(wish)).text).toBe(said.join(''))
    expect(await streamText(wish).text).toBe(said.join(''))
    expect(asked).toEqual(['Rome', 'Bonn', 'Rome', 'Bonn'])
  })

  test('structured output: in a schema and as an object, plain and streamed', async () => {
    for (const supportsStructuredOutputs of [true, false]) {
      const model = made(undefined, '', { supportsStructuredOutputs })('test/agent')
      const wish = { model, prompt, output: Output.object({ schema }) }
      expect((await generateText(wish)).output).toEqual(structured)
      expect(await streamText(wish).output).toEqual(structured)
    }
  })

  test('embeddings, each with its receipt', async () => {
    const model = made().embeddingModel('test/embed')
    const { embeddings, responses } = await embedMany({ model, values: ['one', 'two'] })
    expect(embeddings).toEqual([
      [0.6, 0.8],
      [0.6, 0.8],
    ])
    const body = responses?.[0]?.body as { receipt: Receipt } | undefined
    if (!body) throw new Error('there is no receipt')
    await served.checkReceipt(body.receipt)
    const own = made().embeddingModel('counterfoil/embed-1')
    expect((await embedMany({ model: own, values: ['one'] })).embeddings[0]).toHaveLength(256)
  })

  describe('errors are an APICallError with status, type and message', () => {
    const ask = async (secret: string, model = 'test/agent') => {
      const asked = { model: made(secret)(model), prompt, maxRetries: 0 }
      const thrown = await errorOf(generateText(asked))
      if (!APICallError.isInstance(thrown)) throw thrown
      const { error } = thrown.data as { error: { type: string; message: string } }
      expect(thrown.message).toBe(error.message)
      expect(thrown.responseHeaders?.['x-request-id']).toStartWith('req_')
      return [thrown.statusCode, error.type, thrown.isRetryable]
    }

    test('what no second try changes', async () => {
      expect(await ask('sk-service-wrong')).toEqual([401, 'invalid_key', false])
      const reader = await served.key('--scopes', 'runs:read')
      expect(await ask(reader)).toEqual([403, 'scope_denied', false])
      expect(await ask(await served.poorKey())).toEqual([402, 'cap_exceeded', false])
      expect(await ask(served.secret, 'test/none')).toEqual([404, 'model_not_found', false])
    })

    test('what one may', async () => {
      expect(await ask(served.secret, 'test/broken')).toEqual([502, 'upstream_error', true])
      const busy = await served.child({ rpm: 1 })
      await generateText({ model: made(busy)('test/agent'), prompt })
      expect(await ask(busy)).toEqual([429, 'rate_limited', true])
    })

    test('a stream that cannot begin says the same', async () => {
      const errors: unknown[] = []
      const model = made(await served.poorKey())('test/agent')
      const result = streamText({ model, prompt, onError: ({ error }) => void errors.push(error) })
      await result.consumeStream()
      expect(errors[0]).toMatchObject({ statusCode: 402, isRetryable: false })
    })
  })

  test('a failure of the model is tried again by itself, and charged once', async () => {
    const model = made()('test/flaky')
    for (const ask of [generateText, streamText]) {
      const ran = await served.ranBy(async () => {
        expect(await (await ask({ model, prompt })).text).toBe(said.join(''))
      })
      expect(ran.map(({ outcome, cost_nusd }) => [outcome, cost_nusd])).toEqual([
        ['failed', 0],
        ['complete', agentCost],
      ])
    }
  }, 30_000)

  test('one that stays is a RetryError, and nothing is charged', async () => {
    const ran = await served.ranBy(async () => {
      const asked = { model: made()('test/broken'), prompt, maxRetries: 1 }
      expect(RetryError.isInstance(await errorOf(generateText(asked)))).toBe(true)
    })
    expect(ran.map(({ cost_nusd }) => cost_nusd)).toEqual([0, 0])
  }, 30_000)

  test('an abort stops the model; what was delivered is charged, once', async () => {
    const [run, ...more] = await served.ranBy(async () => {
      const gone = new AbortController()
      const asked = { model: made()('test/endless'), prompt, abortSignal: gone.signal }
      let delivered = 0
      for await (const part of streamText(asked).fullStream) {
        if (part.type === 'text-delta' && ++delivered === 5) gone.abort()
      }
      expect(delivered).toBeGreaterThanOrEqual(5)
    })
    expect(more).toEqual([])
    expect(run).toMatchObject({ status: 'cancelled', outcome: 'cancelled' })
    expect(run?.cost_nusd).toBeGreaterThanOrEqual(5 * 2_000)
    expect(run?.cost_nusd).toBeLessThan(run?.hold_nusd ?? 0)
    expect(served.stub.counts.active).toBe(0)
  })
})
