/** Counts requests against the rate limits of a chain of keys. */
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import type { Limiter, Verdict } from '../../web/http/limits.ts'
import type { Caller } from './key.ts'

/** The verdict of the limit closest to refusing, and that limit in requests a minute. */
export type RateVerdict = { rpm: number; verdict: Verdict }

/**
 * Counts a request against every key of the chain. The limit of a key is the lower of its own and
 * the plan's, divided by the number of nodes. A refused request counts against none.
 */
export function countRequest(
  requests: Limiter,
  { chain, plan }: Caller,
  nodes: number,
): RateVerdict {
  const rpmOf = (key: KeyRow): number => limitOf(key, plan, nodes)
  if (chain.length > 1) {
    for (const key of chain) {
      const verdict = requests.peek(key.id, rpmOf(key))
      if (!verdict.ok) return { rpm: rpmOf(key), verdict }
    }
  }
  let nearest: RateVerdict | undefined
  for (const key of chain) {
    const rpm = rpmOf(key)
    const verdict = requests.take(key.id, rpm)
    if (!verdict.ok) return { rpm, verdict }
    if (!nearest || verdict.remaining < nearest.verdict.remaining) nearest = { rpm, verdict }
  }
  if (!nearest) throw new Error('a caller without a key')
  return nearest
}

const limitOf = ({ rpm: own }: KeyRow, { limits }: Caller['plan'], nodes: number): number =>
  Math.ceil(Math.min(own ?? limits.rpm, limits.rpm) / nodes)
