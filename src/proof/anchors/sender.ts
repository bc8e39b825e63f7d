/** The account that pays for anchors: signs transactions for chain 4663 and nothing else. */
import { keccak256, serializeTransaction } from 'viem'
import { chainId, type Fees } from '../../kernel/chain.ts'
import { fromHex, type Hex, toHex } from '../../kernel/hex.ts'
import type { Signer } from '../signer/signer.ts'

export type Sender = {
  /** EIP-55. */
  address: string
  sign(transaction: Draft): { raw: Hex; hash: Hex }
}

/** An unsigned transaction without value; without `to` it creates a contract. */
export type Draft = { nonce: number; gas: bigint; fees: Fees; to?: string; data: Hex }

/** The key stays in the closure of `key`. EIP-1559 only. */
export const senderOf = (key: Pick<Signer, 'address' | 'sign'>): Sender =>
  Object.freeze({
    address: key.address,
    sign({ nonce, gas, fees, to, data }: Draft) {
      const transaction = {
        type: 'eip1559',
        chainId,
        nonce,
        gas,
        maxFeePerGas: fees.maxFeeWei,
        maxPriorityFeePerGas: fees.priorityFeeWei,
        ...(to === undefined ? {} : { to: to as Hex }),
        data,
      } as const
      const signature = key.sign(fromHex(keccak256(serializeTransaction(transaction))))
      const raw = serializeTransaction(transaction, {
        r: toHex(signature.subarray(0, 32)),
        s: toHex(signature.subarray(32, 64)),
        yParity: (signature[64] ?? 27) - 27,
      })
      return { raw, hash: keccak256(raw) }
    },
  })
