import { accountIn, chainIn, type Model, type ModelRun, must, stateOf } from './model.ts'
import type { Quoted } from './model-prices.ts'

/** A quote of any account, at a part of the list or a multiple of it. */
export type ModelQuote = Quoted & { uses: number; used: number; expiresAt: number }

export type QuoteWish = Pick<ModelQuote, 'times' | 'per' | 'uses' | 'expiresAt'>

export function judgeQuote(
  m: Model,
  key: string,
  wish: QuoteWish,
  id: string,
  now: number,
): string {
  const chain = chainIn(m, key)
  const dead = stateOf(chain, now)
  if (dead) return dead
  if (accountIn(m, must(chain[0]).account).suspended) return 'account_suspended'
  m.quotes.set(id, { ...wish, used: 0 })
  return 'ok'
}

/** A run that ended without a charge gives its use back. */
export function returnUse(m: Model, { quote }: ModelRun): void {
  if (quote !== undefined) must(m.quotes.get(quote)).used--
}
