/** Cache breakpoints of Messages, in the place of what Chat Completions and Responses cache by. */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, isSet, type JsonObject } from '../../kernel/json-object.ts'
import { objectsIn } from './reading.ts'

const breakpoint = { type: 'ephemeral' }

/**
 * Whether a request in the shape of Chat Completions has breakpoints before a server of Messages:
 * its own, or those that stand for its `prompt_cache_key`. Only then can such a server write its
 * cache, for five minutes where they stand for a key.
 */
export const hasBreakpoints = (body: JsonObject): boolean => isKeyed(body) || hasOwn(body)

/** Whether breakpoints stand for its key: who sets some is not given others. */
export const needsBreakpoints = (body: JsonObject): boolean => isKeyed(body) && !hasOwn(body)

const isKeyed = ({ prompt_cache_key: key }: JsonObject): boolean =>
  typeof key === 'string' && key !== ''

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
