import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { canonical } from '../../../src/kernel/canonical.ts'
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import { objectOf } from '../../../src/kernel/json-object.ts'
import { echoModel } from '../../../src/models/builtins.ts'
import { isEnvelope, seal, unseal } from '../../../src/models/protocols/envelope.ts'
import { MessageEvents, toMessage } from '../../../src/models/protocols/messages/chat-to-answer.ts'
import { messagesToChat } from '../../../src/models/protocols/messages/request-to-chat.ts'
import { nativeOf, nativeRequest } from '../../../src/models/protocols/native.ts'
import { toWholeResponse } from '../../../src/models/protocols/responses/chat-to-answer.ts'
import { responsesToChat } from '../../../src/models/protocols/responses/request-to-chat.ts'
import { ResponseEvents } from '../../../src/models/protocols/responses/write-events.ts'
import { Collector } from '../../../src/runs/answer.ts'
import { readingsOf } from '../../../src/runs/saved-answer.ts'
import { promise } from '../../support/promise.ts'

const paid = { usage: { inputTokens: 1, outputTokens: 1 }, counterfoil: {} }
const model = 'acme/large'
const responseBase = { id: 'resp_1', model, createdAt: 1, asked: {} }
const messageBase = { id: 'msg_1', model }

const piece = fc.string({ minLength: 1, maxLength: 6 })
const sealedDetail = fc.record({ data: piece, id: fc.uuid(), format: fc.constant('unknown') })
const signedDetail = fc.record({ texts: fc.array(piece, { minLength: 1 }), signature: piece })
const call = fc.record({
  args: piece.map((at) => JSON.stringify({ at })),
  extra: fc.option(
    piece.map((seal) => ({ google: { thought_signature: seal } })),
    { nil: undefined },
  ),
})

/** A detail in pieces: its text, and in the end what signs it. */
const signedPieces = ({ texts, signature }: { texts: string[]; signature: string }): JsonObject[] =>
  [...texts.map((text) => ({ text })), { signature }].map((one) => ({
    reasoning_details: [{ type: 'reasoning.text', index: 0, ...one }],
  }))

/** A turn as servers of Chat Completions stream it: reasoning, text, calls, and what they seal. */
const turn = fc
  .record({
    name: fc.constantFrom('reasoning_content', 'reasoning'),
    thoughts: fc.array(piece, { maxLength: 3 }),
    signed: fc.option(signedDetail, { nil: undefined }),
    details: fc.array(sealedDetail, { maxLength: 2 }),
    texts: fc.array(piece, { maxLength: 2 }),
    calls: fc.array(call, { minLength: 1, maxLength: 3 }),
  })
  .map(({ name, thoughts, signed, details, texts, calls }): JsonObject[] => [
    ...thoughts.map((text): JsonObject => ({ [name]: text })),
    ...(signed ? signedPieces(signed) : []),
    ...details.map(
      (detail): JsonObject => ({
        reasoning_details: [{ type: 'reasoning.encrypted', ...detail }],
      }),
    ),
    ...texts.map((content): JsonObject => ({ content })),
    ...calls.flatMap(({ args, extra }, index): JsonObject[] => [
      {
        tool_calls: [
          {
            index,
            id: `call_${index}`,
            type: 'function',
            function: { name: 'f', arguments: args },
            ...(extra ? { extra_content: extra } : {}),
          },
        ],
      },
    ]),
  ])

const chunksOf = (deltas: JsonObject[]): JsonObject[] => [
  ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
  { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
]

/** The message that a client of Chat Completions sends back. */
function messageOf(chunks: JsonObject[]): JsonObject {
  const collector = new Collector()
  for (const chunk of chunks) collector.addChunk(chunk)
  return objectOf(JSON.parse(JSON.stringify(collector.answer().choices[0]?.message)))
}

const eventsIn = (frames: string): JsonObject[] =>
  frames.split('\n\n').flatMap((frame) => {
    const data = frame.split('data: ')[1]
    return data === undefined ? [] : [JSON.parse(data)]
  })

/** The blocks of a streamed message, as official clients put them together. */
function blocksIn(frames: string): JsonObject[] {
  const blocks: JsonObject[] = []
  for (const event of eventsIn(frames)) {
    if (event['type'] === 'content_block_start') {
      blocks.push({ ...objectOf(event['content_block']), json: '' })
    }
    if (event['type'] !== 'content_block_delta') continue
    const block = blocks.at(-1) ?? {}
    const { type: _, ...delta } = objectOf(event['delta'])
    for (const [name, text] of Object.entries(delta)) {
      const member = name === 'partial_json' ? 'json' : name
      block[member] = `${block[member] ?? ''}${text}`
    }
  }
  return blocks.map(({ json, ...block }) =>
    json === '' ? block : { ...block, input: JSON.parse(String(json)) },
  )
}

const asPlain = (message: JsonObject | undefined): unknown => {
  const { content, ...rest } = message ?? {}
  const text = Array.isArray(content)
    ? content.map((part) => objectOf(part)['text']).join('')
    : (content ?? '')
  return { ...rest, content: text }
}

const ask = (content: JsonObject[]): JsonObject => ({
  model,
  max_tokens: 9,
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_0', content: 'x' }] },
  ],
})

const askItems = (output: JsonObject[]): JsonObject => ({
  model,
  input: [
    { role: 'user', content: 'Hi' },
    ...output,
    { type: 'function_call_output', call_id: 'call_0', output: 'x' },
  ],
})

const saidIn = ({ body }: { body: JsonObject }): JsonObject | undefined =>
  (body['messages'] as JsonObject[])[1]

describe('what a server wants back with the next turn', () => {
  test('comes back through Messages, streamed and whole', () => {
    fc.assert(
      fc.property(turn, (deltas) => {
        const chunks = chunksOf(deltas)
        const events = new MessageEvents(messageBase)
        const frames = chunks.map((chunk) => events.write(chunk)).join('') + events.end(paid)
        const message = messageOf(chunks)
        const whole = toMessage(messageBase, { message, finish_reason: 'tool_calls' }, paid)
        for (const content of [blocksIn(frames), whole['content'] as JsonObject[]]) {
          const back = messagesToChat(ask(content))
          expect(back.ignored).toEqual([])
          expect(asPlain(saidIn(back))).toEqual(asPlain(message))
        }
      }),
    )
  })

  test('comes back through Responses, streamed and whole', () => {
    fc.assert(
      fc.property(turn, (deltas) => {
        const chunks = chunksOf(deltas)
        const events = new ResponseEvents(responseBase)
        const frames = chunks.map((chunk) => events.write(chunk)).join('') + events.end(paid)
        const message = messageOf(chunks)
        const choice = { message, finish_reason: 'tool_calls' }
        const last = objectOf(eventsIn(frames).at(-1)?.['response'])
        const whole = toWholeResponse(responseBase, choice, paid)
        for (const { output } of [last, whole]) {
          const back = responsesToChat(askItems(output as JsonObject[]))
          expect(back.ignored).toEqual([])
          expect(asPlain(saidIn(back))).toEqual(asPlain(message))
        }
      }),
    )
  })

  test('is found in an answer that a client saved, as its receipt commits to it', () => {
    fc.assert(
      fc.property(turn, (deltas) => {
        const chunks = chunksOf(deltas)
        const message = messageOf(chunks)
        const choice = { index: 0, message, finish_reason: 'tool_calls' }
        const committed = canonical([choice])
        const framesOf = (events: MessageEvents | ResponseEvents): string =>
          chunks.map((chunk) => events.write(chunk)).join('') + events.end(paid)
        for (const saved of [
          JSON.stringify(toMessage(messageBase, choice, paid)),
          framesOf(new MessageEvents(messageBase)),
          JSON.stringify(toWholeResponse(responseBase, choice, paid)),
          framesOf(new ResponseEvents(responseBase)),
        ]) {
          expect(readingsOf(saved).map(canonical)).toContain(committed)
        }
      }),
    )
  })

  promise`S7`
  test('does not go to another model, and that is named', () => {
    const message = { content: 'a', reasoning_content: 'Hm.' }
    const { content } = toMessage(messageBase, { message, finish_reason: 'stop' }, paid)
    const other = messagesToChat({ ...ask(content as JsonObject[]), model: 'acme/other' })
    expect([saidIn(other)?.['reasoning_content'], other.ignored]).toEqual([undefined, ['thinking']])
    const { output } = toWholeResponse(responseBase, { message, finish_reason: 'stop' }, paid)
    const items = responsesToChat({ ...askItems(output as JsonObject[]), model: 'acme/other' })
    expect([saidIn(items)?.['reasoning_content'], items.ignored]).toEqual([
      undefined,
      ['reasoning items'],
    ])
  })

  test('does not go on as it came to a server that cannot read it', () => {
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: seal(model, {}) }
    const own = { type: 'thinking', thinking: 'So.', signature: 'c2ln' }
    const to = { model: 'far', maxTokens: 9 }
    const sentAs = (protocol: 'messages' | 'responses', body: JsonObject) =>
      nativeRequest(nativeOf(protocol, body, { headers: new Headers(), model: echoModel }), to)
    const said = ask([thinking, own, { type: 'text', text: 'a' }])
    said['messages'] = [
      ...(said['messages'] as JsonObject[]),
      { role: 'assistant', content: [thinking] },
    ]
    const sent = sentAs('messages', said)
    expect(sent.ignored).toEqual(['thinking'])
    const messages = sent.body['messages'] as JsonObject[]
    expect([messages.length, messages[1]?.['content']]).toEqual([
      3,
      [own, { type: 'text', text: 'a' }],
    ])
    const item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: seal(model, {}) }
    const items = sentAs('responses', askItems([item]))
    expect(items.ignored).toEqual(['reasoning items'])
    expect(JSON.stringify(items.body)).not.toContain('cf1.')
  })
})

describe('an envelope', () => {
  test('that is malformed is none, and refuses nothing', () => {
    const deep = `{"model":"${model}","details":[${'['.repeat(500)}${']'.repeat(500)}]}`
    const sealed = (text: string) => `cf1.${Buffer.from(text).toString('base64url')}`
    const wrong = ['cf1.', 'cf1.%%%', sealed('[]'), sealed('{"model":1}'), sealed(deep)]
    for (const signature of [...wrong, `cf1.${'A'.repeat(2_000_000)}`]) {
      const content: JsonObject[] = [
        { type: 'thinking', thinking: 'Hm.', signature },
        { type: 'text', text: 'a' },
      ]
      const { body, ignored } = messagesToChat(ask(content))
      expect([Object.keys(saidIn({ body }) ?? {}), ignored]).toEqual([
        ['role', 'content'],
        ['thinking'],
      ])
    }
    const odd = { details: 'x', extra: 7, calls: [['a'], [1, {}], 'b'], plain: '__proto__' }
    expect(unseal(sealed(JSON.stringify({ model, ...odd })), model)).toEqual({
      plain: undefined,
      details: [],
      calls: [],
    })
  })

  test('keeps the text where the rest is too large', () => {
    const details = [{ type: 'reasoning.encrypted', data: 'x'.repeat(300_000) }]
    const text = seal(model, { plain: 'reasoning_content', details })
    expect([isEnvelope(text), text.length < 200]).toEqual([true, true])
    expect(unseal(text, model)?.plain).toBe('reasoning_content')
  })
})
