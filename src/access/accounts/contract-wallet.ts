import { type Chain, ChainReverted, ChainUnavailable } from '../../kernel/chain.ts'
import type { Hex } from '../../kernel/hex.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { IsContractSignature } from './sign-in.ts'

/** `isValidSignature(bytes32,bytes)`, and what a contract must answer, padded to a word. */
const selector = '0x1626ba7e'
const yes = `${selector}${'0'.repeat(56)}`

/**
 * Asks contract wallets on chain 4663 about their signatures: those that are there (ERC-1271), and
 * those that bring their own deployment with the signature (ERC-6492). Only `eth_call`; whatever is
 * not exactly a yes is a no, and a chain that cannot be asked is neither.
 */
export function contractWallets(chain: Pick<Chain, 'call' | 'code'>): IsContractSignature {
  return async ({ address, message, signature }) => {
    const { hashMessage, isErc6492Signature } = await import('viem/utils')
    const asked = {
      address: address as Hex,
      hash: hashMessage(message),
      signature: signature as Hex,
    }
    try {
      return isErc6492Signature(asked.signature)
        ? await isValidUndeployed(chain, asked)
        : await isValidDeployed(chain, asked)
    } catch (error) {
      if (error instanceof ChainReverted) return false
      if (error instanceof ChainUnavailable) return refuse('chain_unavailable')
      throw error
    }
  }
}

type Asked = { address: Hex; hash: Hex; signature: Hex }

async function isValidDeployed(
  chain: Pick<Chain, 'call' | 'code'>,
  { address, hash, signature }: Asked,
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

/** The standard's own validator, run without being deployed: it answers one byte. */
async function isValidUndeployed(
  chain: Pick<Chain, 'call'>,
  { address, hash, signature }: Asked,
): Promise<boolean> {
  const { encodeAbiParameters, erc6492SignatureValidatorByteCode } = await import('viem')
  const parameters = encodeAbiParameters(
    [{ type: 'address' }, { type: 'bytes32' }, { type: 'bytes' }],
    [address, hash, signature],
  )
  const code: Hex = `${erc6492SignatureValidatorByteCode}${parameters.slice(2)}`
  return (await chain.call(null, code)) === '0x01'
}
