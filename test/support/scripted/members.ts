/** Small readers that the scripted wires share. */
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import type { Units } from '../scripted-upstream.ts'

/** A list of objects, [] where there is none. */
export const listOf = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? (value as JsonObject[]) : []

export const unit = (units: Units, meter: string): number => units[meter] ?? 0

export const sum = (units: Units, meters: readonly string[]): number =>
  meters.reduce((total, meter) => total + unit(units, meter), 0)

/** A named event whose data repeats its name. */
export const eventOf = (event: JsonObject): string =>
  `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`

/** An id of its own for each answer: agents merge messages that have the same one. */
export const idOf = (prefix: string): string => `${prefix}_${crypto.randomUUID()}`
