import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Address } from 'viem'
import registryFile from '../../contracts/AnchorRegistry.json'
import verifierFile from '../../contracts/ReceiptVerifier.json'
import { fromHex, type Hex, toHex } from '../../src/kernel/hex.ts'
import { domain, hashStruct } from '../../src/verify/eip712.ts'
import {
  isHidden,
  type Receipt,
  type ReceiptFile,
  redact,
  sectionNames,
} from '../../src/verify/receipt.ts'
import fixture from '../fixtures/receipt-v1.json'
import { promise } from '../support/promise.ts'
import { testSigner } from '../verify/samples.ts'
import { noAnvil } from './anvil.ts'
import { type Chain, type Contract, openChain } from './chain.ts'
import { type HashedForm, hashedForm, hashFunctionOf } from './receipt-form.ts'
import { entryOf, referenceTree, someEntries } from './reference-tree.ts'

const { receipt, digest, signature } = fixture as ReceiptFile
const size = 23
const index = 13
const zero: Hex = `0x${'0'.repeat(64)}`

const entries = someEntries(size)
entries[index] = entryOf(0, fromHex(digest))
// The same digest as another kind of leaf, and once more.
entries[index + 1] = entryOf(1, fromHex(digest))
entries[index + 2] = entryOf(0, fromHex(digest))
const tree = referenceTree(entries)
const proof = { size, index, path: tree.inclusion(index) }

describe.skipIf(noAnvil)('ReceiptVerifier on a chain with id 4663', () => {
  let chain: Chain
  let registry: Contract
  let verifier: Contract
  let owner: Address
  let log: Hex
  beforeAll(async () => {
    chain = await openChain()
    registry = await chain.deploy(registryFile)
    verifier = await chain.deploy(verifierFile)
    owner = chain.accounts[0] as Address
    log = await openLog(testSigner.address)
  }, 30_000)
  afterAll(() => chain?.stop())

  /** A log that holds the receipt, anchored whole. */
  async function openLog(signer: string): Promise<Hex> {
    const origin = `${fixture.receipt.issuer}/${signer}`
    await registry.send(owner, 'open', origin, signer)
    const id = (await registry.read('logIdOf', owner, origin)) as Hex
    await registry.send(owner, 'anchor', id, size, tree.root(), [])
    return id
  }

  type Claim = { log: Hex; receipt: HashedForm; signature: string; proof: typeof proof }
  const argumentsOf = (change: Partial<Claim>) => {
    const claim = { log, receipt: hashedForm(receipt), signature, proof, ...change }
    return [registry.address, claim.log, claim.receipt, claim.signature, claim.proof]
  }
  const verify = (change: Partial<Claim> = {}) => verifier.read('verify', ...argumentsOf(change))
  const refusal = (change: Partial<Claim>) =>
    verifier.refusal(owner, 'verify', ...argumentsOf(change))

  /** Hidden sections as their given hash, shown ones hashed by the contract. */
  async function formOnChain(redacted: Receipt): Promise<HashedForm> {
    const hashes = sectionNames.map(async (name) => {
      const section = redacted[name]
      return [
        name,
        isHidden(section) ? section.$hash : await verifier.read(hashFunctionOf(name), section),
      ]
    })
    const { id, issuer, issuedAt } = redacted
    const sections = Object.fromEntries(await Promise.all(hashes))
    return { id, issuer, issuedAt: BigInt(issuedAt), ...sections }
  }

  const subsets = Array.from({ length: 32 }, (_, bits) =>
    sectionNames.filter((_, i) => bits & (1 << i)),
  )

  describe('passes', () => {
    test.each(subsets.map((hidden) => [hidden.join(', ') || 'nothing', hidden] as const))(
      'a signed, logged and anchored receipt that hides %s',
      async (_, hidden) => {
        const form = await formOnChain(redact(receipt, hidden))
        expect(await verify({ receipt: form })).toEqual([digest, testSigner.address])
      },
    )

    promise`G8`
    test('the domain is the one of our receipts, and the leaf is that of the log', async () => {
      const separator = toHex(hashStruct('EIP712Domain', domain))
      expect(await verifier.read('domainSeparator')).toBe(separator)
      expect(await verifier.read('leafOf', digest)).toBe(tree.leaf(index))
      expect(await verifier.read('digestOf', hashedForm(receipt))).toBe(digest)
    })

    test('a charge without lines and one with many hash as off chain', async () => {
      if (isHidden(receipt.charge)) throw new Error('the fixture hides its charge')
      const [line] = receipt.charge.lines
      for (const count of [0, 1, 100]) {
        const lines = Array.from({ length: count }, (_, i) => ({ ...line, quantity: `${i}` }))
        const charge = { ...receipt.charge, lines } as typeof receipt.charge
        const made = await verifier.read('hashCharge', charge)
        expect(made).toBe(toHex(hashStruct('Charge', charge)))
      }
    })
  })

  describe('WrongSigner', () => {
    test('for a changed receipt: the signature is then of someone else', async () => {
      const form = hashedForm(receipt)
      const changes: Partial<HashedForm>[] = [
        { id: `${form.id}x` },
        { issuer: 'https://evil.example' },
        { issuedAt: form.issuedAt + 1n },
        ...sectionNames.map((name) => ({ [name]: flip(form[name], 31) })),
        { subject: form.passport, passport: form.subject },
      ]
      for (const change of changes) {
        const [name, signer] = await refusal({ receipt: { ...form, ...change } })
        expect(name).toMatch(/^(WrongSigner|BadSignature)$/)
        expect(signer).not.toBe(testSigner.address)
      }
    })

    test('for a key that is none of the log, and for a log that no one opened', async () => {
      const [, stranger = '0x'] = chain.accounts
      const theirs = await openLog(stranger)
      const expected = ['WrongSigner', testSigner.address]
      expect(await refusal({ log: theirs })).toEqual(expected)
      expect(await refusal({ log: zero })).toEqual(expected)
    })

    test('before its first index and from its last on; inside it passes', async () => {
      const [, , first = '0x'] = chain.accounts
      const id = await openLog(first)
      const answer = () => verify({ log: id })
      const refused = () => refusal({ log: id })
      const expected = ['WrongSigner', testSigner.address]
      await registry.send(owner, 'addSigner', id, testSigner.address, index)
      expect(await answer()).toEqual([digest, testSigner.address])
      const at = (where: number) => ({ ...proof, index: where, path: tree.inclusion(where) })
      expect(await refusal({ log: id, proof: at(index - 1) })).toEqual(expected)
      await registry.send(owner, 'retireSigner', id, testSigner.address, index + 1)
      expect(await answer()).toEqual([digest, testSigner.address])
      // The receipt stands a second time in this log, where the key signs no more.
      expect(await refusal({ log: id, proof: at(index + 2) })).toEqual(expected)
      await registry.send(owner, 'retireSigner', id, testSigner.address, index)
      expect(await refused()).toEqual(expected)
    })
  })

  describe('BadSignature', () => {
    test('high s: the twin that anyone can make of a signature', async () => {
      const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
      const s = order - BigInt(`0x${signature.slice(66, 130)}`)
      const v = signature.endsWith('1b') ? '1c' : '1b'
      const twin = `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${v}`
      expect(await refusal({ signature: twin })).toEqual(['BadSignature'])
    })

    test('any other spelling: v 0 or 1, compact, cut, longer, empty, zeros', async () => {
      const body = signature.slice(0, 130)
      const v = signature.endsWith('1b') ? '00' : '01'
      const zeros = `0x${'0'.repeat(128)}1b`
      for (const wrong of [`${body}${v}`, body, `${signature}00`, `${body}1d`, '0x', zeros]) {
        expect(await refusal({ signature: wrong })).toEqual(['BadSignature'])
      }
    })

    test('any byte changed is refused', async () => {
      for (let at = 0; at < 65; at++) {
        const [name] = await refusal({ signature: flip(signature, at) })
        expect(name).toMatch(/^(WrongSigner|BadSignature)$/)
      }
    })
  })

  describe('NotInLog', () => {
    const refusedProofs: [what: string, change: Partial<typeof proof>][] = [
      ['a neighbour’s index', { index: index - 1 }],
      ['an index past the end', { index: size }],
      ['the same digest as another kind of leaf', placeOf(index + 1)],
      ['another leaf’s place and path', placeOf(0)],
      ['a size that is not anchored', { size: 22, path: tree.inclusion(index, 22) }],
      ['size 0', { size: 0, index: 0, path: [] }],
      ['a path cut at its end', { path: proof.path.slice(0, -1) }],
      ['a path cut at its start', { path: proof.path.slice(1) }],
      ['a path extended', { path: [...proof.path, zero] }],
      ['a path extended by the root', { path: [...proof.path, tree.root()] }],
      ['no path', { path: [] }],
    ]
    test.each(refusedProofs)(
      'A receipt with a changed proof is refused: %s.',
      async (_, change) => {
        expect(await refusal({ proof: { ...proof, ...change } })).toEqual(['NotInLog'])
      },
    )

    test('any hash of the path changed', async () => {
      for (const [i] of proof.path.entries()) {
        const path = proof.path.map((hash, j) => (i === j ? flip(hash, 31 - i) : hash))
        expect(await refusal({ proof: { ...proof, path } })).toEqual(['NotInLog'])
      }
    })
  })
})

function placeOf(other: number): Partial<typeof proof> {
  return { index: other, path: tree.inclusion(other) }
}

/** The same bytes with the last bit of one changed. */
function flip(hex: string, byte: number): Hex {
  const bytes = fromHex(hex)
  bytes[byte] = (bytes[byte] ?? 0) ^ 1
  return toHex(bytes)
}
