/** Reads JSON of clients and other servers, whose members can be anything. */
import type { Json } from './canonical.ts'
import { isModestJson } from './json-size.ts'

export type JsonObject = { [member: string]: Json }

/** The object that a text is; undefined for anything else. */
export function parseObject(text: string): JsonObject | undefined {
  // Parsing it and writing it again block the event loop: a huge text counts as unreadable.
  if (!isModestJson(text)) return undefined
  try {
    const value = parseJson(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * The value of a text, without members named `__proto__`: an assignment by that name
 * changes a prototype, in the worst case that of all objects.
 * @throws SyntaxError
 */
export function parseJson(text: string): Json {
  // Escaped, its underscores are \u005f.
  const isPlain = !text.includes('__proto__') && !text.includes('\\u005')
  return isPlain ? JSON.parse(text) : JSON.parse(text, withoutPrototype)
}

const withoutPrototype = (name: string, value: Json): Json | undefined =>
  name === '__proto__' ? undefined : value

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An object; an empty one for anything else. */
export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

/** Whether a member says something. `null` is as good as leaving it out, as in OpenAI's API. */
export const isSet = (value: Json | undefined): value is Json =>
  value !== undefined && value !== null
