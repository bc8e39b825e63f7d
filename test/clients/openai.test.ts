import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { agentCost, said, structured, toolCalls } from '../support/agent-upstream.ts'
import { noBinary } from '../support/binary.ts'
import { errorOf, type Served, serveBinary, setEnvironment } from './served.ts'

type Message = OpenAI.Chat.Completions.ChatCompletionMessageParam
type Paid = { receipt?: { id: string; digest: string; url: string; cost_nusd: number } }
const messages: Message[] = [{ role: 'user', content: 'How is the weather in Rome?' }]
const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'integer' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
}

describe.skipIf(noBinary)('openai 7.55.0', () => {
  let served: Served
  let client: OpenAI
  beforeAll(async () => {
    served = await serveBinary()
    client = made(served.secret)
  }, 60_000)
  afterAll(() => served?.stop())

  /** The client as it comes: it reads the two variables and is told nothing else. */
  const made = (secret: string, slash = '', options = {}) => {
    const reset = setEnvironment(served.baseUrl + slash, secret)
    try {
      return new OpenAI(options)
    } finally {
      reset()
    }
  }
  const receiptOf = ({ receipt }: Paid) => {
    if (!receipt) throw new Error('there is no receipt')
    return receipt
  }

  test.each(['', '/'])('needs the two variables alone; a base URL may end in %p', async (slash) => {
    const own = made(served.secret, slash)
    const answer = await own.chat.completions.create({ model: 'test/agent', messages })
    expect(answer.choices[0]?.message.content).toBe(said.join(''))
    const ids = (await Array.fromAsync(own.models.list())).map(({ id }) => id)
    expect(ids).toContain('test/agent')
    expect((await own.models.retrieve('counterfoil/echo-1')).id).toBe('counterfoil/echo-1')
  })

  test('chat: the answer, its cost, its receipt in the body and by its header', async () => {
    const [run] = await served.ranBy(async () => {
      const { data, response } = await client.chat.completions
        .create({ model: 'test/agent', messages })
        .withResponse()
      expect(data.usage).toMatchObject({ prompt_tokens: 7, cost_nusd: agentCost })
      const receipt = receiptOf(data as Paid)
      expect(response.headers.get('x-receipt-id')).toBe(receipt.id)
      expect(response.headers.get('x-cost-nusd')).toBe(String(agentCost))
      await served.checkReceipt(receipt)
      // By the client's own means, without another one.
      expect(await client.get(`/receipts/${receipt.id}`)).toMatchObject({ digest: receipt.digest })
    })
    expect(run).toMatchObject({ outcome: 'complete', cost_nusd: agentCost })
  })

  test.each([false, true])(
    'stream: every word, the receipt last (include_usage %p)',
    async (is) => {
      const chunks = await Array.fromAsync(
        await client.chat.completions.create({
          model: 'test/agent',
          messages,
          stream: true,
          ...(is ? { stream_options: { include_usage: true } } : {}),
        }),
      )
      const words = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? ''))
      expect(words.join('')).toBe(said.join(''))
      expect(chunks.map((chunk) => 'receipt' in chunk).indexOf(true)).toBe(chunks.length - 1)
      await served.checkReceipt(receiptOf(chunks.at(-1) as Paid))
      expect(chunks.at(-1)?.usage?.total_tokens).toBe(12)
      expect(chunks.filter(({ choices }) => choices.length === 0)).toHaveLength(is ? 1 : 0)
    },
  )

  test('stream helper: the whole answer comes together', async () => {
    const helper = client.chat.completions.stream({ model: 'test/agent', messages })
    expect((await helper.finalChatCompletion()).choices[0]?.message).toMatchObject({
      role: 'assistant',
      content: said.join(''),
    })
  })

  test('tools: calls that stream by index, and a conversation that runs them', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }]
    const helper = client.chat.completions.stream({ model: 'test/agent', messages, tools })
    const { choices } = await helper.finalChatCompletion()
    expect(choices[0]?.finish_reason).toBe('tool_calls')
    expect(choices[0]?.message.tool_calls).toMatchObject(toolCalls)

    const asked: string[] = []
    const weather = ({ city }: { city: string }) => {
      asked.push(city)
      return `sunny in ${city}`
    }
    for (const stream of [false, true]) {
      const made = { name: 'weather', parameters, parse: JSON.parse, function: weather }
      const runner = client.chat.completions.runTools({
        model: 'test/agent',
        messages,
        stream: stream as false,
        tools: [{ type: 'function', function: { ...made, description: 'of a city' } }],
      })
      expect(await runner.finalContent()).toBe(said.join(''))
    }
    expect(asked).toEqual(['Rome', 'Bonn', 'Rome', 'Bonn'])
  })

  test('structured output: parsed, plain and streamed', async () => {
    const asked = {
      model: 'test/agent',
      messages,
      response_format: {
        type: 'json_schema' as const,
        json_schema: { name: 'weather', strict: true, schema },
      },
    }
    const parsed = await client.chat.completions.parse(asked)
    expect(parsed.choices[0]?.message.parsed).toEqual(structured)
    const streamed = await client.chat.completions.stream(asked).finalChatCompletion()
    expect(streamed.choices[0]?.message.parsed).toEqual(structured)
  })

  test('embeddings: as numbers no matter what was asked on the way', async () => {
    const input = ['one', 'two']
    const answer = await client.embeddings.create({ model: 'test/embed', input })
    expect(answer.data.map(({ index }) => index)).toEqual([0, 1])
    expect(answer.data[1]?.embedding.map((n) => Math.round(n * 10))).toEqual([6, 8])
    await served.checkReceipt(receiptOf(answer as Paid))
    const own = await client.embeddings.create({ model: 'counterfoil/embed-1', input: 'one' })
    expect(own.data[0]?.embedding).toHaveLength(256)
  })

  describe('errors', () => {
    type Case = [name: string, model: string, more: object, kind: unknown, status: number]
    const cases: Case[] = [
      ['a field out of range', 'test/agent', { max_tokens: 0 }, OpenAI.BadRequestError, 400],
      ['no such model', 'test/none', {}, OpenAI.NotFoundError, 404],
      ['the model server fails', 'test/broken', {}, OpenAI.InternalServerError, 502],
    ]
    test.each(cases)('%s', async (_, model, more, kind, status) => {
      const own = made(served.secret, '', { maxRetries: 0 })
      const thrown = await errorOf(own.chat.completions.create({ model, messages, ...more }))
      expect(thrown).toBeInstanceOf(kind as typeof OpenAI.APIError)
      const { requestID, code, type } = thrown as InstanceType<typeof OpenAI.APIError>
      expect((thrown as { status: number }).status).toBe(status)
      expect([code, requestID?.slice(0, 4)]).toEqual([type ?? '', 'req_'])
    })

    const ask = async (secret: string) => {
      const own = made(secret, '', { maxRetries: 0 })
      return errorOf(own.chat.completions.create({ model: 'test/agent', messages }))
    }

    test('of keys: unknown, without the right, out of money, too often', async () => {
      const unknown = await ask('sk-service-wrong')
      expect(unknown).toBeInstanceOf(OpenAI.AuthenticationError)
      const reader = await ask(await served.key('--scopes', 'runs:read'))
      expect(reader).toBeInstanceOf(OpenAI.PermissionDeniedError)
      expect(reader).toMatchObject({ code: 'scope_denied' })
      const poor = await ask(await served.poorKey())
      expect(poor).toBeInstanceOf(OpenAI.APIError)
      expect(poor).toMatchObject({ status: 402, code: 'cap_exceeded' })
      expect(Reflect.get(poor as object, 'error')).toMatchObject({
        metadata: { limited_by: 'key', max_affordable_output_tokens: 0 },
      })
      const busy = await served.child({ rpm: 1 })
      const first = made(busy)
      await first.chat.completions.create({ model: 'test/agent', messages })
      expect(await ask(busy)).toBeInstanceOf(OpenAI.RateLimitError)
    })
  })

  test('a failure of the model is tried again by itself, and charged once', async () => {
    for (const stream of [false, true]) {
      const ran = await served.ranBy(async () => {
        const asked = { model: 'test/flaky', messages }
        const text = stream
          ? await client.chat.completions.stream(asked).finalContent()
          : (await client.chat.completions.create(asked)).choices[0]?.message.content
        expect(text).toBe(said.join(''))
      })
      expect(ran.map(({ outcome, cost_nusd }) => [outcome, cost_nusd])).toEqual([
        ['failed', 0],
        ['complete', agentCost],
      ])
    }
  })

  test('a payment that is required is not tried again', async () => {
    const own = made(await served.poorKey())
    let calls = 0
    const counted = own.withOptions({
      fetch: (...asked) => {
        calls++
        return fetch(...asked)
      },
    })
    await errorOf(counted.chat.completions.create({ model: 'test/agent', messages }))
    expect(calls).toBe(1)
  })

  test('an abort stops the model; what was delivered is charged, once', async () => {
    let delivered = 0
    const [run, ...more] = await served.ranBy(async () => {
      const stream = await client.chat.completions.create({
        model: 'test/endless',
        messages,
        stream: true,
      })
      for await (const chunk of stream) {
        if (chunk.choices[0]?.delta.content) delivered++
        if (delivered === 5) stream.controller.abort()
      }
    })
    expect(more).toEqual([])
    expect(run).toMatchObject({ status: 'cancelled', outcome: 'cancelled' })
    const output = run?.lines.find(({ meter }) => meter === 'output')?.quantity ?? 0
    expect(output).toBeGreaterThanOrEqual(5)
    expect(run?.cost_nusd).toBeGreaterThanOrEqual(5 * 2_000)
    expect(run?.cost_nusd).toBeLessThan(run?.hold_nusd ?? 0)
    expect(served.stub.counts.active).toBe(0)
  })
})
