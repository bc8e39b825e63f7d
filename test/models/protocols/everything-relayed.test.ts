import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Json } from '../../../src/kernel/canonical.ts'
import { isObject, type JsonObject } from '../../../src/kernel/json-object.ts'
import { NativeEvent } from '../../../src/models/native-event.ts'
import type { ReadChunk } from '../../../src/models/protocols/event-reader.ts'
import { isPlain } from '../../../src/models/upstream/upstream.ts'
import { wireProtocols } from '../../../src/models/upstream/wire-protocol.ts'
import { ChunkSorter } from '../../../src/runs/chunks.ts'
import { NativeSorter } from '../../../src/runs/native-sorter.ts'
import { chunkWriter } from '../../../src/runs/openai.ts'
import { nightly } from '../../support/nightly.ts'
import { promise } from '../../support/promise.ts'
import { mark, sdkTypes } from './sdk-types.ts'

const anthropic = '@anthropic-ai/sdk/resources'
const messages = sdkTypes(`${anthropic}/messages/messages.d.ts`)
const betaMessages = sdkTypes(`${anthropic}/beta/messages/messages.d.ts`)
const responses = sdkTypes('openai/resources/responses/responses.d.ts')
const chat = sdkTypes('openai/resources/chat/completions/completions.d.ts')

/** Events that do not exist yet. */
const future = (types: string[]): fc.Arbitrary<JsonObject> =>
  fc.record({
    type: fc.constantFrom(...types),
    text: mark,
    more: fc.record({ list: fc.array(mark) }),
  })

const events = {
  messages: [
    ...messages.union('RawMessageStreamEvent').map((name) => [name, messages.value(name)] as const),
    ...betaMessages
      .union('BetaRawMessageStreamEvent')
      .map((name) => [name, betaMessages.value(name)] as const),
    ['events to come', future(['ping', 'thought', 'content_block_note', 'message_note'])] as const,
  ],
  responses: [
    ...responses.union('ResponseStreamEvent').map((name) => [name, responses.value(name)] as const),
    [
      'events to come',
      future(['keepalive', 'response.thought.delta', 'response.thought.done', 'response.thought']),
    ] as const,
  ],
}

/** Members that tell the request again, or say again what is counted; see docs/life-of-a-run.md. */
const repeats = new Set([
  ...['obfuscation', 'logprobs', 'top_logprobs', 'cited_text'],
  // A name of its server, which goes out only while it is as short as one.
  'system_fingerprint',
])

/** The marks of what a client receives, without those of members that only repeat. */
function marksIn(value: Json | undefined, isEcho = false): string[] {
  if (typeof value === 'string') return isEcho ? [] : (value.match(/mark\d+zx+/g) ?? [])
  if (Array.isArray(value)) return value.flatMap((one) => marksIn(one, isEcho))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) => {
    if (repeats.has(name)) return []
    // Of an answer, the items alone are new.
    if (name === 'response' && isObject(member)) return marksIn(member['output'])
    return marksIn(member, isEcho)
  })
}

const repairing = { newId: (prefix: string) => `${prefix}_made`, hasFunctions: true }

const opening = {
  messages: {
    type: 'message_start',
    message: {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] },
      ...{ stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
    },
  },
  responses: {
    type: 'response.created',
    sequence_number: 0,
    response: { id: 'resp_1', object: 'response', status: 'in_progress', output: [] },
  },
}

/** Reads events after an opening, each of another item; returns what went out, and its bytes. */
function relay(protocol: 'messages' | 'responses', all: readonly Json[]) {
  const kind = protocol === 'messages' ? 'anthropic' : 'responses'
  const reader = wireProtocols[kind].nativeReader(repairing as never)
  const sorter = new NativeSorter(protocol)
  const sent: Json[] = []
  for (const [at, one] of [opening[protocol] as Json, ...all].entries()) {
    if (!isObject(one)) continue
    const place = protocol === 'messages' ? 'index' : 'output_index'
    // What an answer tells of an item that said something else cannot be told from a repetition.
    const { response, ...others } = one
    const isApart = all.length > 1 && at > 0 && isObject(response)
    const said = isApart ? { ...others, response: { ...response, output: [] } } : one
    const event = place in one && at > 0 ? { ...said, [place]: at - 1 } : said
    const out: ReadChunk[] = []
    const outcome = reader.read(event as JsonObject, JSON.stringify(event), out)
    const batch = sorter.sort(out)
    for (const chunk of batch) {
      if (!(chunk instanceof NativeEvent)) continue
      sent.push(JSON.parse(/^data: (.*)$/m.exec(chunk.frame)?.[1] ?? 'null'))
    }
    if (outcome) break
  }
  const { outputBytes, sealedBytes = 0 } = sorter.soFar()
  return { marks: new Set(marksIn(sent)), bytes: outputBytes + sealedBytes }
}

const runs = { numRuns: nightly(40, 1000), seed: 4663 }

describe.each(['messages', 'responses'] as const)('every event of %s', (protocol) => {
  test('is found in the SDK', () => {
    expect(events[protocol].length).toBeGreaterThan(protocol === 'messages' ? 12 : 40)
  })

  test.each(events[protocol])('%s: all of it that goes out is counted', (_, event) => {
    fc.assert(
      fc.property(event, (one) => {
        const { marks, bytes } = relay(protocol, [one])
        expect(bytes).toBeGreaterThanOrEqual(marks.size * 80)
      }),
      runs,
    )
  })

  promise`T2 C: All that is relayed is counted, whichever event it comes in.`
  test('in any order: all that goes out is counted', () => {
    const any = fc.oneof(...events[protocol].map(([, event]) => event))
    let relayed = 0
    fc.assert(
      fc.property(fc.array(any, { minLength: 2, maxLength: 6 }), (some) => {
        const { marks, bytes } = relay(protocol, some)
        relayed += marks.size
        expect(bytes).toBeGreaterThanOrEqual(marks.size * 80)
      }),
      { ...runs, numRuns: nightly(200, 5000) },
    )
    expect(relayed).toBeGreaterThan(200)
  })
})

describe('every chunk of Chat Completions', () => {
  test('all of it that goes out is counted', () => {
    let relayed = 0
    fc.assert(
      fc.property(chat.value('ChatCompletionChunk'), (one) => {
        const reader = wireProtocols.openai.reader(repairing as never)
        const sorter = new ChunkSorter()
        const write = chunkWriter({ id: 'c', created: 1, model: 'm' } as never)
        const out: ReadChunk[] = []
        reader.read(one as JsonObject, JSON.stringify(one), out)
        const text = sorter.sort(out).map((chunk) => (isPlain(chunk) ? write(chunk) : ''))
        const sent = text.flatMap((frame) => /^data: (.*)$/m.exec(frame)?.[1] ?? [])
        const marks = new Set(sent.flatMap((data) => marksIn(JSON.parse(data))))
        relayed += marks.size
        const { outputBytes, sealedBytes = 0 } = sorter.soFar()
        expect(outputBytes + sealedBytes).toBeGreaterThanOrEqual(marks.size * 80)
      }),
      { ...runs, numRuns: nightly(200, 5000) },
    )
    expect(relayed).toBeGreaterThan(50)
  })
})
