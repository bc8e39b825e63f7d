/** Reads why a choice finished, in the words that servers write. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject } from '../../../kernel/json-object.ts'

/** The words of Chat Completions. */
const known: ReadonlySet<unknown> = new Set([
  ...['stop', 'length', 'tool_calls', 'content_filter', 'function_call'],
])

/** Words of other servers in their place, in small letters. */
const synonyms = new Map<string, string>([
  ...['stop', 'eos', 'eos_token', 'end_turn', 'stop_sequence', 'completed', 'complete'].map(
    (word): [string, string] => [word, 'stop'],
  ),
  ...['length', 'max_tokens', 'max_output_tokens', 'model_length', 'token_limit'].map(
    (word): [string, string] => [word, 'length'],
  ),
  ...['tool_calls', 'tool_call', 'tool_use', 'tool-calls'].map((word): [string, string] => [
    word,
    'tool_calls',
  ]),
  ...['content_filter', 'safety', 'refusal', 'sensitive'].map((word): [string, string] => [
    word,
    'content_filter',
  ]),
  ['function_call', 'function_call'],
])

const nothings: ReadonlySet<string> = new Set(['', 'null', 'none', 'undefined'])

/** Words of a server that could not go on. */
const failures: ReadonlySet<string> = new Set([
  ...['error', 'failed', 'abort', 'aborted', 'cancelled', 'network_error', 'engine_error'],
  // DeepSeek.
  'insufficient_system_resource',
])

/** The meaning of a finish reason. `unknown` is a word without one, for the operator. */
export type Finish = { word: string | null; unknown?: string }

const none: Finish = { word: null }

/** Whether a finish reason is one as it is, or none. */
export const isFinishWord = (value: Json | undefined): boolean =>
  value === null || value === undefined || known.has(value)

/** `error` where the server could not go on; `stop` for a word that is not known. */
export function finishOf(value: Json | undefined): Finish {
  if (value === null || value === undefined) return none
  if (isObject(value)) return finishOf(value['type'] ?? value['reason'] ?? 'stop')
  if (value === false || value === 0) return none
  if (typeof value !== 'string') return { word: 'stop' }
  const word = value.trim().toLowerCase()
  if (nothings.has(word)) return none
  if (failures.has(word)) return { word: 'error' }
  const synonym = synonyms.get(word)
  return synonym === undefined ? { word: 'stop', unknown: value } : { word: synonym }
}
