/**
 * The meters of a run: what is counted, and what lines of them cost. A new meter also goes into the
 * rates (rates.ts), what model servers report (reported.ts) and the names of exports.
 */
import type { Nusd, Pusd } from '../kernel/money.ts'

/** The kind of answer that a model gives. */
export type ModelKind = 'chat' | 'embedding'

/** Classes of what a model read, beside plain `input`. No token is in two of them. */
export const inputClasses = [
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'audio_input',
  'image_input',
] as const

/** Classes of what it wrote, beside plain `output`. */
export const outputClasses = ['reasoning', 'audio_output', 'image_output'] as const

export type InputClass = (typeof inputClasses)[number]
export type OutputClass = (typeof outputClasses)[number]

/** All classes but plain input and output. Units are tokens; of `web_search` they are calls. */
export type UsageClass = InputClass | OutputClass | 'web_search'

/** Every meter, in the order of a receipt's lines. `request` counts the run itself. */
export const meters = [
  'input',
  ...inputClasses,
  'output',
  ...outputClasses,
  'web_search',
  'request',
] as const

export type Meter = (typeof meters)[number]

/** A charge of a run: a meter, how many units, and the price of one in pico-USD. */
export type MeterLine = { meter: Meter; quantity: number; pricePusd: Pusd }

/** A line as it is stored and shown. Lines of later versions can have other meters. */
type AnyLine = { readonly meter: string; readonly quantity: number }

const unitsOf =
  (names: readonly string[]) =>
  (lines: readonly AnyLine[]): number => {
    let units = 0
    for (const { meter, quantity } of lines) if (names.includes(meter)) units += quantity
    return units
  }

/** All tokens that a run read, those of every class included. */
export const inputUnitsOf = unitsOf(['input', ...inputClasses])
/** All tokens that it wrote. */
export const outputUnitsOf = unitsOf(['output', ...outputClasses])
/** The tokens that it read from a cache, and those that it wrote to one. */
export const cachedUnitsOf = unitsOf(['cache_read'])
export const cacheWriteUnitsOf = unitsOf(['cache_write', 'cache_write_1h'])
/** Reasoning that has a line of its own; without a rate of its own it is part of the output. */
export const reasoningUnitsOf = unitsOf(['reasoning'])

/** The usage of a run. Counts, not money. */
export type Usage = {
  /** All tokens it read, those of the classes included. */
  inputTokens: number
  /** All tokens it wrote, those of the classes included. */
  outputTokens: number
  /** The classes with at least one unit; undefined when there is none. */
  classes?: UsageClasses | undefined
  /** The tier of service it is billed by; undefined for the ordinary one. */
  tier?: string | undefined
  /** The classes that were held for; all when undefined. */
  held?: ReadonlySet<UsageClass> | undefined
  /** Whether other classes cost no more than the dearest of these, so that the hold is enough. */
  isCapped?: true
}

export type UsageClasses = { readonly [Class in UsageClass]?: number }

/**
 * The cost of lines in nano-USD: rounded up once, then less the discount, which is rounded down.
 * This is the only place where a run's price is rounded.
 */
export function costOf(lines: readonly MeterLine[], discountBps: number): Nusd {
  return (discountBps === 0 && smallCost(lines)) || exactCost(lines, discountBps)
}

/** Adds up lines below 2^50 pico-USD (1,125 USD) without a bigint for each step; else returns 0. */
function smallCost(lines: readonly MeterLine[]): Nusd {
  let sum = 0
  for (const { quantity, pricePusd } of lines) sum += quantity * Number(pricePusd)
  // A product or a sum is rounded only beyond 2^53, and a rounded one is far above 2^50.
  const isExact = sum >= 0 && sum < 2 ** 50 && Number.isInteger(sum)
  return isExact ? BigInt(Math.floor((sum + 999) / 1000)) : 0n
}

/** Adds up lines of any size, as {@link costOf} does. */
export function exactCost(lines: readonly MeterLine[], discountBps: number): Nusd {
  let sum = 0n
  for (const line of lines) sum += BigInt(line.quantity) * line.pricePusd
  const cost = (sum + 999n) / 1000n
  return discountBps === 0 ? cost : cost - (cost * BigInt(discountBps)) / 10_000n
}
