/** Checks the configured token on the chain. */
import { type Chain, ChainReverted } from '../../kernel/chain.ts'
import { sha256Hex } from '../../kernel/hash.ts'

/** `decimals()`. */
const decimalsCall = '0x313ce567'

/** Why the configured token is refused. */
export type TokenTrouble = 'no_token' | 'wrong_decimals'

export type TokenCheck = { trouble: TokenTrouble } | { trouble: null; codeHash: string }

/**
 * Checks that the token exists and has the configured decimals: otherwise every amount would be
 * wrong by powers of ten.
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
