/** Reads whole chat completions, and puts chunks together to one. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { objectsIn } from '../reading.ts'
import { isFinishWord } from './finish-word.ts'
import { ChunkReader, type ChunkRules } from './read-chunks.ts'

/**
 * A whole answer as the protocol has it: the very same object where nothing is odd. Undefined for
 * other JSON; an object with `failure` for one that tells of a failure.
 */
export function repairWhole(
  answer: JsonObject,
  rules: ChunkRules,
): JsonObject | { failure: JsonObject } | undefined {
  const { choices } = answer
  if (!Array.isArray(choices) || choices.length === 0) return undefined
  if (choices.every(isInOrder)) return answer
  if (!objectsIn(choices).every(({ message, text }) => isObject(message) || text !== undefined)) {
    return undefined
  }
  const chunks: JsonObject[] = []
  const reader = new ChunkReader(rules)
  const outcome = reader.read({ ...answer, object: 'chat.completion' }, '', chunks)
  if (isObject(outcome)) return { failure: outcome }
  return outcome === 'malformed' ? undefined : joinChunks(chunks)
}

function isInOrder(choice: Json, position: number): boolean {
  if (!isObject(choice) || choice['index'] !== position || 'error' in choice) return false
  const { message, finish_reason: reason } = choice
  if (!isObject(message) || typeof reason !== 'string' || !isFinishWord(reason)) return false
  const { role, content, reasoning, reasoning_content: thoughts, tool_calls: calls } = message
  if (role !== 'assistant' || message['function_call']) return false
  if (![content ?? '', reasoning ?? '', thoughts ?? ''].every((one) => typeof one === 'string')) {
    return false
  }
  if (calls === undefined || calls === null) return true
  if (!Array.isArray(calls) || (calls.length > 0 && reason === 'stop')) return false
  const ids = new Set<Json | undefined>()
  return (
    calls.every((call) => {
      if (!isObject(call)) return false
      ids.add(call['id'])
      const { name, arguments: args } = objectOf(call['function'])
      const isNamed =
        typeof call['id'] === 'string' && call['id'] !== '' && call['type'] === 'function'
      return isNamed && typeof name === 'string' && typeof args === 'string' && args !== ''
    }) && ids.size === calls.length
  )
}

/** The answer that chunks which are in order come to. */
export function joinChunks(chunks: readonly JsonObject[]): JsonObject {
  const choices = new Map<Json | undefined, JsonObject>()
  let answer: JsonObject = {}
  for (const { choices: said, ...about } of chunks) {
    answer = { ...answer, ...setMembers(about) }
    for (const { delta, ...beside } of objectsIn(said)) {
      const { index } = beside
      const { message, ...before } = choices.get(index) ?? {}
      const { tool_calls: pieces, ...more } = setMembers(objectOf(delta))
      const joined = joinMembers(objectOf(message), more)
      if (pieces !== undefined) {
        joined['tool_calls'] = joinCalls(objectsIn(joined['tool_calls']), objectsIn(pieces))
      }
      choices.set(index, { ...joinMembers(before, setMembers(beside)), message: joined })
    }
  }
  const all = [...choices.values()].map(finished)
  return { ...answer, object: 'chat.completion', choices: all }
}

/** Members that every SDK reads. */
function finished({ message, ...choice }: JsonObject): JsonObject {
  const { tool_calls: calls, ...said } = objectOf(message)
  const whole: JsonObject = { content: null, refusal: null, ...said, role: 'assistant' }
  if (calls !== undefined) {
    whole['tool_calls'] = objectsIn(calls).map(({ index: _, ...call }) => call)
  }
  return { logprobs: null, ...choice, message: whole }
}

const setMembers = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))

function joinCalls(calls: JsonObject[], pieces: JsonObject[]): JsonObject[] {
  const joined = [...calls]
  for (const piece of pieces) {
    const at = joined.findIndex(({ index }) => index === piece['index'])
    if (at === -1) joined.push(piece)
    else joined[at] = joinMembers(joined[at] ?? {}, piece)
  }
  return joined
}

/** Members that name, and do not come in pieces. */
const names: ReadonlySet<string> = new Set([
  ...['id', 'type', 'index', 'role', 'name', 'finish_reason', 'format'],
])

function joinMembers(before: JsonObject, after: JsonObject): JsonObject {
  const joined = { ...before }
  for (const [name, value] of Object.entries(after)) {
    joined[name] = names.has(name) ? value : joinValues(before[name], value)
  }
  return joined
}

function joinValues(before: Json | undefined, after: Json): Json {
  if (typeof before === 'string' && typeof after === 'string') return before + after
  if (Array.isArray(before) && Array.isArray(after)) return [...before, ...after]
  return isObject(before) && isObject(after) ? joinMembers(before, after) : after
}
