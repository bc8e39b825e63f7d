/** Asks an upstream which models it has. */

import { systemClock } from '../../kernel/clock.ts'
import type { Dialect } from '../protocols/dialect.ts'
import { request } from './http.ts'
import type { ReachTrouble } from './reach-trouble.ts'
import { openSigner } from './request-signer.ts'
import { headersFor, type ModelServer } from './server-address.ts'
import type { RequestSigner } from './signer.ts'
import { UpstreamFailure } from './upstream.ts'
import { type UpstreamKind, wireProtocols } from './wire-protocol.ts'

/**
 * How an upstream answered when it was asked which models it has, which costs nothing.
 * `unlisted`: it is there, but does not tell. `denied`: it does not take our key. `unpaid`: our
 * account there has no credit. `misplaced`: its API is at `baseUrl` instead.
 */
export type UpstreamCheck = {
  status:
    | 'ok'
    | 'unlisted'
    | 'denied'
    | 'unpaid'
    | 'misplaced'
    | 'unreachable'
    | ReachTrouble
    | 'timeout'
    | 'error'
  /** The server's names of its models; null where it does not tell. */
  models: string[] | null
  /** The right base URL of one that is misplaced. */
  baseUrl?: string
}

export type CheckedServer = {
  kind?: UpstreamKind | undefined
  base_url: string
  api_key: string | undefined
  auth?: ModelServer['auth'] | undefined
  region?: string | undefined
  service?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
  secret_headers?: Readonly<Record<string, string>> | undefined
  query?: Readonly<Record<string, string>> | undefined
  dialect?: Pick<Dialect, 'limit'> | undefined
}

const limits = {
  firstByteMs: 10_000,
  idleMs: 10_000,
  totalMs: 20_000,
  answerBytes: 16 * 1024 * 1024,
  streamBytes: 0,
}

/**
 * Asks `GET …/models`, which servers of every kind have. Where there is none, or a page for people,
 * it is looked for where base URLs mostly end: in `/v1`, and before the path of a door.
 */
export async function checkUpstream(asked: CheckedServer): Promise<UpstreamCheck> {
  const found = await checkAt(asked)
  if (found.status !== 'unlisted') return found
  for (const baseUrl of likelierThan(asked.base_url)) {
    const { status } = await checkAt({ ...asked, base_url: baseUrl })
    if (status === 'ok' || status === 'denied' || status === 'unpaid') {
      return { status: 'misplaced', models: null, baseUrl }
    }
  }
  return found
}

function likelierThan(baseUrl: string): string[] {
  const bare = baseUrl.replace(/\/(chat\/completions|completions|messages|responses|models)$/, '')
  const withVersion = /\/v\d+[a-z]*(\/|$)/.test(new URL(bare).pathname) ? [] : [`${bare}/v1`]
  return bare === baseUrl ? withVersion : [bare, ...withVersion]
}

async function checkAt(asked: CheckedServer): Promise<UpstreamCheck> {
  const { kind = 'openai', base_url, api_key, auth, query = {} } = asked
  const url = new URL(base_url)
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/models`
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  const headers = headersFor(wireProtocols[kind], {
    ...(api_key === undefined ? {} : { apiKey: api_key }),
    ...(auth === undefined ? {} : { auth }),
    headers: { ...asked.headers, ...asked.secret_headers },
  })
  const answer = await askFor(url.href, headers, { signer: signerOf(asked) })
  if (answer.status !== 'ok') return { status: answer.status, models: null }
  const models = namesIn(answer.text)
  return { status: models ? 'ok' : 'unlisted', models }
}

/** The text of a free page of a provider, or why there is none. */
export type FreeAnswer =
  | { status: 'ok'; text: string }
  | { status: Exclude<UpstreamCheck['status'], 'ok' | 'misplaced'> }

/** The signer of requests to a server; undefined where its key is sent. */
export const signerOf = (asked: CheckedServer): RequestSigner | undefined =>
  openSigner({
    ...asked,
    baseUrl: asked.base_url,
    apiKey: asked.api_key,
    clock: systemClock,
  })

/** Asks for a page, or sends a body. */
export async function askFor(
  url: string,
  headers: Record<string, string>,
  { body, signer }: { body?: object; signer?: RequestSigner | undefined } = {},
): Promise<FreeAnswer> {
  const { signal } = new AbortController()
  const text = body && JSON.stringify(body)
  const method = text === undefined ? 'GET' : 'POST'
  const sent = text === undefined ? {} : { body: text }
  try {
    const proof = signer && (await signer.headersFor({ method, url, body: text }))
    const all = { ...headers, ...proof }
    const answer = await request({ url, method, ...sent, headers: all, signal, limits })
    const { status } = answer
    if (status === 200) return { status: 'ok', text: await answer.text() }
    answer.stop()
    if (status === 401 || status === 403) return { status: 'denied' }
    if (status === 402) return { status: 'unpaid' }
    return { status: status === 404 || status === 405 ? 'unlisted' : 'error' }
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    return { status: error.trouble ?? statuses[error.reason] ?? 'error' }
  }
}

const statuses: Partial<Record<UpstreamFailure['reason'], 'unreachable' | 'timeout' | 'denied'>> = {
  unreachable: 'unreachable',
  denied: 'denied',
  timeout: 'timeout',
  too_long: 'timeout',
}

/** The ids of a list in OpenAI's shape; null when it is none. */
function namesIn(text: string): string[] | null {
  try {
    const { data } = JSON.parse(text)
    return data.flatMap(({ id }: { id: unknown }) => (typeof id === 'string' ? [id] : []))
  } catch {
    return null
  }
}
