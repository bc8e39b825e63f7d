import { canonical, hasCanonicalForm, type Json } from '../../src/kernel/canonical.ts'
import { modelServer } from '../../src/models/upstream/model-server.ts'
import { SseParser } from '../../src/models/upstream/sse.ts'
import {
  type JsonObject,
  plainChunks,
  UpstreamFailure,
} from '../../src/models/upstream/upstream.ts'
import { decideUsage } from '../../src/models/usage.ts'
import { Collector, readAnswer } from '../../src/runs/answer.ts'
import { cut } from './mutate.ts'
import { must, type Target } from './run.ts'

const chunk = (delta: JsonObject, reason: string | null = null): JsonObject => ({
  id: 'chatcmpl-x',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason: reason }],
})
const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }
const chunks: JsonObject[] = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'The quick ☂' }),
  chunk({ tool_calls: [call] }),
  chunk({ reasoning: 'so', refusal: 'no' }, 'stop'),
  { choices: [], usage },
]
const message = { role: 'assistant', content: 'The fox', tool_calls: [call] }
const whole: JsonObject = {
  id: 'chatcmpl-x',
  object: 'chat.completion',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
  usage,
}
const vectors: JsonObject = {
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.6, -0.8] }],
  usage,
}

/** A stream as it comes over the wire, with line ends of one kind. */
const wire = (end: string, items: readonly JsonObject[] = chunks): string =>
  [...items.map((item) => `data: ${JSON.stringify(item)}`), ': ping', 'data: [DONE]']
    .map((line) => line + end + end)
    .join('')

const isNo = (error: unknown): boolean => error instanceof UpstreamFailure

function parsed(text: string): JsonObject {
  try {
    const value: Json = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  } catch {
    return {}
  }
}

/** An upstream that sends the pieces it is told to. */
function startServer() {
  let pieces: readonly Uint8Array[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      new Response(
        new ReadableStream({
          async start(to) {
            for (const piece of pieces) {
              to.enqueue(piece)
              // What is written in one turn is sent as one.
              await new Promise((resolve) => setImmediate(resolve))
            }
            to.close()
          },
        }),
      ),
  })
  server.unref()
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    send: (next: readonly Uint8Array[]) => {
      pieces = next
    },
  }
}

let stub: ReturnType<typeof startServer> | undefined

function upstreamThatSends(pieces: readonly Uint8Array[]) {
  stub ??= startServer()
  stub.send(pieces)
  return modelServer({ id: 'stub', baseUrl: stub.url, limits: { idleMs: 5000 } })
}

const asked = (kind: 'chat' | 'embedding', body: JsonObject = {}) => ({
  kind,
  account: '0x',
  body: { model: 'x', ...body },
  signal: new AbortController().signal,
})

/** Checks that an answer can be committed to and charged. */
function settled(answer: ReturnType<typeof readAnswer>): void {
  canonical(answer.choices)
  must(Number.isSafeInteger(answer.outputBytes) && answer.outputBytes >= 0, 'counts')
  const bound = { inputTokens: 100, outputTokens: 50, maxTokens: 50, n: 1, inputBytes: 100 }
  const prices = { inputPusd: 1n, outputPusd: 1n, requestNusd: 0n }
  const { outputBytes, choices: output } = answer
  const delivered = { inputBytes: 60, outputBytes, output }
  const { usage: used } = decideUsage({
    bound,
    prices,
    reported: answer.usage,
    delivered,
    counting: { bytesPerToken: 4 },
    embedded: false,
  })
  must(Object.is(Math.abs(used.inputTokens), used.inputTokens), 'tokens in')
  must(used.inputTokens <= 100 && used.outputTokens <= 50 && used.outputTokens >= 0, 'the bound')
}

const bytesOf = (...texts: string[]) => texts.map((text) => Buffer.from(text))

/** What model servers answer. */
export const upstreamTargets: readonly Target[] = [
  {
    name: 'event stream',
    isNo,
    goodBytes: bytesOf(wire('\n'), wire('\r\n'), wire('\r'), '\ufeffdata: a\n\ndata: b'),
    read(bytes, prng) {
      const read = (pieces: readonly Uint8Array[]): string[] => {
        const events: string[] = []
        const parser = new SseParser({ takeEvent: (data) => void events.push(data) })
        for (const piece of pieces) parser.push(piece)
        parser.end()
        return events
      }
      const whole = read([bytes])
      const split = read(cut(prng, bytes))
      must(split.join('\0') === whole.join('\0'), 'the same events however it is cut')
    },
  },
  {
    name: 'stream of an upstream',
    isNo,
    goodBytes: bytesOf(wire('\n'), wire('\r\n')),
    async read(bytes, prng) {
      const collector = new Collector()
      const upstream = upstreamThatSends(cut(prng, bytes))
      for await (const batch of await upstream.stream(asked('chat'))) {
        for (const one of plainChunks(batch)) {
          collector.addChunk(one)
          must(JSON.stringify(one) !== undefined, 'it can go on')
        }
      }
      settled(collector.answer())
    },
  },
  {
    name: 'chunk of a stream',
    isNo,
    goodJson: chunks as Json[],
    read(text) {
      const collector = new Collector()
      collector.addChunk(parsed(text))
      collector.addChunk(parsed(text))
      settled(collector.answer())
    },
  },
  {
    name: 'answer of an upstream',
    isNo,
    goodJson: [whole],
    async read(text, prng) {
      const upstream = upstreamThatSends(cut(prng, Buffer.from(text)))
      const body = await upstream.complete(asked('chat'))
      settled(readAnswer(body))
      JSON.stringify(body)
    },
  },
  {
    name: 'embeddings of an upstream',
    isNo,
    goodJson: [vectors],
    async read(text, prng) {
      const upstream = upstreamThatSends(cut(prng, Buffer.from(text)))
      const { data = null } = await upstream.complete(asked('embedding'))
      if (hasCanonicalForm(data)) canonical(data)
      JSON.stringify(data)
    },
  },
]
