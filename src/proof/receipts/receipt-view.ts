/** The JSON form of a receipt and of what opens its commitments. */
import type { Json } from '../../kernel/canonical.ts'
import { toHex } from '../../kernel/hex.ts'
import type { Disclosure, Disclosures, Receipt, ReceiptFile } from '../../verify/receipt.ts'
import { contentSalts, noCommitment } from './receipt.ts'

/** The file form of a stored receipt, also the body of `GET /v1/receipts/:id`. */
export function toReceiptFile(
  receipt: Receipt,
  digest: Uint8Array,
  signature: Uint8Array,
  disclosures?: Disclosures,
): ReceiptFile {
  return {
    type: 'counterfoil.receipt',
    version: '1',
    receipt,
    digest: toHex(digest),
    signature: toHex(signature),
    ...(disclosures ? { disclosures } : {}),
  }
}

/** The owner's disclosures: salts unless they were erased, and the texts that were kept. */
export function toDisclosures(
  seed: Uint8Array,
  content: { input: string; output: string },
  kept: { input?: Json; output?: Json },
): Disclosures {
  const salts = contentSalts(seed)
  const open = (name: 'input' | 'output'): Disclosure => {
    const value = kept[name]
    return { salt: toHex(salts[name]), ...(value === undefined ? {} : { value }) }
  }
  return {
    input: open('input'),
    ...(content.output === noCommitment ? {} : { output: open('output') }),
  }
}
