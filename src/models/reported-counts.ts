/** The counts that a model server reports, whichever way it writes them. */
import type { Json } from '../kernel/canonical.ts'
import type { UsageClass, UsageClasses } from './meter.ts'

/** The usage that a model server reports. All of it is still to be checked. */
export type Reported = {
  /** All that was read, classes included; undefined when it did not say, or no count. */
  inputTokens: number | undefined
  outputTokens: number | undefined
  /** The classes with at least one unit, of the sides that do not contradict themselves. */
  classes: UsageClasses | undefined
  /** The sides whose details cannot be true. */
  contradicts: { input: boolean; output: boolean }
}

/** A report that says nothing. */
export const nothing: Reported = {
  inputTokens: undefined,
  outputTokens: undefined,
  classes: undefined,
  contradicts: { input: false, output: false },
}

/** One side of a report. */
export type ReadSide = {
  total: number | undefined
  classes: [UsageClass, number][]
  contradicts: boolean
}

/** Both sides together. */
export function toReported(input: ReadSide, output: ReadSide): Reported {
  const found = [...input.classes, ...output.classes]
  return {
    inputTokens: input.total,
    outputTokens: output.total,
    classes: found.length === 0 ? undefined : Object.fromEntries(found),
    contradicts: { input: input.contradicts, output: output.contradicts },
  }
}

/** A reported count, if it is one: no sign, no fraction, exact as a JSON number. */
export function countIn(value: Json | undefined): number | undefined {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) return undefined
  // -0 passes for a count; it must not stay one.
  return value + 0
}
