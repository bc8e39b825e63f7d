/**
 * Reads why a model server refused a request. Its words leave this file without addresses and
 * secrets, and only where its operator lets them pass.
 */
import type { Json } from '../../kernel/canonical.ts'
import { deadlineIn } from '../../kernel/deadline.ts'
import { isObject, parseObject } from '../../kernel/json-object.ts'
import { redact } from '../../kernel/redact.ts'
import type { WireAnswer } from './http.ts'
import { type FailureReason, type ServerWords, UpstreamFailure } from './upstream.ts'

/** How much of an error body is read, in bytes, and how long it may take, in ms. */
const mostBytes = 8192
const withinMs = 1000

/** Statuses whose error can be about the length of the request. Some servers say 500. */
const lengthStatuses = new Set([400, 413, 422, 500])

/** The secrets that are cut from the words of a server, and whether the rest may leave us. */
export type WordRules = { secrets: readonly string[]; isRelayed: boolean }

/** The failure that an answer with an error status is. */
export async function refusalIn(answer: WireAnswer, rules: WordRules): Promise<UpstreamFailure> {
  const { status, retryAfterMs } = answer
  const body = parseObject(await beginningOf(answer))
  return failureOf(errorIn(body), { status, retryAfterMs }, rules)
}

/** The failure that a server names, by a status or inside of an answer that began well. */
export function failureOf(
  error: ServerError,
  { status, retryAfterMs }: { status?: number | undefined; retryAfterMs?: number | undefined },
  { secrets, isRelayed }: WordRules,
): UpstreamFailure {
  const isLength =
    (status === undefined || lengthStatuses.has(status)) && (status === 413 || isTooLong(error))
  const reason = isLength ? 'context' : reasonOf(status, error)
  const code = codeOf(error, secrets)
  const words: ServerWords | undefined =
    reason === 'rejected'
      ? {
          message: cleanWords(error.message, secrets),
          code: error.code && cleanWords(error.code, secrets).slice(0, 64),
          param: error.param && cleanWords(error.param, secrets).slice(0, 128),
          isRelayed,
        }
      : undefined
  const isOfRequest = status === 429 && tooLargeNow.test(error.message)
  return new UpstreamFailure(reason, { status, retryAfterMs, code, words, isOfRequest })
}

/** A 429 for a request that is above the limit by itself: smaller ones pass. */
const tooLargeNow = /\brequest too large\b|tokens must be reduced/i

/** An overloaded server says so by its name of the error where its status is another one. */
function reasonOf(status: number | undefined, { names, message }: ServerError): FailureReason {
  // 529 is what Anthropic answers when it is overloaded.
  if (status === 429 || status === 503 || status === 529) return 'busy'
  if (status === 403 && moderated.test(message)) return 'rejected'
  if (status === 401 || status === 402 || status === 403) return 'denied'
  if (status === 400 || status === 404 || status === 413 || status === 422) return 'rejected'
  if (status !== undefined) return 'error'
  return names.some((name) => busyNames.has(name)) ? 'busy' : 'error'
}

/** A 403 for what a request says is its client's to mend, not the operator's. */
const moderated = /\b(moderation|flagged|content (policy|filter))\b/i

const busyNames = new Set(['overloaded_error', 'rate_limit_error', 'rate_limit_exceeded'])

/** The body, or what came of it in time. */
async function beginningOf(answer: WireAnswer): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  const tooLong = deadlineIn(withinMs, () => answer.stop())
  try {
    while (size < mostBytes) {
      const bytes = await answer.read()
      if (!bytes) break
      pieces.push(bytes)
      size += bytes.length
    }
  } catch {
    // The status says enough.
  } finally {
    tooLong.clear()
    answer.stop()
  }
  return Buffer.concat(pieces).subarray(0, mostBytes).toString()
}

/** The parts of an error that are read; `names` are its code and its type where they are texts. */
export type ServerError = { names: string[]; message: string; code?: string; param?: string }

/** The error of an answer, in the forms of OpenAI, Anthropic, vLLM, llama.cpp, Ollama, FastAPI. */
export function errorIn(body: Json | undefined): ServerError {
  if (!isObject(body)) return { names: [], message: '' }
  const { error = body } = body
  if (typeof error === 'string') return { names: [], message: startOf(error) }
  if (!isObject(error)) return { names: [], message: '' }
  const { code, type, message, detail, param, metadata } = error
  const names = [code, type].filter((name) => typeof name === 'string')
  return {
    names,
    message: startOf([textIn(message ?? detail), rawIn(metadata)].filter(Boolean).join(' ')),
    ...(typeof code === 'string' || typeof code === 'number' ? { code: String(code) } : {}),
    ...(typeof param === 'string' ? { param } : {}),
  }
}

/** OpenRouter puts what the server behind it said beside its own message. */
function rawIn(metadata: Json | undefined): string {
  const raw = isObject(metadata) ? metadata['raw'] : undefined
  if (typeof raw !== 'string') return ''
  return errorIn(parseObject(raw)).message || raw
}

/** FastAPI names each fault with the place where it is: `["body", "stream_options"]`. */
function textIn(words: Json | undefined): string {
  if (typeof words === 'string') return words
  if (isObject(words)) return textIn(words['detail'] ?? words['message'])
  if (!Array.isArray(words)) return ''
  return words
    .filter(isObject)
    .map(({ loc, msg, type }) => {
      const place = Array.isArray(loc) ? loc.filter((part) => part !== 'body').join('.') : ''
      return [place, msg ?? type]
        .filter((part) => typeof part === 'string' && part !== '')
        .join(': ')
    })
    .join('; ')
}

/** The start of a message, which is searched: a long one would take its square. */
const startOf = (message: string): string => message.slice(0, 2000)

const lengthNames = new Set([
  'context_length_exceeded',
  'context_window_exceeded',
  'exceed_context_size_error',
  'request_too_large',
])

/** The words of servers for a request that does not fit into the context of their model. */
const lengthWords = [
  /context[ _-]?(length|window|size|limit).*(exceed|too |only|maximum|reduce)/i,
  /(exceed|too |longer|larger|greater|maximum|beyond).*context[ _-]?(length|window|size|limit)/i,
  /(prompt|input|request) is too (long|large)/i,
  /maximum (model|prompt|input) length/i,
  /(input|prompt) token count.*exceed/i,
  /reduce the length of the (message|prompt|input)/i,
  /too many (input|prompt) tokens/i,
  /max_new_tokens.* must be <=/i,
]

export const isTooLong = ({ names, message }: ServerError): boolean =>
  names.some((name) => lengthNames.has(name)) || lengthWords.some((words) => words.test(message))

/** The name of an error, as far as it is one: no digits, so that no key or address passes. */
function codeOf({ names }: ServerError, secrets: readonly string[]): string | undefined {
  const isSecret = (name: string): boolean =>
    secrets.some((secret) => secret.includes(name) || name.includes(secret))
  return names.find((name) => /^[A-Za-z][A-Za-z_]{2,47}$/.test(name) && !isSecret(name))
}

/** The longest message that is passed on, in characters. */
const mostLength = 500

/** Each takes linear time on a text of bounded length. */
const places = 'internal|local|lan|svc|intra|corp|com|net|org|io|ai|dev|cloud|app|co'

const removed: [RegExp, string][] = [
  [/\b[a-z][a-z\d+.-]{1,15}:\/\/[^\s"'<>)\]}]+/gi, '[address]'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g, '[address]'],
  [/\[?\b(?:[\da-f]{1,4}:){3,7}(?::?[\da-f]{1,4})?\b\]?(?::\d{1,5})?/gi, '[address]'],
  [/\blocalhost(?::\d{1,5})?\b/gi, '[address]'],
  // Names of a network, or with a port: a path of members such as messages.0.content has neither.
  [
    new RegExp(`\\b[a-z\\d](?:[\\w-]*\\.)+(?:${places})(?::\\d{1,5})?\\b(?![.[\\w-])`, 'gi'),
    '[address]',
  ],
  [/(?<![\w.-])(?=[\w.-]{1,253}:\d{2,5}\b)(?=[\d._-]*[a-z])[\w.-]{1,253}:\d{2,5}\b/gi, '[address]'],
  [/\b(?:org|proj|acct|user)[-_][\w-]{8,}/gi, '[account]'],
]

/**
 * The message in one line of printable text, without secrets, addresses and names of hosts.
 * `secrets` are texts of the configuration that must not be shown.
 */
export function cleanWords(message: string, secrets: readonly string[]): string {
  let text = message.slice(0, 4 * mostLength).toWellFormed()
  for (const secret of secrets) {
    if (secret.length >= 4) text = text.replaceAll(secret, '[redacted]')
  }
  text = redact(text)
  for (const [pattern, instead] of removed) text = text.replace(pattern, instead)
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  return line.length > mostLength ? `${line.slice(0, mostLength - 1).toWellFormed()}…` : line
}
