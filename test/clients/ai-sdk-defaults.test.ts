import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import {
  APICallError,
  generateText,
  isStepCount,
  jsonSchema,
  type ModelMessage,
  streamText,
  tool,
} from 'ai'
import { noBinary } from '../support/binary.ts'
import { promise } from '../support/promise.ts'
import { said } from '../support/scripted-upstream.ts'
import { type Agents, dot, eachWire, serveAgents, shortage, wordsRead } from './scripted.ts'
import { errorOf } from './served.ts'

const prompt = 'How is the weather in Rome?'

/** What each provider needs: a base URL and a key, nothing else. */
const providers = {
  '@ai-sdk/openai 4.0.118': ({ baseUrl }: Agents, apiKey: string) =>
    createOpenAI({ baseURL: baseUrl, apiKey }),
  '@ai-sdk/anthropic 4.0.105': ({ baseUrl }: Agents, authToken: string) =>
    createAnthropic({ baseURL: baseUrl, authToken }),
}

promise`S12 C: Unmodified clients are billed to the unit what the model server says that it used,
  over turns with tools, in streams and whole.`
describe.skipIf(noBinary).each(Object.entries(providers))('ai 7.0.173 with %s', (_, made) => {
  let served: Agents
  beforeAll(async () => {
    served = await serveAgents()
  }, 60_000)
  afterAll(() => served?.stop())
  const modelOf = (name: string) => made(served, served.secret)(name)

  const cities: string[] = []
  const weather = tool({
    description: 'of a city',
    inputSchema: jsonSchema<{ city: string }>({
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    }),
    execute: async ({ city }) => {
      cities.push(city)
      return 'sunny'
    },
  })

  describe.each(eachWire)('before a server of kind %s is billed right:', (wire) => {
    test.each(['agent', 'thinker'])('plain (%s)', (name) =>
      served.billed(async () => {
        const { text, usage } = await generateText({ model: modelOf(`${wire}/${name}`), prompt })
        expect(text).toBe(said.join(''))
        expect(usage.outputTokens).toBeGreaterThan(0)
      }),
    )

    test.each(['agent', 'thinker'])('streamed (%s)', (name) =>
      served.billed(async () => {
        const result = streamText({ model: modelOf(`${wire}/${name}`), prompt })
        expect(await result.text).toBe(said.join(''))
      }),
    )

    test.each([
      ['agent', false],
      ['agent', true],
      ['thinker', false],
      ['thinker', true],
    ])('a tool loop, its second turn cached (%s, stream %p)', async (name, stream) => {
      cities.length = 0
      const asked = {
        model: modelOf(`${wire}/${name}`),
        prompt,
        tools: { weather },
        stopWhen: isStepCount(3),
      }
      const { runs } = await served.billed(async () => {
        const text = stream ? await streamText(asked).text : (await generateText(asked)).text
        expect(text).toBe(said.join(''))
      })
      expect(cities).toEqual(['Rome', 'Bonn'])
      expect(runs.map(({ lines }) => lines.some(({ meter }) => meter === 'cache_read'))).toEqual([
        false,
        true,
      ])
    })

    test.each([
      ['agent', false],
      ['thinker', true],
    ])('a conversation of three turns with tools (%s, stream %p)', async (name, stream) => {
      const messages: ModelMessage[] = []
      const { entries } = await served.billed(async () => {
        for (const content of [prompt, 'And tomorrow?', 'And the sea?']) {
          messages.push({ role: 'user', content })
          const model = modelOf(`${wire}/${name}`)
          const asked = { model, messages, tools: { weather }, stopWhen: isStepCount(3) }
          const done = stream ? streamText(asked) : await generateText(asked)
          expect(await done.text).toBe(said.join(''))
          messages.push(...(await done.responseMessages))
        }
      })
      expect(entries).toHaveLength(6)
      for (const text of [prompt, 'sunny', 'And tomorrow?', 'And the sea?']) {
        expect(entries.at(-1)?.asked.text).toContain(text)
      }
    })

    test('an image arrives, and is billed', async () => {
      const content = [
        { type: 'text' as const, text: prompt },
        { type: 'image' as const, image: dot, mediaType: 'image/png' },
      ]
      const { entries } = await served.billed(() =>
        generateText({ model: modelOf(`${wire}/agent`), messages: [{ role: 'user', content }] }),
      )
      expect(entries[0]?.asked.hasImage).toBe(true)
    })

    test('an abort in mid-stream', () =>
      served.aborted(async () => {
        const gone = new AbortController()
        const asked = { model: modelOf(`${wire}/endless`), prompt, abortSignal: gone.signal }
        let count = 0
        for await (const word of streamText(asked).textStream) {
          if (word && ++count === wordsRead) gone.abort()
        }
      }))
  })

  test('a 402 says what lacks and what to do, and is asked once', async () => {
    const model = made(served, await served.poorKey())('openai/agent')
    const thrown = await errorOf(generateText({ model, prompt }))
    expect(thrown).toBeInstanceOf(APICallError)
    expect(thrown).toMatchObject({ statusCode: 402, message: expect.stringMatching(shortage) })
  })
})
