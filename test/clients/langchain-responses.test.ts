import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai'
import { noBinary } from '../support/binary.ts'
import { said } from '../support/scripted-upstream.ts'
import { type Agents, dotUrl, eachWire, serveAgents, shortage, wordsRead } from './scripted.ts'
import { errorOf, setEnvironment } from './served.ts'

const prompt = 'How is the weather in Rome?'
const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
}

describe.skipIf(noBinary)('@langchain/openai 1.6.0 with useResponsesApi is billed right', () => {
  let served: Agents
  let reset = () => {}
  beforeAll(async () => {
    served = await serveAgents()
    reset = setEnvironment(served.baseUrl, served.secret)
  }, 60_000)
  afterAll(async () => {
    reset()
    await served?.stop()
  })
  const made = (model: string, fields: ChatOpenAIFields = {}) =>
    new ChatOpenAI({ model, useResponsesApi: true, ...fields })

  describe.each(eachWire)('before a server of kind %s', (wire) => {
    const model = `${wire}/thinker`

    test('plain', () =>
      served.billed(async () => {
        const answer = await made(model).invoke(prompt)
        expect(answer.text).toBe(said.join(''))
        expect(answer.usage_metadata?.output_tokens).toBeGreaterThan(0)
      }))

    test('streamed', () =>
      served.billed(async () => {
        const chunks = await Array.fromAsync(await made(model).stream(prompt))
        expect(chunks.map(({ text }) => text).join('')).toBe(said.join(''))
      }))

    test.each([false, true])(
      'a tool loop, its second turn cached (stream %p)',
      async (streaming) => {
        const fn = { name: 'weather', description: 'of a city', parameters }
        const { runs } = await served.billed(async () => {
          const client = made(model, { streaming }).bindTools([{ type: 'function', function: fn }])
          const called = await client.invoke(prompt)
          expect(called.tool_calls?.map(({ args }) => args)).toEqual([
            { city: 'Rome' },
            { city: 'Bonn' },
          ])
          const results = (called.tool_calls ?? []).map(({ id }) => ({
            role: 'tool' as const,
            tool_call_id: id ?? '',
            content: 'sunny',
          }))
          const asked = [{ role: 'user' as const, content: prompt }, called, ...results]
          expect((await client.invoke(asked)).text).toBe(said.join(''))
        })
        expect(runs.map(({ lines }) => lines.some(({ meter }) => meter === 'cache_read'))).toEqual([
          false,
          true,
        ])
      },
    )

    test('an image arrives, and is billed', async () => {
      const content = [
        { type: 'text', text: prompt },
        { type: 'image_url', image_url: { url: dotUrl } },
      ]
      const { entries } = await served.billed(() =>
        made(`${wire}/agent`).invoke([{ role: 'user', content }]),
      )
      expect(entries[0]?.asked.hasImage).toBe(true)
    })

    test('an abort in mid-stream', () =>
      served.aborted(async () => {
        const gone = new AbortController()
        const read = async () => {
          let count = 0
          const stream = await made(`${wire}/endless`).stream(prompt, { signal: gone.signal })
          for await (const { text } of stream) if (text && ++count === wordsRead) gone.abort()
        }
        await errorOf(read())
      }))
  })

  test('a 402 says what lacks and what to do', async () => {
    const poor = made('openai/agent', { apiKey: await served.poorKey() })
    const thrown = await errorOf(poor.invoke(prompt))
    expect(thrown).toMatchObject({ status: 402, message: expect.stringMatching(shortage) })
  })
})
