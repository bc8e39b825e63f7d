/**
 * The rates of a model that has more than one for reading and one for writing, and the lines of
 * their units. A class without a rate of its own is neither free nor billed twice: what was read
 * falls back to the dearest rate of reading that was held for, what was written stays in `output`.
 */
import { min, type Nusd, type Pusd } from '../kernel/money.ts'
import {
  inputClasses,
  type Meter,
  type MeterLine,
  type ModelKind,
  outputClasses,
  type Usage,
  type UsageClass,
} from './meter.ts'

/**
 * What one unit costs. `input` and `output` in pico-USD a token, `request` in nano-USD a run. A
 * model with more than these has a card.
 */
export type Prices = {
  inputPusd: Pusd
  outputPusd: Pusd
  requestNusd: Nusd
  card?: RateCard | undefined
}

/** Rates by meter in pico-USD a unit. The request's is not among them: it never differs. */
export type Rates = { readonly [M in 'input' | 'output' | UsageClass]?: Pusd }

/** Rates of a whole run whose input is above so many tokens: those that differ. */
export type Band = { aboveInputTokens: number; rates: Rates }

/** Rates of a run that asked for a tier of service: those that differ. */
export type Tier = { name: string; rates: Rates }

/** All rates of a model that has more than one for reading and one for writing. */
export type RateCard = {
  /** Of the classes that have one. */
  classes: Rates
  /** By rising input. */
  bands: readonly Band[]
  tiers: readonly Tier[]
  /** What follows, by the name of a tier, '' for none: by rising input, the first above nothing. */
  steps: ReadonlyMap<string, readonly RateStep[]>
}

/** The rates of one tier and band. */
export type RateStep = {
  aboveInputTokens: number
  rates: Rates
  dearestInput: Pusd
  dearestOutput: Pusd
}

type OwnPrices = { inputPusd: Pusd; outputPusd: Pusd; requestNusd: Nusd }
type More = { classes: Rates; bands: readonly Band[]; tiers: readonly Tier[] }

/** Works out every combination ahead, so that no run has to. */
export function makePrices(own: OwnPrices, { classes, bands, tiers }: More): Prices {
  if (Object.keys(classes).length + bands.length + tiers.length === 0) return own
  const rising = bands.toSorted((a, b) => a.aboveInputTokens - b.aboveInputTokens)
  const base: Rates = { input: own.inputPusd, output: own.outputPusd, ...classes }
  const steps = new Map([['', stepsOf(base, {}, rising)]])
  for (const { name, rates } of tiers) steps.set(name, stepsOf(base, rates, rising))
  return { ...own, card: { classes, bands: rising, tiers, steps } }
}

/** Where a tier and a band both name a rate, the dearer of the two holds. */
function stepsOf(base: Rates, tier: Rates, bands: readonly Band[]): RateStep[] {
  const all = [{ aboveInputTokens: -1, rates: {} as Rates }, ...bands]
  return all.map(({ aboveInputTokens, rates }) =>
    toStep(aboveInputTokens, { ...base, ...rates, ...tier, ...dearer(rates, tier) }),
  )
}

function dearer(band: Rates, tier: Rates): Rates {
  const both = (Object.keys(band) as (keyof Rates)[]).filter((meter) => tier[meter] !== undefined)
  return Object.fromEntries(both.map((meter) => [meter, max([band[meter], tier[meter]])]))
}

export const toStep = (aboveInputTokens: number, rates: Rates): RateStep => ({
  aboveInputTokens,
  rates,
  dearestInput: max([rates.input, ...inputClasses.map((meter) => rates[meter])]),
  dearestOutput: max([rates.output, ...outputClasses.map((meter) => rates[meter])]),
})

const max = (rates: readonly (Pusd | undefined)[]): Pusd =>
  rates.reduce<Pusd>((most, rate) => (rate !== undefined && rate > most ? rate : most), 0n)

/** The rates of a run that read so many tokens. A tier without rates of its own counts as none. */
export function stepFor(
  { inputPusd, outputPusd, card }: Prices,
  { inputTokens, tier = '' }: Pick<Usage, 'inputTokens' | 'tier'>,
): RateStep {
  if (!card) return toStep(-1, { input: inputPusd, output: outputPusd })
  const steps = card.steps.get(tier) ?? card.steps.get('') ?? []
  const step = steps.findLast(({ aboveInputTokens }) => inputTokens > aboveInputTokens)
  if (!step) throw new Error('a card of rates without its first step')
  return step
}

type HeldClasses = ReadonlySet<UsageClass> | undefined

/** The dearest rate of reading in a run that can use these classes; undefined for all of them. */
export const dearestInputOf = ({ rates, dearestInput }: RateStep, held: HeldClasses): Pusd =>
  held ? max([rates.input, ...heldRates(rates, inputClasses, held)]) : dearestInput

/** The same of writing. */
export const dearestOutputOf = ({ rates, dearestOutput }: RateStep, held: HeldClasses): Pusd =>
  held ? max([rates.output, ...heldRates(rates, outputClasses, held)]) : dearestOutput

const heldRates = (
  rates: Rates,
  classes: readonly UsageClass[],
  held: ReadonlySet<UsageClass>,
): (Pusd | undefined)[] => classes.map((meter) => (held.has(meter) ? rates[meter] : undefined))

type Priced = Pick<Usage, 'held' | 'isCapped'>

/** The price of a unit of a class of input: its rate, or the dearest that was held. */
export const inputRateOf = (
  step: RateStep,
  { held, isCapped }: Priced,
  meter: UsageClass,
): Pusd => {
  const own = step.rates[meter]
  if (own !== undefined && !isCapped) return own
  const dearest = dearestInputOf(step, held)
  return min(own ?? dearest, dearest)
}

/** The same of a class of output; undefined where it is part of `output`. */
export const outputRateOf = (
  step: RateStep,
  { held, isCapped }: Priced,
  meter: UsageClass,
): Pusd | undefined => {
  const own = step.rates[meter]
  return own !== undefined && isCapped ? min(own, dearestOutputOf(step, held)) : own
}

/** The lines of a run by all rates of its model, without that of the request. */
export function detailedLines(prices: Prices, kind: ModelKind, usage: Usage): MeterLine[] {
  const step = stepFor(prices, usage)
  const { rates } = step
  const { classes = {} } = usage
  const lines: MeterLine[] = []
  const add = (meter: Meter, quantity: number, pricePusd: Pusd): number => {
    lines.push({ meter, quantity, pricePusd })
    return quantity
  }
  let inClasses = 0
  add('input', 0, rates.input ?? 0n)
  for (const meter of inputClasses) {
    const units = classes[meter]
    if (units) inClasses += add(meter, units, inputRateOf(step, usage, meter))
  }
  setQuantity(lines, 'input', usage.inputTokens - inClasses)
  if (kind === 'embedding') return lines
  let outClasses = 0
  add('output', 0, rates.output ?? 0n)
  for (const meter of outputClasses) {
    const units = classes[meter]
    const rate = units ? outputRateOf(step, usage, meter) : undefined
    if (units && rate !== undefined) outClasses += add(meter, units, rate)
  }
  setQuantity(lines, 'output', usage.outputTokens - outClasses)
  if (classes.web_search && rates.web_search !== undefined) {
    add('web_search', classes.web_search, rates.web_search)
  }
  return lines
}

function setQuantity(lines: MeterLine[], meter: Meter, quantity: number): void {
  const line = lines.find((one) => one.meter === meter)
  if (line) line.quantity = quantity
}

/** The input that a run can reach, the tier that it asked for, and the classes that it can use. */
type Reached = { inputTokens: number; tier?: string | undefined; held?: HeldClasses }

/** The dearest rates that a run can come to. */
export type HoldRates = { inputPusd: Pusd; outputPusd: Pusd; searchPusd: Pusd }

/**
 * The dearest rates of every band that so much input reaches, with the tier that was asked for and
 * without it: a model server may serve a run by a lower tier than was asked for.
 */
export function holdRates(prices: Prices, most: Reached): HoldRates {
  const { card, inputPusd, outputPusd } = prices
  if (!card) return { inputPusd, outputPusd, searchPusd: 0n }
  const reached = ['', most.tier ?? ''].flatMap((tier) =>
    (card.steps.get(tier) ?? []).filter(
      ({ aboveInputTokens }) => most.inputTokens > aboveInputTokens,
    ),
  )
  return {
    inputPusd: max(reached.map((step) => dearestInputOf(step, most.held))),
    outputPusd: max(reached.map((step) => dearestOutputOf(step, most.held))),
    searchPusd: max(reached.map(({ rates }) => rates.web_search)),
  }
}

/** Whether reading from a cache has a price of its own. */
export const hasCacheRate = ({ card }: Prices): boolean =>
  card?.steps.get('')?.some(({ rates }) => rates.cache_read !== undefined) === true

/** Whether a run costs nothing, all that it can use included. */
export function isFree({ inputPusd, outputPusd, requestNusd, card }: Prices): boolean {
  const steps = card ? [...card.steps.values()].flat() : []
  const rates = [inputPusd, outputPusd, requestNusd]
  return [...rates, ...steps.flatMap((step) => Object.values(step.rates))].every(
    (rate) => rate === 0n,
  )
}
