/** The lines of a run at the rates of its model, and those of the most that it can use. */
import type { Nusd } from '../kernel/money.ts'
import { costOf, type MeterLine, type ModelKind, type Usage, type UsageClass } from './meter.ts'
import { detailedLines, type HoldRates, holdRates, type Prices, stepFor } from './rate-card.ts'

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

/** What a hold is made of: the most units, and the tier that was asked for. */
export type MostUsed = {
  inputTokens: number
  outputTokens: number
  tier?: string | undefined
  /** The classes that it may use; all when undefined. */
  held?: ReadonlySet<UsageClass> | undefined
  webSearches?: number | undefined
  /** The most input and output of one choice together, where that is less than both. */
  contextTokens?: number | undefined
  /** Of one choice. */
  maxTokens?: number | undefined
  /** How many choices. */
  n?: number | undefined
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
