/** The body of a run: an untyped JSON object, and how its fields are refused. */
import type { Json } from '../kernel/canonical.ts'
import type { JsonObject } from '../kernel/json-object.ts'
import { refuse } from '../kernel/refusal.ts'

/** A request's body: a JSON object of which nothing is known yet. */
export type Body = JsonObject

const maxDepth = 80

/** @throws Refusal 'invalid_request' when anything lies below level 80; the body is level 1. */
export function checkDepth(body: Body): void {
  for (const [param, value] of Object.entries(body)) {
    if (isDeeper(value, maxDepth - 1)) {
      refuseField(param, `This is nested too deep: at most ${maxDepth} levels, the body included.`)
    }
  }
}

/** `null` means the same as leaving the member out, as OpenAI's API has it. */
export function isSet(value: Json | undefined): value is Json {
  return value !== undefined && value !== null
}

export function refuseField(param: string, message: string): never {
  refuse('invalid_request', { param, message })
}

function isDeeper(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof item === 'object' && isDeeper(item, levels - 1)) return true
  }
  return false
}
