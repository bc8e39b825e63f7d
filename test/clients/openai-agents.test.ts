import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents'
import { z } from 'zod'
import { noBinary } from '../support/binary.ts'
import { said } from '../support/scripted-upstream.ts'
import { type Agents, dotUrl, eachWire, serveAgents, shortage, wordsRead } from './scripted.ts'
import { errorOf, setVariables } from './served.ts'

const question = 'How is the weather in Rome?'

describe.skipIf(noBinary)('@openai/agents 0.20.0 is billed what the model server says', () => {
  let served: Agents
  let runner: Runner
  let reset = () => {}
  beforeAll(async () => {
    served = await serveAgents()
    reset = setVariables({ OPENAI_BASE_URL: served.baseUrl, OPENAI_API_KEY: served.secret })
    // As it comes, but for its traces, which go to OpenAI with the key.
    runner = new Runner({ tracingDisabled: true })
  }, 60_000)
  afterAll(async () => {
    reset()
    await served?.stop()
  })

  const cities: string[] = []
  const weather = tool({
    name: 'weather',
    description: 'of a city',
    parameters: z.object({ city: z.string() }),
    execute: ({ city }) => {
      cities.push(city)
      return 'sunny'
    },
  })
  const agentOf = (model: string, tools = [weather]) =>
    new Agent({ name: 'assistant', instructions: 'Be short.', model, tools })

  describe.each(eachWire)('Responses, its default, before a server of kind %s', (wire) => {
    test('plain, and a second turn of its history that reads from the cache', async () => {
      const agent = agentOf(`${wire}/thinker`, [])
      const { runs } = await served.billed(async () => {
        const first = await runner.run(agent, question)
        expect(first.finalOutput).toBe(said.join(''))
        const more = { role: 'user' as const, content: 'And tomorrow?' }
        const second = await runner.run(agent, [...first.history, more])
        expect(second.finalOutput).toBe(said.join(''))
      })
      expect(runs.map(({ lines }) => lines.some(({ meter }) => meter === 'cache_read'))).toEqual([
        false,
        true,
      ])
    })

    test.each([false, true])('a tool loop (stream %p)', async (stream) => {
      cities.length = 0
      await served.billed(async () => {
        const agent = agentOf(`${wire}/thinker`)
        if (!stream) {
          expect((await runner.run(agent, question)).finalOutput).toBe(said.join(''))
          return
        }
        const result = await runner.run(agent, question, { stream: true })
        let text = ''
        for await (const piece of result.toTextStream()) text += piece
        await result.completed
        expect([text, result.finalOutput]).toEqual([said.join(''), said.join('')])
      })
      expect(cities).toEqual(['Rome', 'Bonn'])
    })

    test('an image arrives, and is billed', async () => {
      const content = [
        { type: 'input_text' as const, text: question },
        { type: 'input_image' as const, image: dotUrl },
      ]
      const { entries } = await served.billed(() =>
        runner.run(agentOf(`${wire}/agent`, []), [{ role: 'user', content }]),
      )
      expect(entries[0]?.asked.hasImage).toBe(true)
    })

    test('an abort in mid-stream', () =>
      served.aborted(async () => {
        const gone = new AbortController()
        const asked = { stream: true as const, signal: gone.signal }
        const result = await runner.run(agentOf(`${wire}/endless`, []), question, asked)
        let count = 0
        for await (const piece of result.toTextStream()) {
          if (piece && ++count === wordsRead) gone.abort()
        }
        await result.completed.catch(() => {})
      }))
  })

  test('a 402 says what lacks and what to do', async () => {
    const own = { apiKey: await served.poorKey(), baseURL: served.baseUrl }
    const poor = new Runner({ tracingDisabled: true, modelProvider: new OpenAIProvider(own) })
    const thrown = await errorOf(poor.run(agentOf('openai/agent', []), question))
    expect(String(thrown)).toMatch(shortage)
    expect(thrown).toMatchObject({ status: 402 })
  })
})
