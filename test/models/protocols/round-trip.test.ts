import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import { chatToMessages } from '../../../src/models/protocols/messages/chat-to-request.ts'
import { messagesToChat } from '../../../src/models/protocols/messages/request-to-chat.ts'
import { chatToResponses } from '../../../src/models/protocols/responses/chat-to-request.ts'
import { responsesToChat } from '../../../src/models/protocols/responses/request-to-chat.ts'
import { request } from './conversations.ts'

const asJson = (value: object): JsonObject => JSON.parse(JSON.stringify(value))

/** `max_tokens` under the name that the newer protocols have it. */
function named(body: JsonObject): JsonObject {
  const { max_tokens, max_completion_tokens, ...rest } = body
  return { ...rest, max_completion_tokens: max_completion_tokens ?? max_tokens ?? null }
}

describe('a conversation with tools, images and documents', () => {
  test('comes back from the Messages API as it went', () => {
    fc.assert(
      fc.property(request, (asked) => {
        const there = chatToMessages(asked)
        const back = messagesToChat(there.body)
        expect(there.ignored).toEqual([])
        expect(back.ignored).toEqual([])
        expect(named(back.body)).toEqual(named(asked))
      }),
    )
  })

  test('comes back from the Responses API as it went', () => {
    fc.assert(
      fc.property(request, (asked) => {
        const there = chatToResponses(asked)
        const back = responsesToChat(there.body)
        expect(there.ignored).toEqual([])
        expect(back.ignored).toEqual([])
        expect(named(back.body)).toEqual(named(asked))
      }),
    )
  })

  test('goes from each of the two to the other and back', () => {
    fc.assert(
      fc.property(request, (asked) => {
        const messages = chatToMessages(asked).body
        const responses = chatToResponses(messagesToChat(messages).body).body
        expect(chatToMessages(responsesToChat(responses).body).body).toEqual(messages)
      }),
    )
  })
})

describe('results of parallel tools with images', () => {
  const png = (n: number) => `iVBORw0KGgo${'A'.repeat(4 * n)}=`
  const ids = ['call_1', 'call_2']
  const messagesBody = asJson({
    model: 'm',
    max_tokens: 9,
    messages: [
      {
        role: 'assistant',
        content: ids.map((id) => ({ type: 'tool_use', id, name: 'look', input: { at: id } })),
      },
      {
        role: 'user',
        content: ids.map((id, n) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: [
            { type: 'text', text: `seen ${n}` },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png(n) } },
          ],
        })),
      },
    ],
  })
  const responsesBody = asJson({
    model: 'm',
    input: [
      ...ids.map((call_id) => ({ type: 'function_call', call_id, name: 'look', arguments: '{}' })),
      ...ids.map((call_id, n) => ({
        type: 'function_call_output',
        call_id,
        output: [
          { type: 'input_text', text: `seen ${n}` },
          { type: 'input_image', image_url: `data:image/png;base64,${png(n)}` },
        ],
      })),
    ],
  })
  const chats = {
    messages: messagesToChat(messagesBody),
    responses: responsesToChat(responsesBody),
  }

  test.each(Object.entries(chats))('of %s go on whole, and stand before all images', (_, read) => {
    expect(read.ignored).toEqual([])
    const turns = read.body['messages'] as JsonObject[]
    expect(turns.map(({ role }) => role).slice(0, 4)).toEqual(['assistant', 'tool', 'tool', 'user'])
    for (const { body, ignored } of [
      { body: read.body, ignored: [] },
      chatToMessages(read.body),
      chatToResponses(read.body),
    ]) {
      expect(ignored).toEqual([])
      const text = JSON.stringify(body)
      for (const part of ['seen 0', 'seen 1', png(0), png(1)]) expect(text).toContain(part)
    }
  })
})

test('the result of a custom tool goes to the Responses API as an item of its kind', () => {
  const asked: JsonObject = {
    model: 'm',
    input: [
      { type: 'custom_tool_call', call_id: 'call_1', name: 'patch', input: 'x' },
      { type: 'custom_tool_call_output', call_id: 'call_1', output: 'done' },
    ],
  }
  expect(chatToResponses(responsesToChat(asked).body).body['input']).toEqual(asked['input'] ?? [])
})
