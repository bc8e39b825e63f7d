/** Reads failures that a model server tells of inside of an answer that began well. */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../kernel/json-object.ts'
import { isEmpty } from '../free-members.ts'
import { objectsIn } from '../protocols/reading.ts'
import { errorIn, failureOf, type WordRules } from './refused.ts'
import { retryAfterIn } from './retry-after.ts'
import type { UpstreamFailure } from './upstream.ts'

const failedTypes = new Set<unknown>(['error', 'response.failed', 'response.error'])

/**
 * The object that tells of a failure: with a member `error`, or the error itself. Undefined for an
 * event or an answer that tells of none. `name` is what the event is called.
 */
export function errorObjectIn(event: JsonObject, name?: string): JsonObject | undefined {
  const { error, response, type } = event
  if (error) return event
  if (isObject(response) && response['error']) return response
  if (name === 'error' || event['object'] === 'error' || failedTypes.has(type)) {
    return isObject(response) ? response : event
  }
  if (!isEmpty(event['choices']) || event['usage'] || type !== undefined) return undefined
  return flatErrorIn(event)
}

/** The forms without a name that tells of them: a code and a message, FastAPI's, MiniMax's. */
function flatErrorIn({ code, message, detail, base_resp }: JsonObject): JsonObject | undefined {
  const status = isObject(base_resp) ? base_resp['status_code'] : undefined
  if (isObject(base_resp) && status) {
    return { error: { code: status ?? null, message: base_resp['status_msg'] ?? '' } }
  }
  if (typeof message === 'string' && code && !isGoodCode(code))
    return { code: code ?? null, message }
  return detail ? { detail } : undefined
}

const isGoodCode = (code: Json | undefined): boolean => /^(0|2\d\d)$/.test(String(code))

/** The failure that such an object is, with the status and the time to wait that it names. */
export function inBandFailure(told: JsonObject, rules: WordRules): UpstreamFailure {
  const { error } = told
  const place = isObject(error) ? error : told
  const said = errorIn(told)
  const status = statusIn(place) ?? statusIn(told) ?? statusIn({ code: statusWordIn(said.message) })
  const retryAfterMs = waitIn(place) ?? waitIn(told) ?? waitWordIn(said.message)
  return failureOf(said, { status, retryAfterMs }, rules)
}

/** The names of errors whose status is not written. */
const statuses = new Map<unknown, number>([
  ['badrequesterror', 400],
  ['invalid_argument', 400],
  ['invalid_prompt', 400],
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['invalid_api_key', 401],
  ['billing_error', 402],
  ['permission_denied', 403],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['notfounderror', 404],
  ['request_too_large', 413],
  ['insufficient_quota', 429],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['ratelimiterror', 429],
  ['resource_exhausted', 429],
  ['throttling_error', 429],
  ['throttlingexception', 429],
  ['api_error', 500],
  ['internal', 500],
  ['internal_server_error', 500],
  ['internalservererror', 500],
  ['server_error', 500],
  ['unavailable', 503],
  ['deadline_exceeded', 504],
  ['timeout_error', 504],
  ['overloaded_error', 529],
])

const statusNames = ['code', 'status', 'status_code', 'statusCode', 'http_status', 'http_code']

function statusIn(from: JsonObject): number | undefined {
  for (const name of statusNames) {
    const value = from[name]
    if (typeof value !== 'number' && typeof value !== 'string') continue
    if (/^[45]\d\d$/.test(String(value).trim())) return Number(value)
  }
  for (const name of [...statusNames, 'type']) {
    const value = from[name]
    const status = typeof value === 'string' ? statuses.get(value.toLowerCase()) : undefined
    if (status !== undefined) return status
  }
  return undefined
}

/** Proxies write the status of the server behind them into their message. */
const statusWordIn = (message: string): string =>
  /\b(?:error|status)(?: code)?[: ]+([45]\d\d)\b/i.exec(message)?.[1] ?? ''

function waitIn(from: JsonObject): number | undefined {
  const { metadata } = from
  const { headers = {} } = isObject(metadata) ? metadata : {}
  for (const place of [from, headers]) {
    if (!isObject(place)) continue
    const wait = retryAfterIn((name) => {
      const value = place[name] ?? place[name.replaceAll('-', '_')] ?? place[titled(name)]
      return typeof value === 'number' || typeof value === 'string' ? String(value) : undefined
    })
    if (wait !== undefined) return wait
  }
  for (const { retryDelay } of objectsIn(from['details'])) {
    const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(String(retryDelay)) ?? []
    if (seconds !== undefined)
      return retryAfterIn((name) => (name === 'retry-after' ? seconds : null))
  }
  return undefined
}

const titled = (name: string): string =>
  name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())

function waitWordIn(message: string): number | undefined {
  const [, count, unit] =
    /\b(?:try again|retry)(?: in| after)? (\d+(?:\.\d+)?) ?(ms|s)\b/i.exec(message) ?? []
  if (count === undefined) return undefined
  const field = unit?.toLowerCase() === 'ms' ? 'retry-after-ms' : 'retry-after'
  return retryAfterIn((name) => (name === field ? count : null))
}
