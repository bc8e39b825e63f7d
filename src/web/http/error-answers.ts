/** Turns errors into answers: JSON for programs, pages and fragments for people. */
import { NotFoundError } from 'elysia'
import type { Actor } from '../../kernel/acting.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log.ts'
import { type ErrorForm, ourErrors, Refusal, type RefusalType } from '../../kernel/refusal.ts'
import { elsewhereDetail, elsewhereInPath, type Shard } from '../../kernel/shard.ts'
import { StorageFault } from '../../kernel/storage-fault.ts'
import { readTrace } from '../../kernel/trace.ts'
import { isForFewPrograms, isForPrograms, pathStart } from './paths.ts'
import { refusalHeaders } from './refusal-headers.ts'
import { baseHeaders } from './standing-headers.ts'
import { toRefusal } from './to-refusal.ts'

/** How errors are shown. */
export type ErrorDeps = {
  ids: Ids
  log: Pick<Log, 'error'>
  /** Counts a refusal by its type. */
  note?: ((type: RefusalType) => void) | undefined
  /** Says more of a refusal; without it, refusals are shown as they are. */
  explain?: ((refusal: Refusal) => Refusal) | undefined
  /** Shows a refusal to people: a page, or a fragment for htmx. Without it they get JSON too. */
  showRefusal?: (...asked: Parameters<ShowRefusal>) => ErrorPage | undefined
  /** How a request's protocol writes a refusal; ours where it has no way of its own. */
  errorFormFor?: (request: Request) => ErrorForm | undefined
  /** The message of a 404 for a path without a route; undefined keeps the usual words. */
  missingWords?: (pathname: string) => string | undefined
  /** The message for a path that takes other methods only; undefined makes it a usual 405. */
  swallowedWords?: (pathname: string) => string | undefined
  /** Absent without shards. */
  shard?: Shard | undefined
}

export type ShowRefusal = (
  refusal: Refusal,
  asked: {
    request: Request
    requestId: string
    wants: 'page' | 'fragment'
    /** The signed-in wallet, if the route knows it. */
    reader?: Actor | undefined
  },
) => ErrorPage

export type ErrorPage = { html: string; headers: Record<string, string> }

/** Turns an error into an answer; `said` are the headers its route had set. */
export const errorAnswers = (deps: ErrorDeps) => {
  const { ids, log, explain, showRefusal, errorFormFor, shard } = deps
  const wordsOf = ({ type }: Refusal, isUnrouted: boolean, url: string): string | undefined => {
    if (isUnrouted) return deps.missingWords?.(pathnameOf(url))
    return type === 'method_not_allowed' ? deps.swallowedWords?.(pathnameOf(url)) : undefined
  }
  return (error: unknown, request: Request, said: Record<string, unknown>, reader?: Actor) => {
    const requestId = String(said['x-request-id'] ?? ids.make('req'))
    const known = toRefusal(error)
    const isUnrouted = error instanceof NotFoundError
    const words = wordsOf(known, isUnrouted, request.url)
    const refused = words ? new Refusal('not_found', { message: words }) : known
    const routed = misroutedOf(shard, refused, { error, url: request.url }) ?? refused
    const refusal = explain ? explain(routed) : routed
    deps.note?.(refusal.type)
    if (refusal.type === 'internal_error') {
      const trace = readTrace(request.headers.get('traceparent'), null)
      const names = { request_id: requestId, ...(trace ? { trace_id: trace.id } : {}) }
      log.error('request.failed', error, names)
    }
    // Such a path is a program's.
    const wants = words === undefined ? wantsHtml(request, isUnrouted) : undefined
    const shown = wants && showRefusal?.(refusal, { request, requestId, wants, reader })
    const form = errorFormFor?.(request) ?? ourErrors
    const headers: Record<string, string> = {
      ...baseHeaders(requestId),
      ...(form.idHeader && { [form.idHeader]: requestId }),
      ...keptOf(said),
      ...refusalHeaders(refusal),
      ...(shown ? { 'content-type': 'text/html; charset=utf-8', ...shown.headers } : {}),
    }
    const body = shown ? shown.html : form.toBody(refusal, requestId)
    return { status: form.statusOf(refusal), headers, body }
  }
}

/** An id of another shard that this one does not know, or cannot look up, is answered there. */
function misroutedOf(
  shard: Shard | undefined,
  { status }: Refusal,
  { error, url }: { error: unknown; url: string },
) {
  const isUnknown = status === 404 || status === 400 || error instanceof StorageFault
  const other = isUnknown ? elsewhereInPath(shard, url) : undefined
  return other === undefined
    ? undefined
    : new Refusal('misdirected_request', elsewhereDetail(other))
}

/** Headers of a route that stay true when it refuses: they go out with the error, too. */
const lasting = [
  'access-control-allow-origin',
  'access-control-expose-headers',
  'ratelimit',
  'ratelimit-policy',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
]

const keptOf = (headers: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    lasting.flatMap((name) => {
      const value = headers[name]
      return value === undefined ? [] : [[name, String(value)]]
    }),
  )

const pathnameOf = (url: string): string => url.slice(pathStart(url)).split(/[?#]/, 1)[0] ?? ''

/**
 * Chooses the form of a refusal. Programs under `/v1`, `/operator/v1`, `/openapi` and `/mcp`, and
 * supervisors, always get JSON, and so does a path under `/api` that no page uses; elsewhere htmx
 * gets a fragment and a browser a page. Only the form depends on it, so reading the path from the
 * URL is safe here.
 */
function wantsHtml(
  { url, headers }: Request,
  isUnrouted: boolean,
): 'page' | 'fragment' | undefined {
  if (isForPrograms(url) || isForFewPrograms(url)) return undefined
  if (url.startsWith('/openapi/', pathStart(url))) return undefined
  if (isUnrouted && isUnderApi(url)) return undefined
  if (headers.get('hx-request') === 'true') return 'fragment'
  const accept = headers.get('accept') ?? ''
  if (url.startsWith('/api/', pathStart(url)))
    return accept.includes('text/html') ? 'page' : undefined
  return accept.includes('application/json') && !accept.includes('text/html') ? undefined : 'page'
}

const isUnderApi = (url: string): boolean => /^\/api(?![\w-])/.test(url.slice(pathStart(url)))
