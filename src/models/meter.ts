/**
 * The meters of a run, their prices, and what they cost. A new meter also goes into the bound of a
 * hold (bound.ts), what upstreams report (usage.ts), the price list (catalogue.ts) and usage sums.
 */
import type { Nusd, Pusd } from '../kernel/money.ts'

/** What a model answers with. */
export type ModelKind = 'chat' | 'embedding'

/** What one unit costs. `input` and `output` in pico-USD a token, `request` in nano-USD a run. */
export type Prices = { inputPusd: Pusd; outputPusd: Pusd; requestNusd: Nusd }

/** What a run is charged for: a meter, how many units, and the price of one in pico-USD. */
export type MeterLine = { meter: 'input' | 'output' | 'request'; quantity: number; pricePusd: Pusd }

/** Tokens a run read and wrote. Counts, not money. */
export type Usage = { inputTokens: number; outputTokens: number }

/** The lines of a run: what was used at the model's prices. Meters without a price stay in. */
export function linesOf(prices: Prices, kind: ModelKind, usage: Usage): MeterLine[] {
  const lines: MeterLine[] = [
    { meter: 'input', quantity: usage.inputTokens, pricePusd: prices.inputPusd },
  ]
  if (kind === 'chat') {
    lines.push({ meter: 'output', quantity: usage.outputTokens, pricePusd: prices.outputPusd })
  }
  if (prices.requestNusd > 0n) {
    lines.push({ meter: 'request', quantity: 1, pricePusd: prices.requestNusd * 1000n })
  }
  return lines
}

/**
 * What lines cost in nano-USD: rounded up once, then less the discount, which is rounded down.
 * This is the only place where a run's price is rounded.
 */
export function costOf(lines: readonly MeterLine[], discountBps: number): Nusd {
  let sum = 0n
  for (const line of lines) sum += BigInt(line.quantity) * line.pricePusd
  const cost = (sum + 999n) / 1000n
  return discountBps === 0 ? cost : cost - (cost * BigInt(discountBps)) / 10_000n
}
