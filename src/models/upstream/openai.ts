/** An upstream that speaks the OpenAI API over HTTP. */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, parseObject } from '../../kernel/json-object.ts'
import { traceHeaders } from '../../kernel/trace.ts'
import type { ModelKind } from '../meter.ts'
import { openChunks } from './chunk-stream.ts'
import { defaultHttpLimits, type HttpLimits } from './http.ts'
import { errorIn, isTooLong, refusalIn } from './refused.ts'
import { type JsonObject, type Upstream, type UpstreamCall, UpstreamFailure } from './upstream.ts'
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
 * A server that speaks the OpenAI API. Its words never leave it: an error body can hold its URL or
 * key, so only the status, our own reason and the plain name of an error go on.
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
  const secrets = [apiKey ?? '', baseUrl].filter((secret) => secret !== '')

  const post = ({ kind, account, signal, trace, mark }: UpstreamCall, body: JsonObject) =>
    wires[kind].ask({
      account,
      headers: trace ? { ...headers, ...traceHeaders(trace) } : headers,
      body: JSON.stringify(body),
      signal,
      mark,
      limits: allLimits,
    })

  return {
    id,
    async complete(call) {
      const answer = await post(call, call.body)
      if (!isGood(answer)) throw await refusalIn(answer, secrets)
      const body = parseObject(await answer.text())
      if (body?.['error'] && isTooLong(errorIn(body))) throw new UpstreamFailure('context')
      if (!body || body['error'] || !isAnswer(call.kind, body)) throw new UpstreamFailure('error')
      return body
    },
    async stream(call) {
      if (call.kind !== 'chat') throw new UpstreamFailure('rejected')
      const body = { ...call.body, stream: true, stream_options: { include_usage: true } }
      const answer = await post(call, body)
      if (!isGood(answer)) throw await refusalIn(answer, secrets)
      return await openChunks(answer)
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

const isGood = ({ status }: { status: number }): boolean => status >= 200 && status < 300

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
