/** The upstream that runs the built-in models in this process. */
import type { Json } from '../../kernel/canonical.ts'
import { type Clock, toUnixSeconds } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { StopSignal } from '../../kernel/stop.ts'
import { builtinUpstreamId, echoMaxOutputTokens, echoModel, embedModel } from '../builtins.ts'
import { embed, embeddingDimensions } from './embed.ts'
import { type JsonObject, type Upstream, UpstreamFailure } from './upstream.ts'

/** Chunks handed out at once; between two batches the event loop turns, so an abort is seen. */
const batchLength = 256

/** The models inside this process: deterministic but for the id and the time of an answer. */
export function builtinUpstream(deps: { clock: Clock; ids: Ids }): Upstream {
  return {
    id: builtinUpstreamId,
    protocol: 'chat',
    async complete({ kind, body, signal, mark }) {
      if (signal.aborted) throw new UpstreamFailure('aborted')
      if (mark) mark.isSent = true
      if (kind === 'embedding') return embeddings(body)
      return completion(echoOf(body), headOf(deps, 'chat.completion', body))
    },
    async stream({ kind, body, signal, mark }) {
      if (signal.aborted) throw new UpstreamFailure('aborted')
      if (mark) mark.isSent = true
      if (kind !== 'chat') throw new UpstreamFailure('rejected', { status: 400 })
      return batches(chunks(echoOf(body), headOf(deps, 'chat.completion.chunk', body)), signal)
    },
  }
}

/** The answer of `counterfoil/echo-1`: the same in each of its `n` choices. */
type Echo = { words: string[]; finish: 'stop' | 'length'; n: number; usage: JsonObject }

function echoOf(body: JsonObject): Echo {
  if (body['model'] !== echoModel.id) throw new UpstreamFailure('rejected', { status: 404 })
  const messages = listOf(body['messages'])
  const last = messages.findLast((message) => message['role'] === 'user')
  const most = integerOf(body['max_completion_tokens'] ?? body['max_tokens'], echoMaxOutputTokens)
  const n = integerOf(body['n'], 1)
  const { words, more } = splitWords(textOf(last?.['content']), Math.min(most, echoMaxOutputTokens))
  let promptTokens = 0
  for (const message of messages) promptTokens += countWords(textOf(message['content']))
  const completionTokens = words.length * n
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
  return { words, finish: more ? 'length' : 'stop', n, usage }
}

function headOf(deps: { clock: Clock; ids: Ids }, object: string, body: JsonObject): JsonObject {
  return {
    id: `chatcmpl-${deps.ids.make('run').slice(4)}`,
    object,
    created: toUnixSeconds(deps.clock.now()),
    model: body['model'] ?? '',
  }
}

function completion({ words, finish, n, usage }: Echo, head: JsonObject): JsonObject {
  const content = words.join('')
  const choices: Json[] = []
  for (let index = 0; index < n; index++) {
    const message = { role: 'assistant', content, refusal: null }
    choices.push({ index, message, logprobs: null, finish_reason: finish })
  }
  return { ...head, choices, usage }
}

function* chunks({ words, finish, n, usage }: Echo, head: JsonObject): Generator<JsonObject> {
  const chunk = (index: number, delta: JsonObject, reason: string | null): JsonObject => ({
    ...head,
    choices: [{ index, delta, logprobs: null, finish_reason: reason }],
  })
  for (let index = 0; index < n; index++)
    yield chunk(index, { role: 'assistant', content: '' }, null)
  for (const content of words) {
    for (let index = 0; index < n; index++) yield chunk(index, { content }, null)
  }
  for (let index = 0; index < n; index++) yield chunk(index, {}, finish)
  yield { ...head, choices: [], usage }
}

async function* batches(
  chunks: Iterable<JsonObject>,
  signal: StopSignal,
): AsyncGenerator<JsonObject[]> {
  let batch: JsonObject[] = []
  for (const chunk of chunks) {
    if (batch.length === batchLength) {
      if (signal.aborted) throw new UpstreamFailure('aborted')
      yield batch
      batch = []
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    batch.push(chunk)
  }
  if (signal.aborted) throw new UpstreamFailure('aborted')
  yield batch
}

function embeddings(body: JsonObject): JsonObject {
  if (body['model'] !== embedModel.id) throw new UpstreamFailure('rejected', { status: 404 })
  const inputs = typeof body['input'] === 'string' ? [body['input']] : body['input']
  const dimensions = body['dimensions'] ?? embeddingDimensions
  if (!Array.isArray(inputs) || dimensions !== embeddingDimensions) {
    throw new UpstreamFailure('rejected', { status: 400 })
  }
  let words = 0
  const data = inputs.map((input, index) => {
    // Token numbers belong to a vocabulary that this model does not have.
    if (typeof input !== 'string') throw new UpstreamFailure('rejected', { status: 400 })
    words += countWords(input)
    return { object: 'embedding', index, embedding: encode(embed(input), body['encoding_format']) }
  })
  const usage = { prompt_tokens: words, total_tokens: words }
  return { object: 'list', data, model: embedModel.id, usage }
}

/** Numbers, or for `base64` the little-endian bytes of their 32-bit floats. */
function encode(vector: Float32Array<ArrayBuffer>, format: Json | undefined): Json {
  if (format !== 'base64') return [...vector]
  const bytes = new DataView(new ArrayBuffer(vector.length * 4))
  for (const [at, value] of vector.entries()) bytes.setFloat32(at * 4, value, true)
  return new Uint8Array(bytes.buffer).toBase64()
}

/** The text of a message: a string as it is, the text parts of a list joined. */
function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content
  return listOf(content)
    .map((part) => (typeof part['text'] === 'string' ? part['text'] : ''))
    .join('')
}

function listOf(list: Json | undefined): JsonObject[] {
  if (!Array.isArray(list)) return []
  return list.filter(
    (item): item is JsonObject => typeof item === 'object' && item !== null && !Array.isArray(item),
  )
}

function integerOf(value: Json | undefined, otherwise: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : otherwise
}

/**
 * A text as words, each with the white space before it, the last also with what follows it: joined
 * they are the text again. White space alone is one word; the empty text has none.
 * Stops after `most` words; `more` tells whether that left any out.
 */
function splitWords(text: string, most: number): { words: string[]; more: boolean } {
  const words: string[] = []
  const word = /\s*\S+/y
  let from = 0
  while (words.length < most && word.test(text)) {
    words.push(text.slice(from, word.lastIndex))
    from = word.lastIndex
  }
  const rest = text.slice(from)
  if (/\S/.test(rest)) return { words, more: true }
  const last = (words.pop() ?? '') + rest
  if (last !== '') words.push(last)
  return { words, more: false }
}

/** How many words a text has: runs without white space. */
function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0
}
