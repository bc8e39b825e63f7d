import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import { withFunctions } from '../../../src/models/protocols/freeform.ts'
import { ResponseEvents } from '../../../src/models/protocols/responses/write-events.ts'
import { Collector } from '../../../src/runs/answer.ts'
import { FreeformCalls } from '../../../src/runs/freeform-calls.ts'

const cut = (text: string, size: number): string[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  )

/** The chunks of a call of `patch` whose arguments are this text, in pieces of a size. */
function chunksOf(args: string, size: number): JsonObject[] {
  const delta = (call: JsonObject, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] }, finish_reason }],
  })
  return [
    delta({ id: 'call_1', type: 'function', function: { name: 'patch', arguments: '' } }),
    ...cut(args, size).map((piece) => delta({ function: { arguments: piece } })),
    { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
  ]
}

function inputOf(args: string, size: number): unknown {
  const collector = new Collector()
  const calls = new FreeformCalls(new Set(['patch']))
  for (const chunk of calls.chunks(chunksOf(args, size))) collector.addChunk(chunk as JsonObject)
  return collector.answer().choices[0]?.message['tool_calls']
}

const call = (input: string) => [{ id: 'call_1', type: 'custom', custom: { name: 'patch', input } }]

describe('a freeform tool before a server that knows functions', () => {
  test('is a function with one text, and its grammar is in its description', () => {
    const custom = {
      name: 'patch',
      description: 'Changes files.',
      format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: LINE+' } },
    }
    const asked: JsonObject = {
      model: 'm',
      messages: [
        { role: 'user', content: 'Go.' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_0', type: 'custom', custom: { name: 'patch', input: 'a "b"\n' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_0', content: 'Done.' },
      ],
      tools: [{ type: 'custom', custom }],
      tool_choice: { type: 'custom', custom: { name: 'patch' } },
    }
    const { body, freeform, ignored } = withFunctions(asked)
    expect([[...(freeform ?? [])], ignored]).toEqual([['patch'], []])
    expect(body['tools']).toMatchObject([
      {
        type: 'function',
        function: {
          name: 'patch',
          description: expect.stringContaining('start: LINE+'),
          parameters: { required: ['input'], properties: { input: { type: 'string' } } },
        },
      },
    ])
    expect(body['tool_choice']).toEqual({ type: 'function', function: { name: 'patch' } })
    const [, said] = body['messages'] as JsonObject[]
    expect(said?.['tool_calls']).toEqual([
      {
        id: 'call_0',
        type: 'function',
        function: { name: 'patch', arguments: '{"input":"a \\"b\\"\\n"}' },
      },
    ])
  })

  test('a request without one stays as it is', () => {
    const asked: JsonObject = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
    expect(withFunctions(asked).body).toBe(asked)
  })

  test('any text comes back as it was, however its JSON is cut into pieces', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({ unit: 'binary' }),
          fc.constant('\ud83d\ude00 é \\u0041\n'),
        ),
        fc.integer({ min: 1, max: 9 }),
        fc.boolean(),
        (input, size, isSpaced) => {
          const json = JSON.stringify({ input }, null, isSpaced ? 2 : undefined)
          const escaped = json.replace(
            /[^ -~\n]/g,
            (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
          )
          for (const args of [json, escaped]) {
            expect(inputOf(args, size)).toEqual(call(input.toWellFormed()))
          }
        },
      ),
    )
  })

  test('arguments of another form are not lost', () => {
    expect(inputOf('{"patch":"+ a"}', 3)).toEqual(call('+ a'))
    expect(inputOf('*** Begin', 4)).toEqual(call('*** Begin'))
    expect(inputOf('{"a":"x","b":"y"}', 50)).toEqual(call('{"a":"x","b":"y"}'))
    expect(inputOf('', 1)).toEqual(call(''))
  })

  test('a whole answer has its call as one of the freeform tool, and other calls as they were', () => {
    const other = { id: 'call_2', type: 'function', function: { name: 'read', arguments: '{}' } }
    const one = {
      id: 'call_1',
      type: 'function',
      function: { name: 'patch', arguments: '{"input":"x"}' },
    }
    const answer = { choices: [{ index: 0, message: { tool_calls: [one, other] } }] }
    const [choice] = new FreeformCalls(new Set(['patch'])).whole(answer)['choices'] as JsonObject[]
    expect(choice?.['message']).toEqual({ tool_calls: [...call('x'), other] })
  })

  test('is streamed as it comes: the text of a piece does not wait for the end', () => {
    const calls = new FreeformCalls(new Set(['patch']))
    const events = new ResponseEvents({ id: 'resp_1', model: 'm', createdAt: 1, asked: {} })
    const frames = calls
      .chunks(chunksOf('{"input":"line\\nnext"}', 6).slice(0, 4))
      .map((chunk) => events.write(chunk as JsonObject))
    expect(frames.join('')).toContain('response.custom_tool_call_input.delta')
    expect(frames.join('')).toContain('"delta":"l')
  })
})
