import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'
import { toolCalls } from '../support/agent-upstream.ts'
import { pieces } from '../support/messages-upstream.ts'
import { lastRun } from '../support/runs.ts'
import { type Doors, serveDoors } from './doors.ts'

/** Server kinds by the protocol that each speaks, and what each says. */
const wires = {
  openai: { said: 'It is sunny in Rome.', input: 7, output: 5, cached: 0 },
  anthropic: { said: pieces.join(''), input: 30, output: 12, cached: 20 },
  responses: { said: pieces.join(''), input: 30, output: 12, cached: 20 },
} as const
type Wire = keyof typeof wires

const parameters = { type: 'object' as const, properties: { city: { type: 'string' } } }

describe('every door before every kind of model server', () => {
  let doors: Doors
  let w: Doors['w']
  let anthropic: Anthropic
  let openai: OpenAI

  beforeAll(async () => {
    doors = await serveDoors()
    ;({ w, anthropic, openai } = doors)
  })
  afterAll(() => doors.stop())

  /** What the last run was charged for equals what the server of its model says it used. */
  async function expectBill(wire: Wire): Promise<void> {
    const { input, output, cached } = wires[wire]
    const run = await lastRun(w)
    const units = Object.fromEntries(run.lines.map(({ meter, quantity }) => [meter, quantity]))
    expect(units).toEqual({
      input: input - cached,
      ...(cached > 0 ? { cache_read: cached } : {}),
      output,
    })
    expect(run.usageSource).toBe('reported')
  }

  for (const wire of Object.keys(wires) as Wire[]) {
    const model = `test/${wire}`
    const { said, input, output, cached } = wires[wire]

    describe(`Messages before ${wire}`, () => {
      const asked = {
        model,
        max_tokens: 500,
        messages: [{ role: 'user' as const, content: 'How is the weather in Rome?' }],
      }
      const tools = [{ name: 'weather', input_schema: parameters }]

      test('a whole answer, its usage and its receipt', async () => {
        const message = await anthropic.messages.create(asked)
        expect(message.content).toEqual([expect.objectContaining({ type: 'text', text: said })])
        expect([message.type, message.stop_reason]).toEqual(['message', 'end_turn'])
        expect(message.usage).toMatchObject({
          input_tokens: input - cached,
          cache_read_input_tokens: cached,
          output_tokens: output,
        })
        const run = await lastRun(w)
        expect(message).toMatchObject({ counterfoil: { cost_nusd: Number(run.cost) } })
        await expectBill(wire)
      })

      test('a stream, through the helper of the official client', async () => {
        const texts: string[] = []
        const stream = anthropic.messages.stream(asked).on('text', (text) => texts.push(text))
        const message = await stream.finalMessage()
        expect(texts.join('')).toBe(said)
        expect(message.content).toEqual([expect.objectContaining({ type: 'text', text: said })])
        expect(message.usage.output_tokens).toBe(output)
        await expectBill(wire)
      })

      test('a loop of tools, streamed', async () => {
        const first = await anthropic.messages.stream({ ...asked, tools }).finalMessage()
        expect(first.stop_reason).toBe('tool_use')
        const calls = first.content.filter((block) => block.type === 'tool_use')
        expect(calls[0]).toMatchObject({ name: 'weather', input: { city: 'Rome' } })
        const results = calls.map(({ id }) => ({
          type: 'tool_result' as const,
          tool_use_id: id,
          content: '31 degrees',
        }))
        const second = await anthropic.messages.create({
          ...asked,
          tools,
          messages: [
            ...asked.messages,
            { role: 'assistant', content: first.content as Anthropic.ContentBlockParam[] },
            { role: 'user', content: results },
          ],
        })
        expect(second.content.at(-1)).toMatchObject({ type: 'text', text: said })
      })
    })

    describe(`Responses before ${wire}`, () => {
      const asked = { model, input: 'How is the weather in Rome?' }
      const tools = [{ type: 'function' as const, name: 'weather', parameters, strict: false }]

      test('a whole answer, its usage and its receipt', async () => {
        const response = await openai.responses.create(asked)
        expect([response.output_text, response.status]).toEqual([said, 'completed'])
        expect(response.usage).toMatchObject({
          input_tokens: input,
          input_tokens_details: { cached_tokens: cached },
          output_tokens: output,
        })
        const run = await lastRun(w)
        expect(response).toMatchObject({ counterfoil: { cost_nusd: Number(run.cost) } })
        await expectBill(wire)
      })

      test('a stream, through the helper of the official client', async () => {
        let text = ''
        const stream = openai.responses.stream(asked)
        stream.on('response.output_text.delta', ({ delta }) => {
          text += delta
        })
        const response = await stream.finalResponse()
        expect([text, response.output_text]).toEqual([said, said])
        await expectBill(wire)
      })

      test('a loop of tools, streamed', async () => {
        const first = await openai.responses.stream({ ...asked, tools }).finalResponse()
        const calls = first.output.filter((item) => item.type === 'function_call')
        expect(JSON.parse(calls[0]?.arguments ?? '')).toEqual({ city: 'Rome' })
        const results = calls.map(({ call_id }) => ({
          type: 'function_call_output' as const,
          call_id,
          output: '31 degrees',
        }))
        const second = await openai.responses.create({
          ...asked,
          tools,
          input: [{ role: 'user', content: asked.input }, ...first.output, ...results] as never,
        })
        expect(second.output_text).toBe(said)
      })
    })

    describe(`Chat Completions before ${wire}`, () => {
      const messages = [{ role: 'user' as const, content: 'How is the weather in Rome?' }]
      const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }]

      test('a whole answer and its usage', async () => {
        const done = await openai.chat.completions.create({ model, messages })
        expect(done.choices[0]?.message.content).toBe(said)
        expect(done.usage).toMatchObject({ prompt_tokens: input, completion_tokens: output })
        await expectBill(wire)
      })

      test('a stream, through the helper of the official client', async () => {
        const stream = openai.chat.completions.stream({ model, messages })
        expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe(said)
        await expectBill(wire)
      })

      test('a loop of tools, streamed', async () => {
        const stream = openai.chat.completions.stream({ model, messages, tools })
        const first = (await stream.finalChatCompletion()).choices[0]
        const calls = first?.message.tool_calls ?? []
        const known = wire === 'openai' ? toolCalls : [{ function: { name: 'weather' } }]
        expect(calls).toMatchObject(known)
        const results = calls.map(({ id }) => ({
          role: 'tool' as const,
          tool_call_id: id,
          content: '31 degrees',
        }))
        const turn = { role: 'assistant' as const, content: null, tool_calls: calls }
        const more = [...messages, turn as never, ...results]
        const second = await openai.chat.completions.create({ model, messages: more, tools })
        expect(second.choices[0]?.message.content).toBe(said)
      })
    })
  }
})
