/** Recovers the signer of a text (EIP-191, `personal_sign`). */
import { keccak256 } from './keccak.ts'
import { type Recovery, recoverSigner } from './signature.ts'

/** Recovers the signer as `recoverSigner` does, from the same spelling. Never throws. */
export function recoverTextSigner(text: string, signature: string): Recovery {
  const message = new TextEncoder().encode(text)
  const prefix = new TextEncoder().encode(`\x19Ethereum Signed Message:\n${message.length}`)
  const signed = new Uint8Array(prefix.length + message.length)
  signed.set(prefix)
  signed.set(message, prefix.length)
  return recoverSigner(keccak256(signed), signature)
}
