/**
 * The rates of a model and the lines they make. A class without a rate of its own is neither free
 * nor billed twice: what was read falls back to the dearest rate of reading, what was written stays
 * in `output`.
 */
import type { Nusd, Pusd } from '../kernel/money.ts'
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

/** Which classes of what was written have a line of their own. */
export const hasOwnRate = ({ rates }: RateStep, meter: UsageClass): boolean =>
  rates[meter] !== undefined

/** The lines of a run: what was used at the model's prices. */
export function linesOf(prices: Prices, kind: ModelKind, usage: Usage): MeterLine[] {
  if (prices.card || usage.classes || usage.dearest) return detailedLines(prices, kind, usage)
  const lines: MeterLine[] = [
    { meter: 'input', quantity: usage.inputTokens, pricePusd: prices.inputPusd },
  ]
  if (kind === 'chat') {
    lines.push({ meter: 'output', quantity: usage.outputTokens, pricePusd: prices.outputPusd })
  }
  return withRequest(lines, prices)
}

function withRequest(lines: MeterLine[], { requestNusd }: Prices): MeterLine[] {
  if (requestNusd > 0n) {
    lines.push({ meter: 'request', quantity: 1, pricePusd: requestNusd * 1000n })
  }
  return lines
}

function detailedLines(prices: Prices, kind: ModelKind, usage: Usage): MeterLine[] {
  const step = stepFor(prices, usage)
  const { rates, dearestInput, dearestOutput } = step
  const { classes = {}, dearest } = usage
  const lines: MeterLine[] = []
  const add = (meter: Meter, quantity: number, pricePusd: Pusd): number => {
    lines.push({ meter, quantity, pricePusd })
    return quantity
  }
  let inClasses = 0
  add('input', 0, dearest?.input ? dearestInput : (rates.input ?? 0n))
  for (const meter of inputClasses) {
    const units = classes[meter]
    if (units) inClasses += add(meter, units, rates[meter] ?? dearestInput)
  }
  setQuantity(lines, 'input', usage.inputTokens - inClasses)
  if (kind === 'embedding') return withRequest(lines, prices)
  let outClasses = 0
  add('output', 0, dearest?.output ? dearestOutput : (rates.output ?? 0n))
  for (const meter of outputClasses) {
    const [units, rate] = [classes[meter], rates[meter]]
    if (units && rate !== undefined) outClasses += add(meter, units, rate)
  }
  setQuantity(lines, 'output', usage.outputTokens - outClasses)
  if (classes.web_search && rates.web_search !== undefined) {
    add('web_search', classes.web_search, rates.web_search)
  }
  return withRequest(lines, prices)
}

function setQuantity(lines: MeterLine[], meter: Meter, quantity: number): void {
  const line = lines.find((one) => one.meter === meter)
  if (line) line.quantity = quantity
}

/** Whether a run costs nothing, all that it can use included. */
export function isFree({ inputPusd, outputPusd, requestNusd, card }: Prices): boolean {
  const steps = card ? [...card.steps.values()].flat() : []
  const rates = [inputPusd, outputPusd, requestNusd]
  return [...rates, ...steps.flatMap((step) => Object.values(step.rates))].every(
    (rate) => rate === 0n,
  )
}

/** What a hold is made of: the most units, and the tier that was asked for. */
export type MostUsed = {
  inputTokens: number
  outputTokens: number
  tier?: string | undefined
  webSearches?: number | undefined
  /** The most input and output of one choice together, where that is less than both. */
  contextTokens?: number | undefined
  /** Of one choice. */
  maxTokens?: number | undefined
  /** How many choices. */
  n?: number | undefined
}

/** The dearest rates that a run can come to. */
export type HoldRates = { inputPusd: Pusd; outputPusd: Pusd; searchPusd: Pusd }

/**
 * The dearest rates of every band that so much input reaches, with the tier that was asked for and
 * without it: a model server may serve a run by a lower tier than was asked for.
 */
export function holdRates(prices: Prices, most: MostUsed): HoldRates {
  const { card, inputPusd, outputPusd } = prices
  if (!card) return { inputPusd, outputPusd, searchPusd: 0n }
  const reached = ['', most.tier ?? ''].flatMap((tier) =>
    (card.steps.get(tier) ?? []).filter(
      ({ aboveInputTokens }) => most.inputTokens > aboveInputTokens,
    ),
  )
  return {
    inputPusd: max(reached.map(({ dearestInput }) => dearestInput)),
    outputPusd: max(reached.map(({ dearestOutput }) => dearestOutput)),
    searchPusd: max(reached.map(({ rates }) => rates.web_search)),
  }
}

/** The lines of the most that a run can cost. */
export function holdLines(prices: Prices, kind: ModelKind, most: MostUsed): MeterLine[] {
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
function dearestWithin(most: MostUsed, { inputPusd, outputPusd }: HoldRates) {
  const { inputTokens, outputTokens, contextTokens, maxTokens = outputTokens, n = 1 } = most
  if (contextTokens === undefined || inputTokens + maxTokens <= contextTokens) return most
  return BigInt(n) * outputPusd >= inputPusd
    ? { inputTokens: contextTokens - maxTokens, outputTokens }
    : { inputTokens, outputTokens: n * (contextTokens - inputTokens) }
}

/** The units of classes that were billed by another rate than their own, reasoning left out. */
export function unpricedUnits(prices: Prices, usage: Usage): [UsageClass, number][] {
  if (!usage.classes) return []
  const { rates } = stepFor(prices, usage)
  return (Object.entries(usage.classes) as [UsageClass, number][]).filter(
    ([meter, units]) => meter !== 'reasoning' && units > 0 && rates[meter] === undefined,
  )
}
