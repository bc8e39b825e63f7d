/** Notes what the translation of a request into another protocol leaves behind. */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../kernel/json-object.ts'

/** A request in the shape of Chat Completions, which every door and every wire knows. */
export type Translation = {
  body: JsonObject
  /** Members of the request that had no effect, by name, for `X-Counterfoil-Ignored`. */
  ignored: string[]
}

/** Notes the members that are set and not among `known`. */
export function unknownMembers(from: JsonObject, known: ReadonlySet<string>): string[] {
  return Object.keys(from).filter((name) => !known.has(name) && (from[name] ?? null) !== null)
}

/** Notes the members of something inside a request that are set and not among `known`. */
export function noteOthers(
  ignored: Set<string>,
  place: string,
  from: Json | undefined,
  known: ReadonlySet<string>,
): void {
  if (!isObject(from)) return
  for (const name in from) {
    if (!known.has(name) && says(from[name])) ignored.add(`${place}.${name}`)
  }
}

/** Clients send members back that hold nothing, as they got them. */
const says = (value: Json | undefined): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
