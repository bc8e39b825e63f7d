/** Merges the usage reports of a stream: servers repeat them, complete them, or send empty ones. */
import type { Json } from '../kernel/canonical.ts'
import { isObject, type JsonObject } from '../kernel/json-object.ts'
import { countIn } from './reported.ts'

/** Members of one side of a usage, in all shapes. A total includes what its details name. */
type Side = {
  totals: readonly string[]
  details: readonly string[]
  /** Counts that no total includes, and how one of them is split. */
  parts: readonly string[]
  splits: readonly (readonly [total: string, split: string])[]
}

const read: Side = {
  totals: ['prompt_tokens', 'input_tokens'],
  details: ['prompt_tokens_details', 'input_tokens_details'],
  parts: ['cache_read_input_tokens', 'cache_creation_input_tokens'],
  splits: [['cache_creation_input_tokens', 'cache_creation']],
}

const written: Side = {
  totals: ['completion_tokens', 'output_tokens'],
  details: ['completion_tokens_details', 'output_tokens_details'],
  parts: [],
  splits: [],
}

const sides = [read, written]
const ofSides = new Set(
  sides.flatMap(({ totals, details, parts, splits }) => [
    ...[...totals, ...details, ...parts],
    ...splits.map(([, split]) => split),
  ]),
)
const all = 'total_tokens'

/**
 * Returns all that a stream has reported after one more report. Numbers are cumulative: a later one
 * replaces an earlier one, and what it leaves out stays. A side that falls to zero, null, and
 * values other than counts mean nothing; a new total without details drops those of the old one.
 * The result is `earlier` itself when the later report says nothing.
 */
export function mergeUsage(earlier: Json | undefined, later: Json | undefined): Json | undefined {
  if (!isObject(later)) return earlier
  if (earlier === undefined && isPlain(later)) return later
  const before = isObject(earlier) ? earlier : {}
  const merged: JsonObject = { ...before }
  let isNew = false
  for (const name in later) {
    const value = later[name]
    if (ofSides.has(name) || name === all || value === undefined || value === null) continue
    merged[name] = value
    isNew = true
  }
  for (const side of sides) if (mergeSide(merged, side, { before, later })) isNew = true
  if (!isNew) return earlier
  const sum = later[all]
  if (countIn(sum)) merged[all] = sum ?? null
  // The old sum no longer belongs to the new totals.
  else if (sides.some(({ totals }) => isChanged(totals, before, merged))) delete merged[all]
  return merged
}

/** Whether a report has counts above zero alone, as most have: there is nothing to repair. */
function isPlain(report: JsonObject): boolean {
  let isOfTotals = false
  for (const name in report) {
    if (!countIn(report[name])) return false
    isOfTotals ||= ofSides.has(name)
  }
  return isOfTotals
}

type Reports = { before: JsonObject; later: JsonObject }

/** Returns whether the later report says anything about the side. */
function mergeSide(merged: JsonObject, side: Side, { before, later }: Reports): boolean {
  const counts = [...side.totals, ...side.parts]
  const isZero = !counts.some((name) => (countIn(later[name]) ?? 0) > 0)
  const isFalling = isZero && counts.some((name) => (countIn(before[name]) ?? 0) > 0)
  let isNew = false
  const take = (name: string): void => {
    const value = later[name]
    if (value === undefined || value === null) return
    merged[name] = value
    isNew = true
  }
  if (!isFalling) {
    for (const name of counts) {
      const isCount = countIn(later[name]) !== undefined
      if (isCount || countIn(before[name]) === undefined) take(name)
    }
    if (isChanged(side.totals, before, merged)) for (const name of side.details) delete merged[name]
    for (const [total, split] of side.splits) {
      if (isChanged([total], before, merged)) delete merged[split]
      if (isObject(later[split])) take(split)
    }
  }
  // Details alone complete the total that was there; beside a total of zero they say as little.
  if (isFalling && counts.some((name) => countIn(later[name]) === 0)) return isNew
  for (const name of side.details) {
    const value = later[name]
    if (isObject(value) && Object.keys(value).length > 0) take(name)
  }
  return isNew
}

const isChanged = (names: readonly string[], before: JsonObject, after: JsonObject): boolean =>
  names.some((name) => countIn(before[name]) !== countIn(after[name]))
