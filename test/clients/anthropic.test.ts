import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { noBinary } from '../support/binary.ts'
import { said } from '../support/scripted-upstream.ts'
import { type Agents, dot, eachWire, serveAgents, shortage, wordsRead } from './scripted.ts'
import { errorOf, setVariables } from './served.ts'

const messages = [{ role: 'user' as const, content: 'How is the weather in Rome?' }]
const limit = { max_tokens: 500 }

describe.skipIf(noBinary)('@anthropic-ai/sdk 1.11.0 is billed what the model server says', () => {
  let served: Agents
  let client: Anthropic
  beforeAll(async () => {
    served = await serveAgents()
    client = made(served.secret)
  }, 60_000)
  afterAll(() => served?.stop())

  /** The client as it comes: it reads the two variables and is told nothing else. */
  const made = (secret: string) => {
    const names = { ANTHROPIC_BASE_URL: served.origin, ANTHROPIC_AUTH_TOKEN: secret }
    const reset = setVariables(names)
    try {
      return new Anthropic()
    } finally {
      reset()
    }
  }

  describe.each(eachWire)('before a server of kind %s', (wire) => {
    const model = `${wire}/agent`
    const asked = { ...limit, model, messages }

    test('plain, with its receipt', async () => {
      const { runs } = await served.billed(async () => {
        const message = await client.messages.create(asked)
        expect(message.content).toMatchObject([{ type: 'text', text: said.join('') }])
        const { counterfoil } = message as never as { counterfoil: { cost_nusd: number } }
        expect(counterfoil.cost_nusd).toBeGreaterThan(0)
      })
      expect(runs).toHaveLength(1)
    })

    test('.stream(): every word, with thinking', () =>
      served.billed(async () => {
        const stream = client.messages.stream({ ...asked, model: `${wire}/thinker` })
        const words: string[] = []
        stream.on('text', (word) => words.push(word))
        const { content, usage } = await stream.finalMessage()
        expect(words.join('')).toBe(said.join(''))
        expect(content.at(-1)).toMatchObject({ type: 'text', text: said.join('') })
        expect(usage.output_tokens).toBeGreaterThan(0)
      }))

    test.each([false, true])(
      'the beta tool runner, its second turn cached (stream %p)',
      async (is) => {
        const cities: string[] = []
        const weather = betaTool({
          name: 'weather',
          description: 'of a city',
          inputSchema: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
          },
          run: ({ city }) => {
            cities.push(city)
            return 'sunny'
          },
        })
        const { runs } = await served.billed(async () => {
          const runner = client.beta.messages.toolRunner({ ...asked, tools: [weather], stream: is })
          const { content } = await runner
          expect(content.at(-1)).toMatchObject({ type: 'text', text: said.join('') })
        })
        expect(cities).toEqual(['Rome', 'Bonn'])
        expect(runs.map(({ lines }) => lines.some(({ meter }) => meter === 'cache_read'))).toEqual([
          false,
          true,
        ])
      },
    )

    test('an image arrives, and is billed', async () => {
      const source = { type: 'base64' as const, media_type: 'image/png' as const, data: dot }
      const content = [
        { type: 'image' as const, source },
        { type: 'text' as const, text: 'What is this?' },
      ]
      const { entries } = await served.billed(() =>
        client.messages.create({ ...asked, messages: [{ role: 'user', content }] }),
      )
      expect(entries[0]?.asked.hasImage).toBe(true)
    })

    test('countTokens is free', async () => {
      const { runs } = await served.billed(async () => {
        const { input_tokens } = await client.messages.countTokens({ model, messages })
        expect(input_tokens).toBeGreaterThan(5)
      })
      expect(runs).toEqual([])
    })

    test('an abort in mid-stream', () =>
      served.aborted(async () => {
        const stream = client.messages.stream({ ...asked, model: `${wire}/endless` })
        let count = 0
        stream.on('text', () => {
          if (++count === wordsRead) stream.abort()
        })
        expect(await errorOf(stream.finalMessage())).toBeInstanceOf(Anthropic.APIUserAbortError)
      }))
  })

  test('a 402 says what lacks and what to do, and is asked once', async () => {
    const poor = made(await served.poorKey())
    const asked = { ...limit, model: 'anthropic/agent', messages }
    const thrown = (await errorOf(poor.messages.create(asked))) as InstanceType<
      typeof Anthropic.APIError
    >
    expect(thrown.status).toBe(402)
    expect(thrown.error).toMatchObject({
      error: { type: 'billing_error', message: expect.stringMatching(shortage) },
    })
  })

  test('the key may stand in either variable: both go as a bearer', async () => {
    const own = new Anthropic({ baseURL: served.origin, apiKey: served.secret, authToken: null })
    const asked = { ...limit, model: 'anthropic/agent', messages }
    expect((await own.messages.create(asked)).stop_reason).toBe('end_turn')
  })
})
