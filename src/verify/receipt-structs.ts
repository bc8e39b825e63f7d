/** The typed data of receipts: the domain, their structs and their digests. */
import { makeStructHasher, membersIn, typedDigest } from './typed-data.ts'
import type { Value } from './typed-values.ts'

/**
 * The typed-data domain of everything we sign. No verifyingContract: receipts outlive a contract.
 * These constants select what is checked; no file can change them.
 */
export const domain = { name: 'Counterfoil Receipt', version: '1', chainId: 4663 } as const

type Structs = Record<string, readonly (readonly [type: string, name: string])[]>

/** The structs of receipts and proofs, version 1: all that a browser needs to check one. */
export const receiptStructs = {
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
  Checkpoint: [
    ['string', 'issuer'],
    ['uint64', 'size'],
    ['bytes32', 'root'],
    ['uint64', 'timestamp'],
  ],
} as const

/** Every known struct, in one table, because the hasher lays all out in one memory. */
const known: Structs = { ...receiptStructs }
const hasher = makeStructHasher(known)

/** Makes more structs known, before any of them is hashed. */
export const addStructs = (more: Structs): void => void Object.assign(known, more)

export const isStruct = (name: string): boolean => Object.hasOwn(known, name)

/** The members of a struct in order. @throws for an unknown name */
export const membersOf = (name: string): Structs[string] => membersIn(known, name)

let separator: Uint8Array | undefined

/** Makes a digest ours and of version 1: the hash of the domain, 32 bytes. */
export function domainSeparator(): Uint8Array {
  // Not while a module is evaluated: a server puts a faster keccak in place after that.
  separator ??= hasher.hash('EIP712Domain', domain)
  return separator
}

/** EIP-712 `hashStruct`, 32 bytes. @throws when a member does not fit its type. */
export const hashKnown = (name: string, value: Value): Uint8Array => hasher.hash(name, value)

/** The type string a wallet shows and hashes. */
export const typeOfKnown = (name: string): string => hasher.encodeType(name)

/** The digest that a signature over a known struct signs, 32 bytes. */
export const digestOfKnown = (name: string, value: Value): Uint8Array =>
  typedDigest(domainSeparator(), hasher.hash(name, value))
