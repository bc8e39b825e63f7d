import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import { messagesToChat } from '../../src/models/protocols/messages/read-request.ts'
import { chatToMessages } from '../../src/models/protocols/messages/write-request.ts'
import { responsesToChat } from '../../src/models/protocols/responses/read-request.ts'
import { chatToResponses } from '../../src/models/protocols/responses/write-request.ts'
import { request } from './conversations.ts'

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
