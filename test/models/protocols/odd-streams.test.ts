import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import { MessageEvents } from '../../../src/models/protocols/messages/chat-to-answer.ts'
import { ResponseEvents } from '../../../src/models/protocols/responses/write-events.ts'
import { openChunks } from '../../../src/models/upstream/chunk-stream.ts'
import type { WireAnswer } from '../../../src/models/upstream/http.ts'
import { readWhole } from '../../../src/models/upstream/model-server.ts'
import { takeEach } from '../../../src/models/upstream/upstream.ts'
import { type UpstreamKind, wireProtocols } from '../../../src/models/upstream/wire-protocol.ts'
import { eventWriter } from '../../../src/runs/api/write-events.ts'
import { ChunkSorter, frameWriter } from '../../../src/runs/chunks.ts'
import { NativeSorter } from '../../../src/runs/native-sorter.ts'
import { chunkWriter } from '../../../src/runs/openai.ts'
import { prng } from '../../ledger/prng.ts'
import { nightly } from '../../support/nightly.ts'
import { promise } from '../../support/promise.ts'
import { makeTruth, oddChat, type Truth } from './odd-chat.ts'
import { oddMessages, oddResponses } from './odd-events.ts'

setDefaultTimeout(600_000)

type Door = 'chat' | 'messages' | 'responses'

const makers = {
  openai: (random: ReturnType<typeof prng>, truth: Truth) => oddChat(random, truth).body,
  anthropic: oddMessages,
  responses: oddResponses,
}
const doorOf = { openai: 'chat', anthropic: 'messages', responses: 'responses' } as const

function answerOf(reads: Uint8Array[]): WireAnswer {
  const left = [...reads]
  return {
    status: 200,
    text: async () => '',
    read: async () => left.shift(),
    async flow(take) {
      for (let bytes = left.shift(); bytes; bytes = left.shift()) if (!(await take(bytes))) return
    },
    end: () => {},
    stop: () => {},
  }
}

const repairing = () => {
  let count = 0
  return { newId: (prefix: string) => `${prefix}_made_${count++}`, hasFunctions: false }
}

const usage = { inputTokens: 3, outputTokens: 2 }
const paid = { usage, counterfoil: null }

/** All that a client of a door gets of a stream of a wire. */
async function written(wire: UpstreamKind, door: Door, reads: Uint8Array[]): Promise<string> {
  const protocol = wireProtocols[wire]
  const isNative = door === doorOf[wire]
  const reader = isNative ? protocol.nativeReader(repairing()) : protocol.reader(repairing())
  const chunks = await openChunks(answerOf(reads), { reader })
  let frames = ''
  if (door !== 'chat' && isNative) {
    const sorter = new NativeSorter(door)
    const write = eventWriter(() => '', 'm')
    await takeEach(chunks, (batch) => {
      frames += write(sorter.sort(batch))
      return true
    })
    sorter.whole()
    return frames + write(sorter.tail)
  }
  const sorter = new ChunkSorter()
  const messages = new MessageEvents({ id: 'msg_1', model: 'm' })
  const responses = new ResponseEvents({ id: 'resp_1', model: 'm', createdAt: 1, asked: {} })
  const base = { id: 'run_1', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const write = {
    chat: frameWriter(chunkWriter(base)),
    messages: eventWriter((chunk) => messages.write(chunk), 'm'),
    responses: eventWriter((chunk) => responses.write(chunk), 'm'),
  }[door]
  await takeEach(chunks, (batch) => {
    frames += write(sorter.sort(batch))
    return true
  })
  sorter.whole()
  const end = {
    chat: () => 'data: [DONE]\n\n',
    messages: () => messages.end(paid),
    responses: () => responses.end(paid),
  }
  return frames + write(sorter.tail) + end[door]()
}

type Said = { text: string; calls: { id: string; name: string; args: unknown }[]; finish: unknown }

const fetching = (body: string) => async () =>
  new Response(body, { headers: { 'content-type': 'text/event-stream' } })

/** Reads a stream of a door by the official client's own parser. */
const parsers: Record<Door, (body: string) => Promise<Said>> = {
  async chat(body) {
    const client = new OpenAI({ apiKey: 'k', baseURL: 'http://x', fetch: fetching(body) })
    const asked = { model: 'm', messages: [] }
    const whole = await client.chat.completions.stream(asked).finalChatCompletion()
    const [choice] = whole.choices
    const calls = (choice?.message.tool_calls ?? []).map((call) => ({
      id: call.id,
      name: call.type === 'function' ? call.function.name : '',
      args: call.type === 'function' ? JSON.parse(call.function.arguments) : undefined,
    }))
    return { text: choice?.message.content ?? '', calls, finish: choice?.finish_reason }
  },
  async messages(body) {
    const client = new Anthropic({ apiKey: 'k', baseURL: 'http://x', fetch: fetching(body) })
    const asked = { model: 'm', messages: [], max_tokens: 1 }
    return ofMessage(await client.messages.stream(asked).finalMessage())
  },
  async responses(body) {
    const client = new OpenAI({ apiKey: 'k', baseURL: 'http://x', fetch: fetching(body) })
    return ofResponse(await client.responses.stream({ model: 'm', input: '' }).finalResponse())
  },
}

function ofMessage({ content, stop_reason }: Anthropic.Message): Said {
  const calls = content.flatMap((block) =>
    block.type === 'tool_use' ? [{ id: block.id, name: block.name, args: block.input }] : [],
  )
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  return { text, calls, finish: stop_reason }
}

function ofResponse({ output, status }: OpenAI.Responses.Response): Said {
  let text = ''
  for (const item of output) {
    if (item.type !== 'message') continue
    for (const part of item.content) {
      if (part.type !== 'output_text') continue
      expect(part.annotations).toBeArray()
      text += part.text
    }
  }
  const calls = output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ id: item.call_id, name: item.name, args: JSON.parse(item.arguments) }]
      : [],
  )
  return { text, calls, finish: status }
}

const finishes = {
  chat: ['stop', 'tool_calls'],
  messages: ['end_turn', 'tool_use'],
  responses: ['completed', 'completed'],
} as const

function compare(said: Said, truth: Truth, door: Door, wire: string): void {
  const finish = finishes[door][truth.calls.length > 0 ? 1 : 0]
  expect({ ...said, calls: said.calls.map(({ name, args }) => ({ name, args })) }).toEqual({
    text: truth.text,
    calls: truth.calls,
    finish,
  })
  const ids = said.calls.map(({ id }) => id)
  expect([wire, new Set(ids).size, ids.every((id) => id !== '')]).toEqual([wire, ids.length, true])
}

const streams = nightly(300, 20_000)
const doors = ['chat', 'messages', 'responses'] as const
const pairs = Object.keys(doorOf).flatMap((wire) =>
  doors.map((door): [UpstreamKind, Door] => [wire as UpstreamKind, door]),
)

promise`S1 C: What a model server sends is made what its protocol says before anything counts it or
  passes it on; nothing delivered goes uncounted.`
describe('odd streams that the reader takes', () => {
  test.each(pairs)(
    'A stream of %s is a valid one of %s for the official client.',
    async (wire, door) => {
      for (let seed = 0; seed < streams; seed++) {
        const random = prng(seed)
        const truth = makeTruth(random)
        const body = makers[wire](random, truth)
        const bytes = new TextEncoder().encode(body)
        const cut = random.below(bytes.length + 1)
        let frames = ''
        try {
          frames = await written(wire, door, [bytes.subarray(0, cut), bytes.subarray(cut)])
          compare(await parsers[door](frames), truth, door, wire)
        } catch (error) {
          throw new Error(`seed ${seed}: ${String(error)}\n${body}\n-> ${frames}`, { cause: error })
        }
      }
    },
  )

  test.each(pairs)(
    'A stream of %s in the place of a plain answer is a whole one of %s.',
    async (wire, door) => {
      const protocol = wireProtocols[wire]
      const isNative = door !== 'chat' && door === doorOf[wire]
      for (let seed = 0; seed < streams; seed++) {
        const random = prng(seed)
        const truth = makeTruth(random)
        const body = makers[wire](random, truth)
        const signal = new AbortController().signal
        const call = { kind: 'chat', account: 'a', body: {}, run: 'r', isNative, signal } as const
        const rules = { secrets: [], isRelayed: true }
        try {
          const whole = await readWhole(body, { call, wireProtocol: protocol, rules })
          compare(saidIn(whole, isNative ? door : 'chat'), truth, isNative ? door : 'chat', wire)
        } catch (error) {
          throw new Error(`seed ${seed}: ${String(error)}\n${body}`, { cause: error })
        }
      }
    },
  )
})

function saidIn(whole: JsonObject, door: Door): Said {
  if (door === 'messages') return ofMessage(whole as unknown as Anthropic.Message)
  if (door === 'responses') return ofResponse(whole as unknown as OpenAI.Responses.Response)
  const { choices } = whole as unknown as OpenAI.ChatCompletion
  const [choice] = choices
  const calls = (choice?.message.tool_calls ?? []).map((call) => ({
    id: call.id,
    name: call.type === 'function' ? call.function.name : '',
    args: call.type === 'function' ? JSON.parse(call.function.arguments) : undefined,
  }))
  return { text: choice?.message.content ?? '', calls, finish: choice?.finish_reason }
}
