/** An upstream that speaks the OpenAI API over HTTP. */
import type { Json } from '../../kernel/canonical.ts'
import { isModestJson } from '../../kernel/json-size.ts'
import { traceHeaders } from '../../kernel/trace.ts'
import type { ModelKind } from '../meter.ts'
import type { WireAnswer } from './http.ts'
import { defaultHttpLimits, type HttpLimits } from './http.ts'
import { sseParser } from './sse.ts'
import {
  type Chunks,
  type FailureReason,
  type JsonObject,
  type Take,
  type Upstream,
  type UpstreamCall,
  UpstreamFailure,
} from './upstream.ts'
import { openWire, type Wire } from './wire/wire.ts'

export type OpenaiUpstream = {
  id: string
  /** With or without a slash at its end; a query stays. */
  baseUrl: string
  apiKey?: string
  limits?: Partial<HttpLimits>
  /** Whether the environment names a proxy. */
  isProxied?: boolean
}

/**
 * A server that speaks the OpenAI API. Its words never leave this file: an error body can hold
 * its URL or key, so only the status and our own reason go on.
 * @throws when `baseUrl` is not a plain http(s) URL: a fault of the configuration.
 */
export function openaiUpstream(options: OpenaiUpstream): Upstream {
  const { id, baseUrl, apiKey, limits } = options
  const open = (url: string): Wire => openWire(url, options.isProxied === true)
  const wires: Record<ModelKind, Wire> = {
    chat: open(endpoint(id, baseUrl, 'chat/completions')),
    embedding: open(endpoint(id, baseUrl, 'embeddings')),
  }
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'user-agent': 'counterfoil',
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  }
  const allLimits = { ...defaultHttpLimits, ...limits }

  const post = ({ kind, account, signal, trace }: UpstreamCall, body: JsonObject) =>
    wires[kind].ask({
      account,
      headers: trace ? { ...headers, ...traceHeaders(trace) } : headers,
      body: JSON.stringify(body),
      signal,
      limits: allLimits,
    })

  return {
    id,
    async complete(call) {
      const answer = await post(call, call.body)
      assertGood(answer)
      const body = parseObject(await answer.text())
      if (!body || body['error'] || !isAnswer(call.kind, body)) throw new UpstreamFailure('error')
      return body
    },
    async stream(call) {
      if (call.kind !== 'chat') throw new UpstreamFailure('rejected')
      const body = { ...call.body, stream: true, stream_options: { include_usage: true } }
      const answer = await post(call, body)
      assertGood(answer)
      return await afterFirst(chunksOf(answer))
    },
  }
}

function endpoint(id: string, baseUrl: string, path: string): string {
  const url = URL.parse(baseUrl)
  // The message never repeats the URL, which may hold a credential.
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Error(`the base_url of upstream "${id}" is not an http(s) URL`)
  }
  if (url.username || url.password) {
    throw new Error(`the base_url of upstream "${id}" holds credentials: use its api key instead`)
  }
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/${path}`
  url.hash = ''
  return url.href
}

/** @throws UpstreamFailure for every status but success. */
function assertGood(answer: WireAnswer): void {
  const { status } = answer
  if (status >= 200 && status < 300) return
  answer.stop()
  throw new UpstreamFailure(reasonOf(status), status)
}

function reasonOf(status: number): FailureReason {
  if (status === 429 || status === 503) return 'busy'
  return [400, 404, 413, 422].includes(status) ? 'rejected' : 'error'
}

type Batches = AsyncIterableIterator<JsonObject[]> & Required<Chunks>

/** Waits for the first chunks, so that a stream which gives none can still go elsewhere. */
async function afterFirst(chunks: Batches): Promise<Chunks> {
  let first: IteratorResult<JsonObject[]> | undefined
  try {
    first = await chunks.next()
  } catch (error) {
    const cut = error instanceof UpstreamFailure && error.reason === 'cut'
    throw cut ? new UpstreamFailure('error') : error
  }
  if (first.done) throw new UpstreamFailure('error')
  const takeFirst = () => {
    const value: JsonObject[] = first?.value ?? []
    first = undefined
    return value
  }
  const rest: Batches = {
    [Symbol.asyncIterator]() {
      return this
    },
    next: () => (first ? Promise.resolve({ value: takeFirst() }) : chunks.next()),
    async return() {
      first = undefined
      await chunks.return?.()
      return { done: true, value: undefined }
    },
    async each(take) {
      let more = false
      try {
        more = first ? await take(takeFirst()) : true
      } finally {
        // Also after an error: no other code stops the upstream.
        if (!more) await rest.return?.()
      }
      if (more) await chunks.each(take)
    },
  }
  return rest
}

/** The chunks of a body, one read at a time. Chunks before a fault are returned first. */
function chunksOf(answer: WireAnswer): Batches {
  const parser = sseParser()
  const progress = progressOf()
  const read = (bytes: Uint8Array | undefined): JsonObject[] =>
    progress.take(bytes ? parser.push(bytes) : parser.end(), bytes === undefined)

  async function take(): Promise<IteratorResult<JsonObject[]>> {
    for (;;) {
      if (progress.end) {
        endWith(answer, progress.end)
        return { done: true, value: undefined }
      }
      const batch = read(await answer.read().catch(toEnd))
      if (batch.length > 0) return { done: false, value: batch }
    }
  }

  async function takeAll(take: Take<JsonObject[]>): Promise<void> {
    const goesOn = (more: boolean): boolean => {
      if (!more) progress.end = 'left'
      return !progress.end
    }
    const takeBytes = (bytes: Uint8Array | undefined): boolean | Promise<boolean> => {
      const batch = read(bytes)
      if (batch.length === 0) return !progress.end
      const more = take(batch)
      return typeof more === 'boolean' ? goesOn(more) : more.then(goesOn)
    }
    if (!progress.end) await answer.flow(takeBytes).catch(toEnd)
    if (!progress.end) await takeBytes(undefined)
    endWith(answer, progress.end ?? 'cut')
  }

  const fail = (error: unknown): never => {
    progress.end = 'left'
    answer.stop()
    throw error
  }
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next: () => take().catch(fail),
    async return() {
      progress.end = 'left'
      answer.stop()
      return { done: true, value: undefined }
    },
    each: (all) => takeAll(all).catch(fail),
  }
}

/** A connection that breaks is an end of the body like any other: what came before decides. */
function toEnd(error: unknown): undefined {
  if (!(error instanceof UpstreamFailure && error.reason === 'cut')) throw error
}

type End = FailureReason | 'done' | 'left'

function endWith(answer: WireAnswer, end: End): void {
  if (end === 'done') answer.end()
  else answer.stop()
  if (end !== 'done' && end !== 'left') throw new UpstreamFailure(end)
}

/** How far a stream is: which choices are still open, and whether and how it ended. */
function progressOf() {
  const finished = new Map<number, boolean>()
  const progress = {
    end: undefined as End | undefined,
    /** The chunks of one read's events; `closed` when no more bytes will come. */
    take(events: string[], closed: boolean): JsonObject[] {
      const batch: JsonObject[] = []
      for (const data of events) {
        if (data === '' || progress.end) continue
        if (data.trimEnd() === '[DONE]') {
          progress.end = 'done'
          break
        }
        const chunk = parseObject(data)
        if (chunk && !chunk['error'] && note(finished, chunk['choices'])) batch.push(chunk)
        // Half an event at the end of the body was cut off, not written wrongly.
        else progress.end = chunk || !closed ? 'error' : 'cut'
      }
      if (closed && !progress.end) progress.end = allFinished(finished) ? 'done' : 'cut'
      return batch
    },
  }
  return progress
}

/** Remembers which choices a chunk touched or finished; false when they are not choices at all. */
function note(finished: Map<number, boolean>, choices: Json | undefined): boolean {
  if (choices === undefined || choices === null) return true
  if (!Array.isArray(choices)) return false
  for (const choice of choices) {
    if (!isObject(choice)) return false
    const index = choice['index'] ?? 0
    if (typeof index !== 'number') return false
    if (typeof choice['finish_reason'] === 'string') finished.set(index, true)
    else if (!finished.has(index)) finished.set(index, false)
  }
  return true
}

function allFinished(finished: Map<number, boolean>): boolean {
  return finished.size > 0 && finished.values().every((is) => is)
}

function isAnswer(kind: ModelKind, body: JsonObject): boolean {
  if (kind === 'chat') return isListOf(body['choices'], (item) => isObject(item['message']))
  return isListOf(body['data'], ({ embedding }) => {
    return Array.isArray(embedding) || typeof embedding === 'string'
  })
}

function isListOf(list: Json | undefined, fits: (item: JsonObject) => boolean): boolean {
  return (
    Array.isArray(list) && list.length > 0 && list.every((item) => isObject(item) && fits(item))
  )
}

function parseObject(text: string): JsonObject | undefined {
  // What is read has to be written again, and neither may keep everybody else waiting.
  if (!isModestJson(text)) return undefined
  try {
    const value: Json = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
