import { type Hex, toHex } from '../../src/kernel/hex.ts'
import { hashStruct, type StructName } from '../../src/verify/eip712.ts'
import { isHidden, type Receipt, type SectionName, sectionNames } from '../../src/verify/receipt.ts'

/** A receipt as ReceiptVerifier takes it: the hash of each section. */
export type HashedForm = { id: string; issuer: string; issuedAt: bigint } & Record<SectionName, Hex>

/** With every hash made here, off chain. */
export function hashedForm(receipt: Receipt): HashedForm {
  const { id, issuer, issuedAt } = receipt
  const hashes = sectionNames.map((name) => {
    const section = receipt[name]
    return [name, isHidden(section) ? section.$hash : toHex(hashStruct(structOf[name], section))]
  })
  return { id, issuer, issuedAt: BigInt(issuedAt), ...Object.fromEntries(hashes) }
}

/** The function of ReceiptVerifier that hashes a section in full. */
export const hashFunctionOf = (name: SectionName): string => `hash${structOf[name]}`

const structOf = {
  subject: 'Subject',
  passport: 'Passport',
  run: 'Run',
  charge: 'Charge',
  content: 'Content',
} as const satisfies Record<SectionName, StructName>
