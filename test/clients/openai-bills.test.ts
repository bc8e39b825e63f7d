import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { noBinary } from '../support/binary.ts'
import { promise } from '../support/promise.ts'
import { said, structured } from '../support/scripted-upstream.ts'
import { type Agents, dotUrl, eachWire, serveAgents, shortage, wordsRead } from './scripted.ts'
import { errorOf } from './served.ts'

const question = 'How is the weather in Rome?'
const messages = [{ role: 'user' as const, content: question }]
const city = z.object({ city: z.string() })
const weather = z.object({ city: z.string(), degrees: z.number() })
const parameters = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}

promise`S12`
describe.skipIf(noBinary)('openai 7.55.0 is billed what the model server says', () => {
  let served: Agents
  let client: OpenAI
  beforeAll(async () => {
    served = await serveAgents()
    client = made(served.secret)
  }, 60_000)
  afterAll(() => served?.stop())
  const made = (apiKey: string) => new OpenAI({ baseURL: served.baseUrl, apiKey })

  describe.each(eachWire)('chat before a server of kind %s', (wire) => {
    const model = `${wire}/agent`

    test('plain', () =>
      served.billed(async () => {
        const { choices, usage } = await client.chat.completions.create({ model, messages })
        expect(choices[0]?.message.content).toBe(said.join(''))
        expect(usage?.completion_tokens).toBeGreaterThan(0)
      }))

    test('streamed', () =>
      served.billed(async () => {
        const stream = client.chat.completions.stream({
          model,
          messages,
          stream_options: { include_usage: true },
        })
        expect(await stream.finalContent()).toBe(said.join(''))
      }))

    test('runTools: its second turn reads from the cache', async () => {
      const cities: string[] = []
      const { runs } = await served.billed(async () => {
        const runner = client.chat.completions.runTools({
          model,
          messages,
          stream: true,
          tools: [
            {
              type: 'function',
              function: {
                name: 'weather',
                description: 'of a city',
                parameters,
                parse: (text: string) => city.parse(JSON.parse(text)),
                function: (asked: { city: string }) => {
                  cities.push(asked.city)
                  return 'sunny'
                },
              },
            },
          ],
        })
        expect(await runner.finalContent()).toBe(said.join(''))
      })
      expect(cities).toEqual(['Rome', 'Bonn'])
      expect(runs.map(({ lines }) => lines.some(({ meter }) => meter === 'cache_read'))).toEqual([
        false,
        true,
      ])
    })

    test('an image arrives, and is billed', async () => {
      const { entries } = await served.billed(() =>
        client.chat.completions.create({
          model,
          messages: [
            {
              role: 'user',
              content: [
                { type: 'text', text: question },
                { type: 'image_url', image_url: { url: dotUrl } },
              ],
            },
          ],
        }),
      )
      expect(entries[0]?.asked.hasImage).toBe(true)
    })

    test('an abort in mid-stream', () =>
      served.aborted(async () => {
        const asked = { model: `${wire}/endless`, messages, stream: true as const }
        const stream = await client.chat.completions.create(asked)
        let count = 0
        for await (const { choices } of stream) {
          if (choices[0]?.delta.content) count++
          if (count === wordsRead) stream.controller.abort()
        }
      }))
  })

  describe.each(eachWire)('responses before a server of kind %s', (wire) => {
    const model = `${wire}/agent`

    test('plain', () =>
      served.billed(async () => {
        const { output_text } = await client.responses.create({ model, input: question })
        expect(output_text).toBe(said.join(''))
      }))

    test('.stream(): every word, with reasoning', () =>
      served.billed(async () => {
        const stream = client.responses.stream({ model: `${wire}/thinker`, input: question })
        let text = ''
        stream.on('response.output_text.delta', ({ delta }) => {
          text += delta
        })
        const { output, output_text } = await stream.finalResponse()
        expect([text, output_text]).toEqual([said.join(''), said.join('')])
        expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
      }))

    test('.parse(): an answer of a schema', () =>
      served.billed(async () => {
        const text = { format: zodTextFormat(weather, 'weather') }
        const { output_parsed } = await client.responses.parse({ model, input: question, text })
        expect(output_parsed).toEqual(structured)
      }))

    test('a tool loop whose items are sent again, parsed arguments included', () =>
      served.billed(async () => {
        const tools = [zodResponsesFunction({ name: 'weather', parameters: city })]
        const first = await client.responses.parse({ model, input: question, tools })
        const calls = first.output.filter((item) => item.type === 'function_call')
        expect(calls.map(({ parsed_arguments }) => parsed_arguments)).toEqual([
          { city: 'Rome' },
          { city: 'Bonn' },
        ])
        const results = calls.map(({ call_id }) => ({
          type: 'function_call_output' as const,
          call_id,
          output: 'sunny',
        }))
        const again = calls.map(({ parsed_arguments: _, ...call }) => call)
        const input = [...messages, ...again, ...results]
        const second = await client.responses.create({ model, input, tools })
        expect(second.output_text).toBe(said.join(''))
      }))

    test('an image arrives, and is billed', async () => {
      const { entries } = await served.billed(() =>
        client.responses.create({
          model,
          input: [
            {
              role: 'user',
              content: [
                { type: 'input_text', text: question },
                { type: 'input_image', image_url: dotUrl, detail: 'auto' },
              ],
            },
          ],
        }),
      )
      expect(entries[0]?.asked.hasImage).toBe(true)
    })

    test('an abort in mid-stream', () =>
      served.aborted(async () => {
        const asked = { model: `${wire}/endless`, input: question, stream: true as const }
        const stream = await client.responses.create(asked)
        let count = 0
        for await (const event of stream) {
          if (event.type === 'response.output_text.delta') count++
          if (count === wordsRead) stream.controller.abort()
        }
      }))
  })

  test.each(eachWire)('reasoning named by its id alone is left out before %s', async (wire) => {
    const reference = { type: 'item_reference' as const, id: 'rs_1_0' }
    const unsealed = { type: 'reasoning' as const, id: 'rs_1_1', summary: [] }
    const input = [...messages, reference, unsealed]
    const { entries } = await served.billed(async () => {
      const asked = client.responses.create({ model: `${wire}/agent`, input })
      const { data, response } = await asked.withResponse()
      expect(data.output_text).toBe(said.join(''))
      expect(response.headers.get('x-counterfoil-ignored')).toBe('reasoning items')
    })
    expect(entries[0]?.asked.text).not.toContain('rs_1')
  })

  test('a reference to an item that is not kept is refused, and the refusal names the way', async () => {
    const input = [{ type: 'item_reference' as const, id: 'msg_1' }, ...messages]
    const { runs } = await served.billed(async () => {
      const thrown = await errorOf(client.responses.create({ model: 'responses/agent', input }))
      expect(thrown).toMatchObject({ status: 404, type: 'not_found' })
      expect(String(thrown)).toContain('set "store": false')
    })
    expect(runs).toEqual([])
  })

  test('a 402 says what lacks and what to do, on both doors', async () => {
    const poor = made(await served.poorKey())
    const model = 'openai/agent'
    for (const asked of [
      poor.chat.completions.create({ model, messages }),
      poor.responses.create({ model, input: question }),
    ]) {
      const { status, message } = (await errorOf(asked)) as InstanceType<typeof OpenAI.APIError>
      expect([status, message]).toEqual([402, expect.stringMatching(shortage)])
    }
  })
})
