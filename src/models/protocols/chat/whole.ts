/** Reads whole chat completions, and puts chunks together to one. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { objectsIn } from '../reading.ts'
import { isFinishWord } from './finish-word.ts'
import { ChunkReader, type ChunkRules } from './read-chunks.ts'

/** Whether an answer is as the protocol has it and needs no repair. */
export const isWhole = ({ choices }: JsonObject): boolean =>
  Array.isArray(choices) && choices.length > 0 && choices.every(isInOrder)

/**
 * An answer that is not whole, as the protocol has it. Undefined for other JSON; an object with
 * `failure` for one that tells of a failure.
 */
export function repairWhole(
  answer: JsonObject,
  rules: ChunkRules,
): JsonObject | { failure: JsonObject } | undefined {
  const { choices } = answer
  if (!Array.isArray(choices) || choices.length === 0) return undefined
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
  if (!isTextOrNone(content) || !isTextOrNone(reasoning) || !isTextOrNone(thoughts)) return false
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

const isTextOrNone = (value: Json | undefined): boolean =>
  value === undefined || value === null || typeof value === 'string'

/** A choice as far as its chunks came, with its calls by their index. */
type JoinedChoice = {
  beside: JsonObject
  message: JsonObject
  calls: Map<Json | undefined, JsonObject> | undefined
}

/** The answer that chunks which are in order come to. */
export function joinChunks(chunks: readonly JsonObject[]): JsonObject {
  const choices = new Map<Json | undefined, JoinedChoice>()
  const answer: JsonObject = {}
  for (const { choices: said, ...about } of chunks) {
    Object.assign(answer, setMembers(about))
    for (const { delta, ...beside } of objectsIn(said)) {
      const { index } = beside
      const choice = choices.get(index) ?? { beside: {}, message: {}, calls: undefined }
      choices.set(index, choice)
      const { tool_calls: pieces, ...more } = setMembers(objectOf(delta))
      joinMembers(choice.message, more)
      if (pieces !== undefined) choice.calls = joinCalls(choice.calls, objectsIn(pieces))
      joinMembers(choice.beside, setMembers(beside))
    }
  }
  const all = [...choices.values()].map(finished)
  return { ...answer, object: 'chat.completion', choices: all }
}

/** Members that every SDK reads. */
function finished({ beside, message, calls }: JoinedChoice): JsonObject {
  const whole: JsonObject = { content: null, refusal: null, ...message, role: 'assistant' }
  if (calls !== undefined) {
    whole['tool_calls'] = [...calls.values()].map(({ index: _, ...call }) => call)
  }
  return { logprobs: null, ...beside, message: whole }
}

const setMembers = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))

function joinCalls(
  calls: JoinedChoice['calls'] = new Map(),
  pieces: readonly JsonObject[],
): JoinedChoice['calls'] {
  for (const piece of pieces) {
    const { index } = piece
    const call = calls.get(index) ?? {}
    calls.set(index, call)
    joinMembers(call, piece)
  }
  return calls
}

/** Members that name, and do not come in pieces. */
const names: ReadonlySet<string> = new Set([
  ...['id', 'type', 'index', 'role', 'name', 'finish_reason', 'format'],
])

/** Adds to an object that is ours, in the time of what is added. */
function joinMembers(to: JsonObject, after: JsonObject): JsonObject {
  for (const name of Object.keys(after)) {
    // An assignment by this name changes a prototype.
    if (name === '__proto__') continue
    const value = after[name] ?? null
    const before = Object.hasOwn(to, name) ? to[name] : undefined
    to[name] = names.has(name) ? value : joinValues(before, value)
  }
  return to
}

function joinValues(before: Json | undefined, after: Json): Json {
  if (typeof before === 'string' && typeof after === 'string') return before + after
  if (Array.isArray(after)) {
    if (!Array.isArray(before)) return [...after]
    for (const one of after) before.push(one)
    return before
  }
  if (!isObject(after)) return after
  return joinMembers(isObject(before) ? before : {}, after)
}
