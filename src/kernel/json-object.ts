/** Reads JSON of clients and other servers, whose members can be anything. */
import type { Json } from './canonical.ts'
import { isModestJson } from './json-size.ts'

export type JsonObject = { [member: string]: Json }

/** The object that a text is; undefined for anything else. */
export function parseObject(text: string): JsonObject | undefined {
  // What is read has to be written again, and neither may keep everybody else waiting.
  if (!isModestJson(text)) return undefined
  try {
    const value: Json = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An object; an empty one for anything else. */
export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

/** Whether a member says something. `null` is as good as leaving it out, as in OpenAI's API. */
export const isSet = (value: Json | undefined): value is Json =>
  value !== undefined && value !== null
