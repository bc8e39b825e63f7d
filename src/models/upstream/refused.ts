/** Reads why a model server refused a request. Its words never leave this file. */
import type { Json } from '../../kernel/canonical.ts'
import { deadlineIn } from '../../kernel/deadline.ts'
import { isObject, parseObject } from '../../kernel/json-object.ts'
import type { WireAnswer } from './http.ts'
import { type FailureReason, UpstreamFailure } from './upstream.ts'

/** How much of an error body is read, in bytes, and how long it may take, in ms. */
const mostBytes = 8192
const withinMs = 1000

/** Statuses whose error can be about the length of the request. Some servers say 500. */
const lengthStatuses = new Set([400, 413, 422, 500])

/**
 * The failure that an answer with an error status is. `secrets` are texts that may not be logged,
 * whatever the server calls its error.
 */
export async function refusalIn(
  answer: WireAnswer,
  secrets: readonly string[],
): Promise<UpstreamFailure> {
  const { status } = answer
  const error = errorIn(parseObject(await beginningOf(answer)))
  const isLength = lengthStatuses.has(status) && (status === 413 || isTooLong(error))
  const reason = isLength ? 'context' : reasonOf(status)
  return new UpstreamFailure(reason, status, undefined, codeOf(error, secrets))
}

function reasonOf(status: number): FailureReason {
  // 529 is what Anthropic answers when it is overloaded.
  if (status === 429 || status === 503 || status === 529) return 'busy'
  return [400, 404, 422].includes(status) ? 'rejected' : 'error'
}

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

/** What is read of an error, lower-case; `names` are its code and its type. */
export type ErrorSaid = { names: string[]; message: string }

/** The error of an answer, in the forms of OpenAI, Anthropic, vLLM, llama.cpp and Ollama. */
export function errorIn(body: Json | undefined): ErrorSaid {
  if (!isObject(body)) return { names: [], message: '' }
  const { error = body } = body
  if (typeof error === 'string') return { names: [], message: startOf(error) }
  if (!isObject(error)) return { names: [], message: '' }
  const { code, type, message, detail } = error
  const names = [code, type].filter((name) => typeof name === 'string')
  const words = message ?? detail
  return { names, message: typeof words === 'string' ? startOf(words) : '' }
}

/** The start of a message, which is searched in lower case: a long one would take its square. */
const startOf = (message: string): string => message.slice(0, 2000).toLowerCase()

const lengthNames = new Set([
  'context_length_exceeded',
  'context_window_exceeded',
  'exceed_context_size_error',
  'request_too_large',
])

/** What servers write when a request does not fit into the context of their model. */
const lengthWords = [
  /context[ _-]?(length|window|size|limit).*(exceed|too |only|maximum|reduce)/,
  /(exceed|too |longer|larger|greater|maximum|beyond).*context[ _-]?(length|window|size|limit)/,
  /(prompt|input|request) is too (long|large)/,
  /maximum (model|prompt|input) length/,
  /(input|prompt) token count.*exceed/,
  /reduce the length of the (message|prompt|input)/,
  /too many (input|prompt) tokens/,
  /max_new_tokens.* must be <=/,
]

export const isTooLong = ({ names, message }: ErrorSaid): boolean =>
  names.some((name) => lengthNames.has(name)) || lengthWords.some((words) => words.test(message))

/** The name of an error, as far as it is one: no digits, so that no key or address passes. */
function codeOf({ names }: ErrorSaid, secrets: readonly string[]): string | undefined {
  const isSecret = (name: string): boolean =>
    secrets.some((secret) => secret.includes(name) || name.includes(secret))
  return names.find((name) => /^[A-Za-z][A-Za-z_]{2,47}$/.test(name) && !isSecret(name))
}
