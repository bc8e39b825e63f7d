/** A model server that is asked over HTTP, in the protocol that it speaks. */
import { systemClock } from '../../kernel/clock.ts'
import { traceHeaders } from '../../kernel/trace.ts'
import { openChunks } from './chunk-stream.ts'
import { tokenCounter } from './count-tokens.ts'
import type { Attest } from './exchange.ts'
import { defaultHttpLimits, type HttpLimits, type Wire } from './http.ts'
import { noteExchange } from './noted-answer.ts'
import { readerFor, readWhole } from './read-whole.ts'
import { refusalIn } from './refused.ts'
import { endpoint, headersFor, type ModelServer } from './server-address.ts'
import { ServerDialects } from './server-dialects.ts'
import { type JsonObject, type Upstream, type UpstreamCall, UpstreamFailure } from './upstream.ts'
import { evidenceSource } from './upstream-evidence.ts'
import { openWire } from './wire/wire.ts'
import { wireProtocols } from './wire-protocol.ts'

/**
 * A model server. Its words never leave it: an error body can hold its URL or key, so only the
 * status, our own reason and the plain name of an error go on.
 * @throws when `baseUrl` is not a plain http(s) URL: a fault of the configuration.
 */
export function modelServer(options: ModelServer): Upstream {
  const { id, limits, isTraced = false } = options
  const wireProtocol = wireProtocols[options.kind ?? 'openai']
  const open = (path: string | undefined): Wire | undefined =>
    path === undefined ? undefined : openWire(endpoint(options, path), options.isProxied === true)
  const wires = {
    chat: open(wireProtocol.paths.chat),
    embedding: open(wireProtocol.paths.embedding),
  }
  const headers = headersFor(wireProtocol, options)
  const own = [
    options.apiKey,
    options.baseUrl,
    URL.parse(options.baseUrl)?.host,
    URL.parse(options.baseUrl)?.hostname,
    ...Object.values(options.headers ?? {}),
  ]
  const rules = {
    secrets: own.filter((secret): secret is string => secret !== undefined && secret !== ''),
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

  const counting = open(wireProtocol.counting)
  const counter = counting && tokenCounter({ wire: counting, headers, limits: allLimits })

  const ask = (call: UpstreamCall, body: string, limits = allLimits) => {
    const { kind, account, signal, trace, mark, passed } = call
    const wire = wires[kind]
    if (!wire) throw new UpstreamFailure('rejected')
    const own = passed ? { ...headers, ...passed } : headers
    return wire.ask({
      account,
      headers: trace && isTraced ? { ...own, ...traceHeaders(trace) } : own,
      body,
      signal,
      mark,
      limits,
    })
  }
  const { attest } = options
  /** Notes the bytes of both sides. */
  const askNoted = async (
    call: UpstreamCall,
    body: JsonObject,
    { scheme }: Attest,
    limits: HttpLimits,
  ) => {
    const request = JSON.stringify(body)
    const answer = await ask(call, request, limits)
    if (!call.mark || !isGood(answer)) return answer
    const model = typeof body['model'] === 'string' ? body['model'] : ''
    const { answerBytes } = allLimits
    const noted = noteExchange(answer, { upstream: id, model, scheme, request, answerBytes })
    call.mark.exchange = noted.exchange
    return noted.answer
  }
  const post = (call: UpstreamCall, body: JsonObject, limits: HttpLimits) =>
    attest ? askNoted(call, body, attest, limits) : ask(call, JSON.stringify(body), limits)

  return {
    id,
    protocol: wireProtocol.protocol,
    dialects: new ServerDialects(options.clock ?? systemClock, options.dialect),
    ...(counter && { countTokens: counter }),
    ...(attest && {
      evidence: evidenceSource(attest, headers, (path, query) =>
        endpoint({ ...options, query: { ...options.query, ...query } }, path),
      ),
    }),
    async complete(call) {
      const answer = await post(call, call.body, allLimits)
      if (!isGood(answer)) throw await refusalIn(answer, rules)
      return await readWhole(await answer.text(), { call, wireProtocol, rules })
    },
    async stream(call) {
      if (call.kind !== 'chat') throw new UpstreamFailure('rejected')
      const streamed: JsonObject = { ...call.body, ...wireProtocol.streaming }
      for (const name of call.without ?? []) if (name !== 'stream') delete streamed[name]
      const answer = await post(call, streamed, streamLimits)
      if (!isGood(answer)) throw await refusalIn(answer, rules)
      const reader = readerFor(call, wireProtocol)
      return await openChunks(answer, { reader, rules, quietMs: totalMs })
    },
  }
}

const isGood = ({ status }: { status: number }): boolean => status >= 200 && status < 300
