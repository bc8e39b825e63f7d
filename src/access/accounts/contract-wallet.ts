/** Verifies signatures of contract wallets on chain 4663: deployed (ERC-1271) or not (ERC-6492). */
import { type Chain, ChainReverted, ChainUnavailable } from '../../kernel/chain.ts'
import type { Hex } from '../../kernel/hex.ts'
import { refuse } from '../../kernel/refusal.ts'

/** A signature of a text (EIP-191). All three as the client sent them. */
export type SignedText = { address: string; message: string; signature: string }

/**
 * Whether a contract wallet accepts a signature.
 * @throws Refusal `chain_unavailable`
 */
export type IsContractSignature = (signed: SignedText) => Promise<boolean>

/** `isValidSignature(bytes32,bytes)`, and the answer that means yes, padded to a word. */
const selector = '0x1626ba7e'
const yes = `${selector}${'0'.repeat(56)}`

/** Uses `eth_call` alone. Anything but an exact yes is a no; an unreachable chain is neither. */
export function contractWallets(chain: Pick<Chain, 'call' | 'code'>): IsContractSignature {
  return async ({ address, message, signature }) => {
    const { hashMessage, isErc6492Signature } = await import('viem/utils')
    const signed = {
      address: address as Hex,
      hash: hashMessage(message),
      signature: signature as Hex,
    }
    try {
      return isErc6492Signature(signed.signature)
        ? await isValidUndeployed(chain, signed)
        : await isValidDeployed(chain, signed)
    } catch (error) {
      if (error instanceof ChainReverted) return false
      if (error instanceof ChainUnavailable) return refuse('chain_unavailable')
      throw error
    }
  }
}

type WalletSignature = { address: Hex; hash: Hex; signature: Hex }

async function isValidDeployed(
  chain: Pick<Chain, 'call' | 'code'>,
  { address, hash, signature }: WalletSignature,
): Promise<boolean> {
  if ((await chain.code(address)) === '0x') return false
  const { encodeAbiParameters } = await import('viem/utils')
  const parameters = encodeAbiParameters(
    [{ type: 'bytes32' }, { type: 'bytes' }],
    [hash, signature],
  )
  const answer = await chain.call(address, `${selector}${parameters.slice(2)}`)
  return answer === yes
}

/** Runs the standard's validator without deploying it. It returns one byte. */
async function isValidUndeployed(
  chain: Pick<Chain, 'call'>,
  { address, hash, signature }: WalletSignature,
): Promise<boolean> {
  const { encodeAbiParameters, erc6492SignatureValidatorByteCode } = await import('viem')
  const parameters = encodeAbiParameters(
    [{ type: 'address' }, { type: 'bytes32' }, { type: 'bytes' }],
    [address, hash, signature],
  )
  const code: Hex = `${erc6492SignatureValidatorByteCode}${parameters.slice(2)}`
  return (await chain.call(null, code)) === '0x01'
}
