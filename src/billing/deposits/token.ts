import { type Chain, ChainReverted } from '../../kernel/chain.ts'
import { sha256Hex } from '../../kernel/hash.ts'

/** `decimals()`. */
const decimalsCall = '0x313ce567'

/** Why the token of the configuration is not one to take deposits in. */
export type TokenTrouble = 'no_token' | 'wrong_decimals'

export type TokenCheck = { trouble: TokenTrouble } | { trouble: null; codeHash: string }

/**
 * Asks the chain whether the token is there and has the decimals that are configured: with others
 * every amount would be wrong by powers of ten.
 * @throws ChainUnavailable
 */
export async function checkToken(
  chain: Pick<Chain, 'call' | 'code'>,
  { token, decimals }: { token: string; decimals: number },
): Promise<TokenCheck> {
  const code = await chain.code(token)
  if (code === '0x') return { trouble: 'no_token' }
  try {
    const answer = await chain.call(token, decimalsCall)
    if (answer.length !== 66) return { trouble: 'no_token' }
    if (BigInt(answer) !== BigInt(decimals)) return { trouble: 'wrong_decimals' }
    return { trouble: null, codeHash: sha256Hex(code) }
  } catch (error) {
    if (error instanceof ChainReverted) return { trouble: 'no_token' }
    throw error
  }
}
