import fc from 'fast-check'
import type { Json } from '../../src/kernel/canonical.ts'
import { type Hex, toHex } from '../../src/kernel/hex.ts'
import {
  commitInput,
  commitOutput,
  contentSalts,
  digestOf,
  makeReceipt,
  type ReceiptFacts,
} from '../../src/proof/receipts/receipt.ts'
import { toDisclosures, toReceiptFile } from '../../src/proof/receipts/receipt-view.ts'
import { signerFromHex } from '../../src/proof/signer/signer.ts'
import { structs } from '../../src/verify/eip712.ts'
import type { FullReceipt, ReceiptFile } from '../../src/verify/receipt.ts'

/** The first account of every local development chain: known to all, worth nothing. */
export const testSigner = signerFromHex(
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
)

/** What a receipt is made of, with the texts themselves. */
export type SampleFacts = Omit<ReceiptFacts, 'inputCommitment' | 'outputCommitment'> & {
  input: Json
  output: Json | null
}

export const facts: SampleFacts = {
  id: 'rcpt_01jd7m3v5k8q2w4x6y9z0a1b2c',
  issuer: 'https://gw.example',
  issuedAt: 1_790_000_000_321,
  account: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  keyId: 'key_01jd7m3v5k0000000000000000',
  passportHandle: 'harvester',
  run: {
    kind: 'chat',
    model: 'acme/small-1',
    route: 'local:small',
    outcome: 'complete',
    startedAt: 1_790_000_000_000,
    durationMs: 321,
    usageSource: 'reported',
  },
  charge: {
    lines: [
      { meter: 'input', quantity: 75, pricePusd: 150_000n },
      { meter: 'output', quantity: 21, pricePusd: 600_001n },
    ],
    discountBps: 250,
    amount: 23_255n,
    priceList: 'default@1',
  },
  input: { model: 'acme/small-1', messages: [{ role: 'user', content: 'Is it raining? ☂' }] },
  output: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
  seed: new Uint8Array(32).fill(7),
}

export function make(of: SampleFacts = facts) {
  const { seed, input, output, ...rest } = of
  const commitments = {
    inputCommitment: commitInput(seed, input),
    outputCommitment: output === null ? null : commitOutput(seed, output),
  }
  const whole: ReceiptFacts = { ...rest, seed, ...commitments }
  const salts = contentSalts(seed)
  return {
    receipt: makeReceipt(whole),
    digest: digestOf(whole),
    inputSalt: toHex(salts.input),
    outputSalt: toHex(salts.output),
  }
}

/** A whole receipt file, signed with the test key, everything disclosed. */
export function fileOf(of: SampleFacts = facts): ReceiptFile {
  const { receipt, digest } = make(of)
  const kept = { input: of.input, ...(of.output === null ? {} : { output: of.output }) }
  const disclosures = toDisclosures(of.seed, receipt.content, kept)
  return toReceiptFile(receipt, digest, testSigner.sign(digest), disclosures)
}

/** Our structs the way viem wants them. */
export const viemTypes = Object.fromEntries(
  Object.entries(structs)
    .filter(([name]) => name !== 'EIP712Domain')
    .map(([name, members]) => [name, members.map(([type, member]) => ({ name: member, type }))]),
)

const text = fc.string({ unit: 'grapheme', maxLength: 300 })
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String)
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex)
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(toHex)

/** Any receipt that has the right types. */
export const anyReceipt: fc.Arbitrary<FullReceipt> = fc.record({
  id: text,
  issuer: text,
  issuedAt: uint64,
  subject: fc.record({ account: address as fc.Arbitrary<string>, key: text, salt: bytes32 }),
  passport: fc.record({ handle: text, salt: bytes32 }),
  run: fc.record({
    kind: text,
    model: text,
    route: text,
    outcome: text,
    startedAt: uint64,
    durationMs: uint64,
    usageSource: text,
    salt: bytes32,
  }),
  charge: fc.record({
    unit: text,
    lines: fc.array(fc.record({ meter: text, quantity: uint64, price: uint64 }), { maxLength: 5 }),
    discountBps: uint64,
    amount: uint64,
    priceList: text,
    salt: bytes32,
  }),
  content: fc.record({ input: bytes32 as fc.Arbitrary<Hex>, output: bytes32 as fc.Arbitrary<Hex> }),
})
