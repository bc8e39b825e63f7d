import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Json } from '../../../src/kernel/canonical.ts'
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import { objectOf } from '../../../src/kernel/json-object.ts'
import {
  MessageReader,
  messageToChat,
} from '../../../src/models/protocols/messages/answer-to-chat.ts'
import { MessageEvents, toMessage } from '../../../src/models/protocols/messages/chat-to-answer.ts'
import {
  ResponseReader,
  responseToChat,
} from '../../../src/models/protocols/responses/answer-to-chat.ts'
import { toWholeResponse } from '../../../src/models/protocols/responses/chat-to-answer.ts'
import { ResponseEvents } from '../../../src/models/protocols/responses/write-events.ts'
import { Collector, readAnswer } from '../../../src/runs/answer.ts'

const piece = fc.string({ minLength: 1, maxLength: 8 })
const text = piece.map((content): JsonObject => ({ content }))
const call = fc
  .record({ name: fc.constantFrom('read', 'write'), pieces: fc.array(piece, { maxLength: 3 }) })
  .map(({ name, pieces }) => ({ name, pieces }))

/** The deltas of one answer: text, then calls, each in pieces. */
const deltas = fc
  .record({ texts: fc.array(text, { maxLength: 5 }), calls: fc.array(call, { maxLength: 3 }) })
  .map(({ texts, calls }): JsonObject[] => [
    { role: 'assistant', content: '' },
    ...texts,
    ...calls.flatMap(({ name, pieces }, index): JsonObject[] => [
      {
        tool_calls: [
          { index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } },
        ],
      },
      ...pieces.map((args) => ({ tool_calls: [{ index, function: { arguments: args } }] })),
    ]),
  ])

const chunk = (delta: JsonObject, finish_reason: Json = null): JsonObject => ({
  choices: [{ index: 0, delta, finish_reason }],
})

const streamOf = (all: JsonObject[]): JsonObject[] => {
  const hasCalls = all.some(({ tool_calls }) => tool_calls !== undefined)
  return [...all.map((delta) => chunk(delta)), chunk({}, hasCalls ? 'tool_calls' : 'stop')]
}

const choicesOf = (chunks: readonly JsonObject[]) => {
  const collector = new Collector()
  for (const one of chunks) collector.addChunk(one)
  return collector.answer().choices
}

/** The events of a text: each a name, and data that has the same name. */
const eventsIn = (frames: string): JsonObject[] =>
  frames
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const [head = '', data = ''] = frame.split('\n')
      const event: JsonObject = JSON.parse(data.slice('data: '.length))
      expect(head).toBe(`event: ${String(event['type'])}`)
      return event
    })

const usage = { inputTokens: 30, outputTokens: 12, classes: { cache_read: 20, reasoning: 4 } }
const paid = { usage, counterfoil: { cost_nusd: 7 } }
const messageBase = { id: 'msg_1', model: 'acme/large' }
const responseBase = { id: 'resp_1', model: 'acme/large', createdAt: 1, asked: {} }

function readAll(
  reader: { read(event: JsonObject): { chunk?: JsonObject } },
  events: JsonObject[],
) {
  return events.map((event) => reader.read(event).chunk).filter((one) => one !== undefined)
}

describe('the events of the Messages API', () => {
  const written = (chunks: readonly JsonObject[]): JsonObject[] => {
    const events = new MessageEvents(messageBase)
    return eventsIn(chunks.map((one) => events.write(one)).join('') + events.end(paid))
  }

  test('say what the chunks said, and are read back as they were', () => {
    fc.assert(
      fc.property(deltas, (all) => {
        const chunks = streamOf(all)
        const back = readAll(new MessageReader(), written(chunks))
        expect(choicesOf(back)).toEqual(choicesOf(chunks))
      }),
    )
  })

  test('come in the order that clients need: each block begins, goes on and ends', () => {
    fc.assert(
      fc.property(deltas, (all) => {
        const events = written(streamOf(all))
        const types = events.map(({ type }) => type)
        expect(types[0]).toBe('message_start')
        expect(types.slice(-2)).toEqual(['message_delta', 'message_stop'])
        let open: Json | undefined
        let next = 0
        for (const { type, index } of events) {
          if (type === 'content_block_start') {
            expect([open, index]).toEqual([undefined, next++])
            open = index
          } else if (type === 'content_block_delta') expect(index).toEqual(open ?? -1)
          else if (type === 'content_block_stop') {
            expect(index).toEqual(open ?? -1)
            open = undefined
          }
        }
        expect(open).toBeUndefined()
      }),
    )
  })

  test('end with the usage, without the caches in its input, and with the cost', () => {
    const last = written(streamOf([{ content: 'Hello.' }])).at(-2)
    expect(last).toMatchObject({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { input_tokens: 10, cache_read_input_tokens: 20, output_tokens: 12 },
      counterfoil: { cost_nusd: 7 },
    })
  })

  test('a whole answer is read back as it was', () => {
    fc.assert(
      fc.property(deltas, (all) => {
        const [choice] = readAnswer(wholeOf(streamOf(all))).choices
        const message = toMessage(messageBase, choice as unknown as JsonObject, paid)
        const back = readAnswer(messageToChat(message) ?? {}).choices
        expect(normal(back)).toEqual(normal([choice as unknown as JsonObject]))
      }),
    )
  })
})

describe('the events of the Responses API', () => {
  const written = (chunks: readonly JsonObject[]): JsonObject[] => {
    const events = new ResponseEvents(responseBase)
    return eventsIn(chunks.map((one) => events.write(one)).join('') + events.end(paid))
  }

  test('say what the chunks said, and are read back as they were', () => {
    fc.assert(
      fc.property(deltas, (all) => {
        const chunks = streamOf(all)
        const back = readAll(new ResponseReader(), written(chunks))
        expect(choicesOf(back)).toEqual(choicesOf(chunks))
      }),
    )
  })

  test('are numbered through, and every item that was added is done, as it is in the end', () => {
    fc.assert(
      fc.property(deltas, (all) => {
        const events = written(streamOf(all))
        expect(events.map(({ sequence_number }) => sequence_number)).toEqual(
          events.map((_, i) => i),
        )
        const items = (type: string) => events.filter((event) => event['type'] === type)
        const added = items('response.output_item.added')
        const done = items('response.output_item.done')
        expect(done.map(({ output_index }) => output_index)).toEqual(
          added.map(({ output_index }) => output_index),
        )
        const last = events.at(-1)
        expect(last?.['type']).toBe('response.completed')
        const { output } = objectOf(last?.['response'])
        expect(output).toEqual(done.map(({ item = null }) => item))
      }),
    )
  })

  test('an answer that reached its limit is incomplete, and says the usage', () => {
    const last = written([chunk({ content: 'Hello' }), chunk({}, 'length')]).at(-1)
    expect(last).toMatchObject({
      type: 'response.incomplete',
      response: {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        usage: {
          input_tokens: 30,
          input_tokens_details: { cached_tokens: 20 },
          output_tokens_details: { reasoning_tokens: 4 },
          total_tokens: 42,
        },
        counterfoil: { cost_nusd: 7 },
      },
    })
  })

  test('a whole answer is read back as it was', () => {
    fc.assert(
      fc.property(deltas, (all) => {
        const [choice] = readAnswer(wholeOf(streamOf(all))).choices
        const response = toWholeResponse(responseBase, choice as unknown as JsonObject, paid)
        const back = readAnswer(responseToChat(response) ?? {}).choices
        expect(normal(back)).toEqual(normal([choice as unknown as JsonObject]))
      }),
    )
  })
})

/** What the chunks of a stream come to, as a whole answer. */
function wholeOf(chunks: readonly JsonObject[]): JsonObject {
  const choices = choicesOf(chunks)
  return { choices: choices as unknown as Json }
}

/** Arguments as values, because a protocol writes them as such, and an absent text as none. */
function normal(choices: readonly unknown[]): unknown {
  return JSON.parse(JSON.stringify(choices), (key, value) => {
    if (key === 'arguments') return readArguments(value)
    return key === 'content' && value === '' ? null : value
  })
}

function readArguments(text: string): unknown {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' ? value : { arguments: text }
  } catch {
    return text.trim() === '' ? {} : { arguments: text }
  }
}
