/** The counts that a model server reports, whichever way it writes them. */
import type { Json } from '../kernel/canonical.ts'
import type { UsageClass, UsageClasses } from './meter.ts'

/** The usage that a model server reports. All of it is still to be checked. */
export type Reported = {
  /** All that was read, classes included; undefined when it did not say, or no count. */
  inputTokens: number | undefined
  outputTokens: number | undefined
  /** The classes with at least one unit. */
  classes: UsageClasses | undefined
  /** The sides whose details cannot be true. */
  contradicts: { input: boolean; output: boolean }
  /** How else a side that contradicts itself can be read. */
  apart?: { input?: Reading | undefined; output?: Reading | undefined }
}

/** One way to read a side of a report. */
export type Reading = { total: number; classes: [UsageClass, number][] }

/** A report that says nothing. */
export const nothing: Reported = {
  inputTokens: undefined,
  outputTokens: undefined,
  classes: undefined,
  contradicts: { input: false, output: false },
}

/** One side of a report. `apart`: the same with its details beside its total. */
export type ReadSide = {
  total: number | undefined
  classes: [UsageClass, number][]
  contradicts: boolean
  apart?: Reading | undefined
}

/** Both sides together. */
export function toReported(input: ReadSide, output: ReadSide): Reported {
  const found = [...input.classes, ...output.classes]
  const reported: Reported = {
    inputTokens: input.total,
    outputTokens: output.total,
    classes: found.length === 0 ? undefined : Object.fromEntries(found),
    contradicts: { input: input.contradicts, output: output.contradicts },
  }
  if (input.apart || output.apart) reported.apart = { input: input.apart, output: output.apart }
  return reported
}

/** A reported count: no sign, within exact integers. A fraction of a token is a whole one. */
export function countIn(value: Json | undefined): number | undefined {
  const number = numberIn(value)
  return number === undefined ? undefined : wholeOf(number)
}

/** Returns the same before it is rounded up. */
export function numberIn(value: Json | undefined): number | undefined {
  if (typeof value !== 'number' || !(value >= 0) || value > Number.MAX_SAFE_INTEGER)
    return undefined
  // -0 passes for a count; it must not stay one.
  return value + 0
}

/** Sums of fractions are off by less than this. */
const noise = 1e-6

export const wholeOf = (number: number): number =>
  Number.isInteger(number) ? number : Math.max(0, Math.ceil(number - noise))
