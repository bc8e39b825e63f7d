/** The EIP-712 domain and structs that this product signs. */
import {
  addStructs,
  digestOfKnown,
  hashKnown,
  receiptStructs,
  typeOfKnown,
} from './receipt-structs.ts'
import type { Value } from './typed-values.ts'

export { domain, domainSeparator } from './receipt-structs.ts'

/** Every struct that is signed or logged in our domain (EIP-712), version 1. */
export const structs = {
  ...receiptStructs,
  PriceList: [
    ['string', 'id'],
    ['uint64', 'version'],
    ['bytes32', 'content'],
  ],
  SignerRotation: [
    ['string', 'issuer'],
    ['address', 'previous'],
    ['address', 'next'],
    ['uint64', 'fromIndex'],
    ['string', 'reason'],
  ],
  PassportStatement: [
    ['string', 'handle'],
    ['uint64', 'asOfSize'],
    ['bytes32', 'record'],
  ],
  LogReopening: [
    ['string', 'issuer'],
    ['string', 'previous'],
    ['uint64', 'previousSize'],
    ['bytes32', 'previousRoot'],
    ['string', 'reason'],
  ],
  // Its members have the names that the API gives them.
  Quote: [
    ['string', 'id'],
    ['string', 'issuer'],
    ['address', 'account'],
    ['string', 'model'],
    ['Rate[]', 'rates'],
    ['string', 'price_list'],
    ['uint64', 'discount_bps'],
    ['uint64', 'max_input_tokens'],
    ['uint64', 'max_output_tokens'],
    ['uint64', 'max_nusd'],
    ['uint64', 'uses'],
    ['uint64', 'issued_at'],
    ['uint64', 'expires_at'],
    ['uint64', 'log_size'],
    ['bytes32', 'nonce'],
  ],
  ExportManifest: [
    ['string', 'issuer'],
    ['uint64', 'rows'],
    ['uint64', 'sum_nusd'],
    ['uint64', 'as_of'],
    ['bytes32', 'sha256'],
    ['bytes32', 'checkpoint'],
  ],
  Liabilities: [
    ['string', 'issuer'],
    ['uint64', 'number'],
    ['bytes32', 'previous'],
    ['uint64', 'as_of'],
    ['uint64', 'leaves'],
    ['bytes32', 'root'],
    ['uint64', 'total_nusd'],
    ['address', 'treasury'],
    ['address', 'token'],
    ['uint64', 'treasury_nusd'],
    ['uint64', 'block'],
  ],
  // The hash of what an upstream signed of a run, and of which exchange with it.
  UpstreamEvidence: [
    ['string', 'issuer'],
    ['string', 'receipt_id'],
    ['bytes32', 'receipt_digest'],
    ['string', 'upstream'],
    ['string', 'model'],
    ['string', 'scheme'],
    ['string', 'key'],
    ['bytes32', 'request_sha256'],
    ['bytes32', 'answer_sha256'],
    ['bytes32', 'document_sha256'],
    ['uint64', 'checked_at'],
    ['bytes32', 'salt'],
  ],
  Rate: [
    ['string', 'service_tier'],
    ['uint64', 'from_input_tokens'],
    ['string', 'meter'],
    ['uint64', 'price'],
  ],
} as const

addStructs(structs)

export type StructName = keyof typeof structs

/** EIP-712 `hashStruct`, 32 bytes. @throws when a member does not fit its type. */
export const hashStruct: (name: StructName, value: Value) => Uint8Array = hashKnown

/** The type string a wallet shows and hashes. */
export const encodeType: (name: StructName) => string = typeOfKnown

/** The digest that a signature over one of our structs signs, 32 bytes. */
export const structDigest: (name: StructName, value: Value) => Uint8Array = digestOfKnown
