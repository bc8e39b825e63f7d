/** What the translation of a request into another protocol leaves behind. */
import type { JsonObject } from '../../kernel/json-object.ts'

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
