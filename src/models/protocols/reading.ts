/** Reads JSON of which nothing is promised. */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../kernel/json-object.ts'
import { refuseField } from '../../kernel/refusal.ts'

/** The objects of a list; none of anything else. */
export const objectsIn = (list: Json | undefined): JsonObject[] =>
  Array.isArray(list) ? list.filter(isObject) : []

/** A text; '' for anything else. */
export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** A word of a foreign request as an error may show it. */
export const quoted = (type: Json | undefined): string =>
  typeof type === 'string' ? `"${type.slice(0, 64)}"` : 'none'

/** @throws Refusal `invalid_request` unless the member is a text */
export function textIn(from: JsonObject, member: string, path: string): string {
  const value = from[member]
  return typeof value === 'string'
    ? value
    : refuseField(`${path}.${member}`, `"${member}" must be text.`)
}
