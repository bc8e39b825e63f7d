/** Checks the configured token on the chain. */
import { type Chain, ChainReverted } from '../../kernel/chain.ts'
import { sha256Hex } from '../../kernel/hash.ts'

/** `decimals()`. */
const decimalsCall = '0x313ce567'
/** `symbol()`. */
const symbolCall = '0x95d89b41'

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

/**
 * Returns what the token calls itself, such as USDG; null where it says nothing that can be shown.
 * @throws ChainUnavailable
 */
export async function readSymbol(
  chain: Pick<Chain, 'call'>,
  token: string,
): Promise<string | null> {
  try {
    return symbolIn(Buffer.from((await chain.call(token, symbolCall)).slice(2), 'hex'))
  } catch (error) {
    if (error instanceof ChainReverted) return null
    throw error
  }
}

/** Old tokens answer with 32 bytes, all others with an offset, a length and the text. */
function symbolIn(answer: Buffer): string | null {
  const isOld = answer.length === 32
  if (!isOld && answer.length < 96) return null
  const length = isOld ? 32 : answer.readUInt32BE(60)
  const text = (isOld ? answer : answer.subarray(64, 64 + length)).toString('latin1')
  const name = text.replace(/\0+$/, '')
  return /^[\w.$+-]{1,11}$/.test(name) ? name : null
}
