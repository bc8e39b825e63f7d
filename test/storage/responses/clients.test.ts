import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, isStepCount, jsonSchema, type ModelMessage, streamText, tool } from 'ai'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { promise } from '../../support/promise.ts'
import { allRuns, lastRun } from '../../support/runs.ts'
import { said } from '../../support/scripted-upstream.ts'
import { engines } from '../../support/world.ts'
import { eachWire, type Kept, serveKept } from './kept.ts'

setDefaultTimeout(60_000)

describe.each(engines)('clients that name what was kept, on %s', (engine) => {
  let k: Kept
  beforeAll(async () => {
    k = await serveKept({ engine })
  })
  afterAll(() => k.stop())

  const weather = tool({
    description: 'of a city',
    inputSchema: jsonSchema<{ city: string }>({
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    }),
    execute: async ({ city }) => `sunny in ${city}`,
  })

  const each = eachWire.flatMap((wire) =>
    ['agent', 'thinker'].flatMap((name) =>
      [false, true].map((stream) => [`${wire}/${name}`, stream] as const),
    ),
  )

  test.each(each)(
    'the default provider of @ai-sdk/openai holds three turns with tools (%s, stream %p)',
    async (id, stream) => {
      const provider = createOpenAI({ baseURL: `${k.w.origin}/v1`, apiKey: k.secret })
      const messages: ModelMessage[] = []
      for (const content of ['How is Rome?', 'And Bonn?', 'And the sea?']) {
        messages.push({ role: 'user', content })
        const asked = {
          model: provider(id),
          messages,
          tools: { weather },
          stopWhen: isStepCount(4),
        }
        const done = stream ? streamText(asked) : await generateText(asked)
        expect(await done.text).toBe(said.join(''))
        messages.push(...(await done.responseMessages))
      }
      const read = k.read()
      expect(read).not.toContain('item_reference')
      for (const word of [
        'How is Rome?',
        'And Bonn?',
        'And the sea?',
        'sunny in Rome',
        said.join(''),
      ]) {
        expect(read).toContain(word)
      }
      if (id.endsWith('/thinker') && id.startsWith('responses')) expect(read).toContain('c2VhbGVk')
    },
  )

  test.each(each)(
    'previous_response_id goes on with a conversation (%s, stream %p)',
    async (model, stream) => {
      const openai = k.openai()
      const ask = async (input: string, more: object) => {
        const asked = { model, input, instructions: 'Be short.', ...more }
        if (!stream) return openai.responses.create(asked)
        for await (const event of await openai.responses.create({ ...asked, stream: true })) {
          if (event.type === 'response.completed') return event.response
        }
        throw new Error('the stream did not complete')
      }
      let previous: string | undefined
      for (const [at, input] of ['first words', 'second words', 'third words'].entries()) {
        const more = at === 2 ? { instructions: 'Be long.' } : {}
        const answer = await ask(input, { previous_response_id: previous, ...more })
        expect(answer).toMatchObject({ store: true })
        expect(answer.previous_response_id ?? null).toBe(previous ?? null)
        previous = answer.id
      }
      const read = k.read()
      expect(read).toContain('Be long.')
      expect(read).not.toContain('Be short.')
      expect(read).not.toContain('previous_response_id')
      expect(read.split(said.join('')).length - 1).toBe(2)
      const places = ['first words', 'second words', 'third words'].map((one) => read.indexOf(one))
      expect(places.every((place) => place > 0)).toBe(true)
      expect(places).toEqual([...places].sort((one, two) => one - two))
    },
  )

  promise`S7`
  test('reasoning goes back without the status that clients give it and servers refuse', async () => {
    const asked = { model: 'responses/thinker', store: false }
    const { output } = await k.openai().responses.create({ ...asked, input: 'x' })
    const items = output.map((item) => ({ ...item, status: 'completed' }))
    const next = { role: 'user', content: 'And?' }
    const input = [...items, next] as ResponseInputItem[]
    await k.openai().responses.create({ ...asked, input })
    const [reasoning, answer] = JSON.parse(k.read()).input
    expect(reasoning).toMatchObject({ type: 'reasoning', encrypted_content: 'c2VhbGVk' })
    expect(reasoning).not.toHaveProperty('status')
    expect(answer).toHaveProperty('status', 'completed')
  })

  promise`S6`
  test('what is named is held for and billed as if it had been sent', async () => {
    const long = 'a word '.repeat(3000)
    const first = await k.openai().responses.create({ model: 'openai/agent', input: long })
    const asked = { model: 'openai/agent', input: 'And?', previous_response_id: first.id }
    await k.openai().responses.create(asked)
    expect((await lastRun(k.w)).hold).toBeGreaterThan(BigInt(long.length / 4))
    expect((await allRuns(k.w)).every(({ outcome }) => outcome === 'complete')).toBe(true)
  })

  test('a server that stores nothing is asked for sealed reasoning where its model reasons', async () => {
    await k.ask({ model: 'responses/thinker', input: 'x' })
    expect(k.read()).toContain('"include":["reasoning.encrypted_content"]')
    await k.ask({ model: 'responses/thinker', input: 'x', store: false })
    expect(k.read()).not.toContain('include')
    await k.ask({ model: 'responses/agent', input: 'x' })
    expect(k.read()).not.toContain('include')
  })
})
