/**
 * A model server that is asked over HTTP, in the protocol that it speaks. An answer that was asked
 * for whole is read also where it comes as a stream.
 */
import { systemClock } from '../../kernel/clock.ts'
import { type JsonObject, parseObject } from '../../kernel/json-object.ts'
import { traceHeaders } from '../../kernel/trace.ts'
import { NativeEvent } from '../native-event.ts'
import { joinChunks } from '../protocols/chat/whole.ts'
import type { EventReader } from '../protocols/event-reader.ts'
import { askByKeys } from './ask-by-keys.ts'
import { openChunks } from './chunk-stream.ts'
import { tokenCounter } from './count-tokens.ts'
import { noteExchange } from './exchange-hashes.ts'
import { defaultHttpLimits, type HttpLimits, type Wire, type WireAnswer } from './http.ts'
import { errorObjectIn, inBandFailure } from './in-band.ts'
import { refusalIn, type WordRules } from './refused.ts'
import { askSigned, openSigner } from './request-signer.ts'
import { endpoint, headersFor, type ModelServer } from './server-address.ts'
import { ServerDialects } from './server-dialects.ts'
import type { EvidenceConfig } from './signed-exchange.ts'
import {
  type Chunks,
  plainChunks,
  type Upstream,
  type UpstreamCall,
  UpstreamFailure,
} from './upstream.ts'
import { evidenceSource } from './upstream-evidence.ts'
import { openWire } from './wire/wire.ts'
import { type RepairRules, type WireProtocol, wireProtocols } from './wire-protocol.ts'

/**
 * A model server. Its words never leave it: an error body can hold its URL or key, so only the
 * status, our own reason and the plain name of an error go on.
 * @throws when `baseUrl` is not a plain http(s) URL: a fault of the configuration.
 */
export function modelServer(options: ModelServer): Upstream {
  const { id, limits, isTraced = false } = options
  const wireProtocol = wireProtocols[options.kind ?? 'openai']
  const open = (path: string | undefined): Wire | undefined =>
    path === undefined ? undefined : openWire(endpoint(options, path), options)
  const wires = {
    chat: open(wireProtocol.paths.chat),
    embedding: open(wireProtocol.paths.embedding),
  }
  const headers = headersFor(wireProtocol, options)
  const { clock = systemClock } = options
  const signer = openSigner({ ...options, clock })
  const known = secretsOf(options)
  const rules = {
    get secrets() {
      return signer ? [...known, ...signer.secrets()] : known
    },
    isRelayed: options.relaysMessages !== false,
  }
  const allLimits = { ...defaultHttpLimits, ...limits }
  const { firstByteMs, totalMs } = allLimits
  // A stream that flows is never too long: only one without anything new in it is.
  const streamLimits = {
    ...allLimits,
    firstByteMs: Math.min(firstByteMs, totalMs),
    totalMs: Number.POSITIVE_INFINITY,
  }

  const counting = signer ? undefined : open(wireProtocol.counting)
  const { pool } = options
  const countBy = (model: string) => pool?.headersFor(model) ?? headers
  const counter = counting && tokenCounter({ wire: counting, headers: countBy, limits: allLimits })

  const ask = (call: UpstreamCall, body: string, { headers, limits }: Sending) => {
    const { kind, account, signal, trace, mark, passed } = call
    const wire = wires[kind]
    if (!wire) throw new UpstreamFailure('rejected')
    const own = passed ? { ...headers, ...passed } : headers
    const request = {
      account,
      headers: trace && isTraced ? { ...own, ...traceHeaders(trace) } : own,
      body,
      signal,
      mark,
      limits,
    }
    if (!signer) return wire.ask(request)
    const url = endpoint(options, wireProtocol.paths[kind] ?? '')
    return askSigned(signer, { wire, url }, request)
  }
  const { attest } = options
  /** Notes the bytes of both sides. */
  const askNoted = async (
    call: UpstreamCall,
    body: JsonObject,
    { scheme }: EvidenceConfig,
    sending: Sending,
  ) => {
    const request = JSON.stringify(body)
    const answer = await ask(call, request, sending)
    if (!call.mark || !isGood(answer)) return answer
    const model = typeof body['model'] === 'string' ? body['model'] : ''
    const { answerBytes } = allLimits
    const noted = noteExchange(answer, { upstream: id, model, scheme, request, answerBytes })
    call.mark.exchange = noted.exchange
    return noted.answer
  }
  const post = (call: UpstreamCall, body: JsonObject, sending: Sending) =>
    attest ? askNoted(call, body, attest, sending) : ask(call, JSON.stringify(body), sending)

  const whole = { headers, limits: allLimits }
  const complete = async (call: UpstreamCall, sending: Sending): Promise<JsonObject> => {
    const answer = await post(call, call.body, sending)
    if (!isGood(answer)) throw await refusalIn(answer, rules)
    return await readWhole(await answer.text(), { call, wireProtocol, rules })
  }
  const streaming = { headers, limits: streamLimits }
  const stream = async (call: UpstreamCall, sending: Sending): Promise<Chunks> => {
    if (call.kind !== 'chat') throw new UpstreamFailure('rejected')
    const streamed: JsonObject = { ...call.body, ...wireProtocol.streaming }
    for (const name of call.without ?? []) if (name !== 'stream') delete streamed[name]
    const answer = await post(call, streamed, sending)
    if (!isGood(answer)) throw await refusalIn(answer, rules)
    const reader = readerFor(call, wireProtocol)
    return await openChunks(answer, { reader, rules, quietMs: totalMs })
  }

  return {
    id,
    protocol: wireProtocol.protocol,
    dialects: new ServerDialects(clock, options.dialect),
    ...(counter && { countTokens: counter }),
    ...(pool && { keys: () => pool.health(), isReady: (model) => pool.isReady(model) }),
    ...(attest && {
      evidence: evidenceSource(attest, headers, (path, query) =>
        endpoint({ ...options, query: { ...options.query, ...query } }, path),
      ),
    }),
    complete: (call) =>
      pool
        ? askByKeys(pool, call, (own) => complete(call, { ...whole, headers: own }))
        : complete(call, whole),
    stream: (call) =>
      pool
        ? askByKeys(pool, call, (own) => stream(call, { ...streaming, headers: own }))
        : stream(call, streaming),
  }
}

/** Texts of the configuration that are cut from the words of the server. */
function secretsOf({ apiKey, pool, baseUrl, headers = {} }: ModelServer): string[] {
  const url = URL.parse(baseUrl)
  const keys = pool?.keys.map(({ secret }) => secret) ?? []
  const all = [apiKey, ...keys, baseUrl, url?.host, url?.hostname, ...Object.values(headers)]
  return all.filter((secret): secret is string => secret !== undefined && secret !== '')
}

type Headers = Readonly<Record<string, string>>

/** The headers of a request, with a key of ours, and its limits. */
type Sending = { headers: Headers; limits: HttpLimits }

const isGood = ({ status }: { status: number }): boolean => status >= 200 && status < 300

type Reading = { call: UpstreamCall; wireProtocol: WireProtocol; rules: WordRules }

/** The reader for the stream of a call. */
function readerFor(call: UpstreamCall, wireProtocol: WireProtocol): EventReader {
  const repairing = repairingOf(call)
  return call.isNative ? wireProtocol.nativeReader(repairing) : wireProtocol.reader(repairing)
}

/** Ids that an answer lacks are made of the id of its run: distinct in all answers. */
function repairingOf({ run = '', body, mark }: UpstreamCall): RepairRules {
  let count = 0
  return {
    newId: (prefix) => `${prefix}_${run}${run && '_'}${count++}`,
    hasFunctions: body['functions'] !== undefined,
    onUnknown(word) {
      if (mark) mark.unknownFinish = word
    },
  }
}

/**
 * The answer that a body has, native or in the shape of Chat Completions.
 * @throws UpstreamFailure
 */
export function readWhole(text: string, reading: Reading): JsonObject | Promise<JsonObject> {
  const { call, wireProtocol, rules } = reading
  const body = parseObject(text)
  if (!body) return readStreamed(text, reading)
  const told = errorObjectIn(body)
  if (told) throw inBandFailure(told, rules)
  const repaired = wireProtocol.repair(call.kind, body, () => repairingOf(call))
  if (repaired && 'failure' in repaired) throw inBandFailure(objectFrom(repaired), rules)
  const read = repaired && (call.isNative ? repaired : wireProtocol.toChat(repaired))
  return read ?? readStreamed(text, reading)
}

const objectFrom = ({ failure }: JsonObject | { failure: JsonObject }): JsonObject =>
  failure as JsonObject

/** Reads events in the place of one answer. One that is cut was not used, so it is an error. */
async function readStreamed(text: string, reading: Reading): Promise<JsonObject> {
  const { call, wireProtocol, rules } = reading
  // Half an answer, or a page.
  if (call.kind !== 'chat' || !beginsLikeEvents.test(text)) throw new UpstreamFailure('error')
  const reader = readerFor(call, wireProtocol)
  const chunks: JsonObject[] = []
  const events: JsonObject[] = []
  try {
    for await (const batch of await openChunks(answerOf(text), { reader, rules, parseAll: true })) {
      chunks.push(...plainChunks(batch))
      for (const one of batch) if (one instanceof NativeEvent) events.push(one.data)
    }
  } catch (error) {
    const isCut = error instanceof UpstreamFailure && error.reason === 'cut'
    throw isCut ? new UpstreamFailure('error') : error
  }
  return call.isNative ? wireProtocol.join(events) : joinChunks(chunks)
}

const beginsLikeEvents = /^\s*(?:(?:data|event|id|retry|error)?:|\{|null\s)/

/** An answer whose body has come. */
function answerOf(text: string): WireAnswer {
  let left: Uint8Array | undefined = new TextEncoder().encode(text)
  return {
    status: 200,
    text: async () => text,
    async read() {
      const bytes = left
      left = undefined
      return bytes
    },
    async flow(take) {
      const bytes = await this.read()
      if (bytes) await take(bytes)
    },
    end: () => {},
    stop: () => {},
  }
}
