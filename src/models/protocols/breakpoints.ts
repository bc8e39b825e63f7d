/** Cache breakpoints of Messages, in the place of what Chat Completions and Responses cache by. */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, isSet, type JsonObject } from '../../kernel/json-object.ts'
import { objectsIn } from './reading.ts'

const breakpoint = { type: 'ephemeral' }

/**
 * Whether a request in the shape of Chat Completions gets breakpoints: in the place of its
 * `prompt_cache_key`, or because its model is always cached. A request that sets breakpoints of its
 * own gets no others.
 */
export function needsBreakpoints(body: JsonObject, isCached: boolean): boolean {
  const { prompt_cache_key: key } = body
  return (isCached || (typeof key === 'string' && key !== '')) && !hasOwn(body)
}

const isSetIn = (of: Json): boolean => isObject(of) && isSet(of['cache_control'])

function hasOwn({ messages, tools }: JsonObject): boolean {
  if (objectsIn(tools).some(isSetIn)) return true
  return objectsIn(messages).some(({ content }) => Array.isArray(content) && content.some(isSetIn))
}

/**
 * Sets breakpoints in a request of Messages: behind tools, system and the last two turns of the
 * user, four at most. False where there is nothing to set one behind.
 */
export function addBreakpoints(body: JsonObject): boolean {
  const { system, tools, messages } = body
  const turns = objectsIn(messages).filter(({ role }) => role === 'user')
  const lists = [tools, system, ...turns.slice(-2).map(({ content }) => content)]
  return lists.filter(mark).length > 0
}

/** Marks the last of a list, if it has any. */
function mark(list: Json | undefined): boolean {
  const last = Array.isArray(list) ? list.at(-1) : undefined
  if (!isObject(last)) return false
  last['cache_control'] = { ...breakpoint }
  return true
}
