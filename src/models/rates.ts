/**
 * The rates of a model that has more than one for reading and one for writing, and the lines of
 * their units. A class without a rate of its own is neither free nor billed twice: what was read
 * falls back to the dearest rate of reading that was held for, what was written stays in `output`.
 */
import { min, type Nusd, type Pusd } from '../kernel/money.ts'
import {
  costOf,
  inputClasses,
  type MeterLine,
  type ModelKind,
  outputClasses,
  type Usage,
  type UsageClass,
} from './meter.ts'

/**
 * The price of one unit. `input` and `output` in pico-USD a token, `request` in nano-USD a run. A
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
  /** The rates of the classes that have one. */
  classes: Rates
  /** The bands by rising input. */
  bands: readonly Band[]
  tiers: readonly Tier[]
  /** The steps of a tier by its name, '' for none: by rising input, the first above nothing. */
  steps: ReadonlyMap<string, readonly RateStep[]>
}

/** The rates of one tier and band. */
export type RateStep = {
  aboveInputTokens: number
  rates: Rates
  dearestInput: Pusd
  dearestOutput: Pusd
}

type CardParts = Pick<RateCard, 'classes' | 'bands' | 'tiers'>

/** Works out every combination ahead, so that no run has to. */
export function makePrices(
  own: Omit<Prices, 'card'>,
  { classes, bands, tiers }: CardParts,
): Prices {
  if (Object.keys(classes).length + bands.length + tiers.length === 0) return own
  const rising = bands.toSorted((a, b) => a.aboveInputTokens - b.aboveInputTokens)
  const base: Rates = { input: own.inputPusd, output: own.outputPusd, ...classes }
  const steps = new Map([['', stepsOf(base, {}, rising)]])
  for (const { name, rates } of tiers) steps.set(name, stepsOf(base, rates, rising))
  return { ...own, card: { classes, bands: rising, tiers, steps } }
}

/** The steps of a tier. If tier and band both have a rate for a meter, the dearer one applies. */
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

/** The dearest rate of writing in such a run. */
export const dearestOutputOf = ({ rates, dearestOutput }: RateStep, held: HeldClasses): Pusd =>
  held ? max([rates.output, ...heldRates(rates, outputClasses, held)]) : dearestOutput

const heldRates = (
  rates: Rates,
  classes: readonly UsageClass[],
  held: ReadonlySet<UsageClass>,
): (Pusd | undefined)[] => classes.map((meter) => (held.has(meter) ? rates[meter] : undefined))

type HoldFacts = Pick<Usage, 'held' | 'isCapped'>

/** The price of a unit of a class of input: its rate, or the dearest that was held. */
export const inputRateOf = (
  step: RateStep,
  { held, isCapped }: HoldFacts,
  meter: UsageClass,
): Pusd => {
  const own = step.rates[meter]
  if (own !== undefined && !isCapped) return own
  const dearest = dearestInputOf(step, held)
  return min(own ?? dearest, dearest)
}

/** The price of a unit of a class of output; undefined where it is part of `output`. */
export const outputRateOf = (
  step: RateStep,
  { held, isCapped }: HoldFacts,
  meter: UsageClass,
): Pusd | undefined => {
  const own = step.rates[meter]
  return own !== undefined && isCapped ? min(own, dearestOutputOf(step, held)) : own
}

/** The lines of a run: what was used at the model's prices. */
export function linesOf(prices: Prices, kind: ModelKind, usage: Usage): MeterLine[] {
  if (prices.card || usage.classes) {
    return withRequest(detailedLines(prices, kind, usage), prices)
  }
  const lines: MeterLine[] = [
    { meter: 'input', quantity: usage.inputTokens, pricePusd: prices.inputPusd },
  ]
  if (kind === 'chat') {
    lines.push({ meter: 'output', quantity: usage.outputTokens, pricePusd: prices.outputPusd })
  }
  return withRequest(lines, prices)
}

/**
 * The lines of a run that has so much held, in nano-USD. Classes that were not held for cost their
 * own rate as far as the hold goes, and else no more than the dearest rate that was held.
 */
export function chargedLines(
  prices: Prices,
  kind: ModelKind,
  usage: Usage,
  { hold, discountBps }: { hold: Nusd; discountBps: number },
): { lines: MeterLine[]; isCapped: boolean } {
  const lines = linesOf(prices, kind, usage)
  if (!usage.held || costOf(lines, discountBps) <= hold) return { lines, isCapped: false }
  return { lines: linesOf(prices, kind, { ...usage, isCapped: true }), isCapped: true }
}

function withRequest(lines: MeterLine[], { requestNusd }: Prices): MeterLine[] {
  if (requestNusd > 0n) {
    lines.push({ meter: 'request', quantity: 1, pricePusd: requestNusd * 1000n })
  }
  return lines
}

/** The lines of a run by all rates of its model, without that of the request. */
function detailedLines(prices: Prices, kind: ModelKind, usage: Usage): MeterLine[] {
  const step = stepFor(prices, usage)
  const { rates } = step
  const { classes = {} } = usage
  const input: MeterLine = {
    meter: 'input',
    quantity: usage.inputTokens,
    pricePusd: rates.input ?? 0n,
  }
  const lines = [input]
  for (const meter of inputClasses) {
    const units = classes[meter]
    if (!units) continue
    lines.push({ meter, quantity: units, pricePusd: inputRateOf(step, usage, meter) })
    input.quantity -= units
  }
  if (kind === 'embedding') return lines
  const output: MeterLine = {
    meter: 'output',
    quantity: usage.outputTokens,
    pricePusd: rates.output ?? 0n,
  }
  lines.push(output)
  for (const meter of outputClasses) {
    const units = classes[meter]
    const rate = units ? outputRateOf(step, usage, meter) : undefined
    if (!units || rate === undefined) continue
    lines.push({ meter, quantity: units, pricePusd: rate })
    output.quantity -= units
  }
  if (classes.web_search && rates.web_search !== undefined) {
    lines.push({ meter: 'web_search', quantity: classes.web_search, pricePusd: rates.web_search })
  }
  return lines
}

/** The parts of a hold: the most units, and the tier that was asked for. */
export type HoldUnits = {
  inputTokens: number
  outputTokens: number
  tier?: string | undefined
  /** The classes that it may use; all when undefined. */
  held?: ReadonlySet<UsageClass> | undefined
  webSearches?: number | undefined
  /** The most input and output of one choice together, where that is less than both. */
  contextTokens?: number | undefined
  /** The most output of one choice. */
  maxTokens?: number | undefined
  /** How many choices. */
  n?: number | undefined
}

/** The lines of the most that a run can cost. */
export function holdLines(prices: Prices, kind: ModelKind, most: HoldUnits): MeterLine[] {
  if (!prices.card && most.contextTokens === undefined) return linesOf(prices, kind, most)
  const rates = holdRates(prices, most)
  const { inputPusd, outputPusd, searchPusd } = rates
  const { inputTokens, outputTokens } = dearestWithin(most, rates)
  const lines: MeterLine[] = [{ meter: 'input', quantity: inputTokens, pricePusd: inputPusd }]
  if (kind === 'chat') {
    lines.push({ meter: 'output', quantity: outputTokens, pricePusd: outputPusd })
  }
  const { webSearches = 0 } = most
  if (webSearches > 0) {
    lines.push({ meter: 'web_search', quantity: webSearches, pricePusd: searchPusd })
  }
  return withRequest(lines, prices)
}

/**
 * The dearest input and output that share a context. With fixed rates the cost grows with both, so
 * its maximum is where the context is full: either the whole output and what it leaves of the
 * input, or the whole input and what it leaves of the output. Every choice has a context of its
 * own and reads the same input, so a token less of input is a token more of each choice.
 */
function dearestWithin(
  most: HoldUnits,
  { inputPusd, outputPusd }: Pick<Prices, 'inputPusd' | 'outputPusd'>,
) {
  const { inputTokens, outputTokens, contextTokens, maxTokens = outputTokens, n = 1 } = most
  if (contextTokens === undefined || inputTokens + maxTokens <= contextTokens) return most
  return BigInt(n) * outputPusd >= inputPusd
    ? { inputTokens: contextTokens - maxTokens, outputTokens }
    : { inputTokens, outputTokens: n * (contextTokens - inputTokens) }
}

/**
 * The dearest rates of every band that so much input reaches, with the tier that was asked for and
 * without it: a model server may serve a run by a lower tier than was asked for.
 */
export function holdRates(prices: Prices, most: Pick<HoldUnits, 'inputTokens' | 'tier' | 'held'>) {
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

/** The units of classes that were billed by another rate than their own, reasoning left out. */
export function unpricedUnits(prices: Prices, usage: Usage): [UsageClass, number][] {
  if (!usage.classes) return []
  const { rates } = stepFor(prices, usage)
  return (Object.entries(usage.classes) as [UsageClass, number][]).filter(
    ([meter, units]) => meter !== 'reasoning' && units > 0 && rates[meter] === undefined,
  )
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
