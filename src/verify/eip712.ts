/** The EIP-712 domain and structs that this product signs. */
import { makeStructHasher, typedDigest } from './typed-data.ts'
import type { Value } from './typed-values.ts'

/**
 * The typed-data domain of everything we sign. No verifyingContract: receipts outlive a contract.
 * These constants select what is checked; no file can change them.
 */
export const domain = { name: 'Counterfoil Receipt', version: '1', chainId: 4663 } as const

/** Every struct that is signed or logged in our domain (EIP-712), version 1. */
export const structs = {
  EIP712Domain: [
    ['string', 'name'],
    ['string', 'version'],
    ['uint256', 'chainId'],
  ],
  Receipt: [
    ['string', 'id'],
    ['string', 'issuer'],
    ['uint64', 'issuedAt'],
    ['Subject', 'subject'],
    ['Passport', 'passport'],
    ['Run', 'run'],
    ['Charge', 'charge'],
    ['Content', 'content'],
  ],
  Subject: [
    ['address', 'account'],
    ['string', 'key'],
    ['bytes32', 'salt'],
  ],
  Passport: [
    ['string', 'handle'],
    ['bytes32', 'salt'],
  ],
  Run: [
    ['string', 'kind'],
    ['string', 'model'],
    ['string', 'route'],
    ['string', 'outcome'],
    ['uint64', 'startedAt'],
    ['uint64', 'durationMs'],
    ['string', 'usageSource'],
    ['bytes32', 'salt'],
  ],
  Charge: [
    ['string', 'unit'],
    ['Line[]', 'lines'],
    ['uint64', 'discountBps'],
    ['uint64', 'amount'],
    ['string', 'priceList'],
    ['bytes32', 'salt'],
  ],
  Line: [
    ['string', 'meter'],
    ['uint64', 'quantity'],
    ['uint64', 'price'],
  ],
  Content: [
    ['bytes32', 'input'],
    ['bytes32', 'output'],
  ],
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
  Checkpoint: [
    ['string', 'issuer'],
    ['uint64', 'size'],
    ['bytes32', 'root'],
    ['uint64', 'timestamp'],
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
  Rate: [
    ['string', 'service_tier'],
    ['uint64', 'from_input_tokens'],
    ['string', 'meter'],
    ['uint64', 'price'],
  ],
} as const

export type StructName = keyof typeof structs

const hasher = makeStructHasher(structs)

let separator: Uint8Array | undefined

/** Makes a digest ours and of version 1: the hash of the domain, 32 bytes. */
export function domainSeparator(): Uint8Array {
  // Not while a module is evaluated: a server puts a faster keccak in place after that.
  separator ??= hasher.hash('EIP712Domain', domain)
  return separator
}

/** EIP-712 `hashStruct`, 32 bytes. @throws when a member does not fit its type. */
export const hashStruct = (name: StructName, value: Value): Uint8Array => hasher.hash(name, value)

/** The type string a wallet shows and hashes. */
export const encodeType = (name: StructName): string => hasher.encodeType(name)

/** What a signature over one of our structs signs, 32 bytes. */
export const structDigest = (name: StructName, value: Value): Uint8Array =>
  typedDigest(domainSeparator(), hasher.hash(name, value))
