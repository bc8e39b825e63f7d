/** Reads on the chain what lies where deposits go. */
import type { Deps } from '../../app/deps-port.ts'
import { type Chain, ChainReverted, ChainUnavailable } from '../../kernel/chain.ts'
import type { Liabilities } from '../../verify/liabilities.ts'
import { sumsBelow } from '../../verify/sum-tree.ts'

/** The treasury and the token of a service that takes no deposits. */
export const nowhere = `0x${'0'.repeat(40)}`

/** `decimals()`. */
const decimalsCall = '0x313ce567'
/** `balanceOf(address)`. */
const balanceCall = '0x70a08231'

type TreasuryClaim = Pick<Liabilities, 'treasury' | 'token' | 'treasury_nusd' | 'block'>

/** The part of a statement about the treasury; block 0 where the chain could not be read. */
export async function readTreasury({
  chain,
  depositPolicy,
  log,
}: Pick<Deps, 'chain' | 'depositPolicy' | 'log'>): Promise<TreasuryClaim> {
  if (!chain || !depositPolicy) {
    return { treasury: nowhere, token: nowhere, treasury_nusd: '0', block: '0' }
  }
  const { treasury, token, decimals } = depositPolicy
  try {
    const { number } = await chain.block('latest')
    const held = await holdingsOf(chain, { holder: treasury, token, decimals }, number)
    return { treasury, token, treasury_nusd: String(held), block: String(number) }
  } catch (error) {
    if (!(error instanceof ChainUnavailable || error instanceof ChainReverted)) throw error
    log.warn('liabilities.treasury_unread', { reason: error.message })
    return { treasury, token, treasury_nusd: '0', block: '0' }
  }
}

/**
 * The holdings of an address in a token, in nano-USD, rounded down.
 * @throws ChainUnavailable, ChainReverted
 */
export async function holdingsOf(
  chain: Pick<Chain, 'call'>,
  { holder, token, decimals }: { holder: string; token: string; decimals: number },
  block: number | 'latest',
): Promise<bigint> {
  const data = `${balanceCall}${holder.slice(2).toLowerCase().padStart(64, '0')}` as const
  const answer = await chain.call(token, data, block)
  if (answer.length !== 66) throw new ChainReverted(answer)
  const held = (BigInt(answer) * 10n ** 9n) / 10n ** BigInt(decimals)
  return held < sumsBelow ? held : sumsBelow - 1n
}

/** The decimals of a token. @throws ChainUnavailable, ChainReverted */
export async function decimalsOf(chain: Pick<Chain, 'call'>, token: string): Promise<number> {
  const answer = await chain.call(token, decimalsCall)
  const decimals = answer.length === 66 ? BigInt(answer) : undefined
  if (decimals === undefined || decimals > 77n) throw new ChainReverted('0x')
  return Number(decimals)
}
