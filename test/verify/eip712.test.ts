import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { hashTypedData, hashStruct as viemHashStruct, keccak256 as viemKeccak } from 'viem'
import { type Hex, toHex } from '../../src/kernel/hex.ts'
import { toChecksumAddress } from '../../src/verify/address.ts'
import { domain, encodeType, hashStruct, structDigest, structs } from '../../src/verify/eip712.ts'
import { useWasmKeccak } from '../../src/verify/fast/keccak-wasm.ts'
import { keccak256, portableMemory, useKeccak } from '../../src/verify/keccak.ts'
import {
  isHidden,
  type Receipt,
  receiptDigest,
  redact,
  sectionNames,
} from '../../src/verify/receipt.ts'
import { makeStructHasher, typedDigest } from '../../src/verify/typed-data.ts'
import fixture from '../fixtures/receipt-v1.json'
import { promise } from '../support/promise.ts'
import { anyReceipt, fileOf, viemTypes } from './samples.ts'

const vectors = Bun.env['VECTORS_DIR']

for (const name of ['portable', 'wasm'] as const) {
  describe(`with the ${name} keccak`, () => {
    beforeAll(() => (name === 'wasm' ? useWasmKeccak() : useKeccak(portableMemory)))
    afterAll(() => useKeccak(portableMemory))

    test('keccak agrees with viem on every length around its blocks', () => {
      for (const length of [0, 1, 31, 32, 135, 136, 137, 271, 272, 273, 1000]) {
        const bytes = Uint8Array.from({ length }, (_, i) => i & 255)
        expect(toHex(keccak256(bytes))).toBe(viemKeccak(bytes))
      }
    })

    test('a result is not overwritten by the next one', () => {
      const first = keccak256(new Uint8Array(1))
      const copy = toHex(first)
      keccak256(new Uint8Array(2))
      expect(toHex(first)).toBe(copy)
    })

    promise`G1`
    test('any receipt has the digest that wallets compute', () => {
      fc.assert(
        fc.property(anyReceipt, (receipt) => {
          const oracle = hashTypedData({
            domain,
            types: viemTypes,
            primaryType: 'Receipt',
            message: receipt,
          })
          expect(toHex(receiptDigest(receipt))).toBe(oracle)
        }),
        { numRuns: 60 },
      )
    })
  })
}

test('a hasher made again gives each struct the hash that viem does, shown or hidden', () => {
  const { receipt } = fileOf()
  for (const shown of [receipt, redact(receipt, ['charge', 'subject'])]) {
    const hasher = makeStructHasher(structs)
    const message = receipt as unknown as Record<string, unknown>
    const oracle = viemHashStruct({ primaryType: 'Receipt', types: viemTypes, data: message })
    expect(toHex(hasher.hash('Receipt', shown))).toBe(oracle)
  }
  expect(() => makeStructHasher({ A: [['B', 'b']] }).hash('A', { b: {} })).toThrow('no struct B')
})

describe.each([
  ['portable', () => useKeccak(portableMemory)],
  ['wasm', useWasmKeccak],
])('a list, with the %s keccak,', (_, use) => {
  beforeAll(use)
  afterAll(() => useKeccak(portableMemory))
  const types = { Many: [{ name: 'n', type: 'uint64[]' }] }
  const hasher = makeStructHasher({ Many: [['uint64[]', 'n']] })
  const oracle = (n: bigint[]) => viemHashStruct({ types, primaryType: 'Many', data: { n } })

  test('A list has its own hash after any list before it.', () => {
    for (const length of [0, 1, 4, 3, 5, 128, 2, 9]) {
      const n = Array.from({ length }, (_, i) => BigInt(i + length))
      expect(toHex(hasher.hash('Many', { n }))).toBe(oracle(n))
    }
  })

  test('of more items than it has room for is refused', () => {
    expect(() => hasher.hash('Many', { n: Array(129).fill(1) })).toThrow(RangeError)
  })
})

test('a table of structs that does not fit the memory is refused', () => {
  const wide = Array.from({ length: 700 }, (_, i) => ['string', `member${i}`] as const)
  const value = Object.fromEntries(wide.map(([, name]) => [name, '']))
  expect(() => makeStructHasher({ Wide: wide }).hash('Wide', value)).toThrow('no room')
})

describe('redaction', () => {
  test('each of the 32 subsets of hidden sections has the same digest', () => {
    const { receipt } = fileOf()
    const digest = toHex(receiptDigest(receipt))
    const seen = new Set<string>()
    for (let subset = 0; subset < 32; subset++) {
      const hide = sectionNames.filter((_, i) => subset & (1 << i))
      const redacted = redact(receipt, hide)
      seen.add(JSON.stringify(redacted))
      expect(sectionNames.filter((name) => isHidden(redacted[name]))).toEqual(hide)
      expect(toHex(receiptDigest(redacted))).toBe(digest)
      expect(redact(redacted, hide)).toEqual(redacted)
    }
    expect(seen.size).toBe(32)
  })

  test('the hash of a hidden section is what viem calls its struct hash', () => {
    const { receipt } = fileOf()
    const hidden = redact(receipt, ['charge']).charge
    const data = receipt.charge as unknown as Record<string, unknown>
    expect(hidden).toEqual({
      $hash: viemHashStruct({ primaryType: 'Charge', types: viemTypes, data }),
    })
  })
})

describe('every struct of the domain', () => {
  test('has the type string that wallets hash', () => {
    expect(encodeType('Receipt')).toBe(
      'Receipt(string id,string issuer,uint64 issuedAt,Subject subject,Passport passport,Run run,' +
        'Charge charge,Content content)' +
        'Charge(string unit,Line[] lines,uint64 discountBps,uint64 amount,string priceList,' +
        'bytes32 salt)' +
        'Content(bytes32 input,bytes32 output)Line(string meter,uint64 quantity,uint64 price)' +
        'Passport(string handle,bytes32 salt)' +
        'Run(string kind,string model,string route,string outcome,uint64 startedAt,' +
        'uint64 durationMs,string usageSource,bytes32 salt)' +
        'Subject(address account,string key,bytes32 salt)',
    )
  })

  test('has the digest that wallets compute', () => {
    const hash = `0x${'5a'.repeat(32)}`
    const previous = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
    const messages = {
      PriceList: { id: 'default', version: 3n, content: hash },
      SignerRotation: {
        issuer: 'https://gw.example',
        previous,
        next: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
        fromIndex: 2n ** 64n - 1n,
        reason: 'yearly',
      },
      PassportStatement: { handle: 'harvester', asOfSize: 17n, record: hash },
      Checkpoint: { issuer: 'https://gw.example#2', size: 0n, root: hash, timestamp: 1_790n },
    } as const
    for (const [name, message] of Object.entries(messages)) {
      const oracle = hashTypedData({ domain, types: viemTypes, primaryType: name, message })
      expect(toHex(structDigest(name as keyof typeof messages, message))).toBe(oracle)
    }
  })
})

describe('a value that does not fit its type is refused', () => {
  const line = { meter: 'input', quantity: 1, price: 1 }
  test.each([
    ['below zero', { quantity: -1 }],
    ['below zero as bigint', { quantity: -1n }],
    ['2^64', { quantity: 2n ** 64n }],
    ['2^64 as text', { quantity: '18446744073709551616' }],
    ['a fraction', { quantity: 0.5 }],
    ['above 2^53 as number', { quantity: 2 ** 53 }],
    ['NaN', { quantity: Number.NaN }],
    ['a sign', { quantity: '+1' }],
    ['a leading zero', { quantity: '01' }],
    ['hex', { quantity: '0x1' }],
    ['no digits', { quantity: '' }],
    ['a lone surrogate', { meter: '\ud800' }],
    ['a number for text', { meter: 1 }],
    ['bytes for an integer', { quantity: new Uint8Array(8) }],
    ['a struct for an integer', { quantity: {} }],
    ['a list for text', { meter: ['input'] }],
  ])('A quantity that does not fit is refused: %s.', (_, wrong) => {
    expect(() => hashStruct('Line', { ...line, ...wrong })).toThrow()
    expect(toHex(hashStruct('Line', line))).toBe(toHex(hashStruct('Line', { ...line, price: '1' })))
  })

  test.each([
    ['a missing member', {}],
    ['a short hash', { handle: 'a', salt: '0x00' }],
    ['31 bytes', { handle: 'a', salt: new Uint8Array(31) }],
    ['33 bytes of hex', { handle: 'a', salt: `0x${'00'.repeat(33)}` }],
    ['a number for bytes', { handle: 'a', salt: 0 }],
    ['text for a struct', 'a'],
    ['bytes for a struct', new Uint8Array(32)],
    ['no hex', { handle: 'a', salt: `0x${'g'.repeat(64)}` }],
    ['a digit beyond F', { handle: 'a', salt: `0x${'G'.repeat(64)}` }],
    ['a character before A', { handle: 'a', salt: `0x${'@'.repeat(64)}` }],
    ['a character before a', { handle: 'a', salt: `0x${'`'.repeat(64)}` }],
    ['a character before 0', { handle: 'a', salt: `0x${'/'.repeat(64)}` }],
    ['a character after 9', { handle: 'a', salt: `0x${':'.repeat(64)}` }],
    ['no 0x', { handle: 'a', salt: '00'.repeat(33) }],
  ])('A value that does not fit is refused: %s.', (_, wrong) => {
    expect(() => hashStruct('Passport', wrong as never)).toThrow()
  })
})

test('bytes for a list are refused, also none of them', () => {
  const { charge } = fileOf().receipt
  expect(() => hashStruct('Charge', { ...charge, lines: new Uint8Array(0) } as never)).toThrow()
})

describe('one value has one hash', () => {
  const types = { Many: [{ name: 'n', type: 'uint256' }] }
  const newHash = () => makeStructHasher({ Many: [['uint256', 'n']] }).hash
  const oracle = (n: bigint) => viemHashStruct({ types, primaryType: 'Many', data: { n } })
  const most = 2n ** 256n - 1n

  test('A value has one hash as bigint, number and text, after any value before it.', () => {
    const hash = newHash()
    for (const n of [0n, 1n, 255n, 2n ** 32n - 1n, 2n ** 32n, 10n ** 15n, 2n ** 53n - 1n]) {
      hash('Many', { n: most })
      for (const form of [n, Number(n), String(n)]) {
        expect(toHex(hash('Many', { n: form }))).toBe(oracle(n))
      }
    }
    for (const n of [2n ** 53n, 2n ** 53n + 1n, 2n ** 64n, 2n ** 248n, most]) {
      for (const form of [n, String(n)]) expect(toHex(hash('Many', { n: form }))).toBe(oracle(n))
    }
    expect(() => hash('Many', { n: most + 1n })).toThrow('not a uint256')
  })

  test('whether it comes as bytes or as hex of either case', () => {
    const salt = Uint8Array.from({ length: 32 }, (_, i) => 7 * i + 10)
    const forms = [salt, toHex(salt), `0x${toHex(salt).slice(2).toUpperCase()}`]
    const hashes = forms.map((form) => {
      hashStruct('Passport', { handle: 'a', salt: new Uint8Array(32) })
      return toHex(hashStruct('Passport', { handle: 'a', salt: form }))
    })
    const data = { handle: 'a', salt: toHex(salt) }
    const oracle = viemHashStruct({ primaryType: 'Passport', types: viemTypes, data })
    expect(hashes).toEqual([oracle, oracle, oracle])
  })
})

test('a receipt of version 1 has the digest that it had, for ever', () => {
  expect(domain).toEqual({ name: 'Counterfoil Receipt', version: '1', chainId: 4663 })
  expect(toHex(receiptDigest(fixture.receipt as Receipt))).toBe(fixture.digest as Hex)
})

test('an address has the checksum of EIP-55', () => {
  const addresses = [
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  ]
  expect(addresses.map((address) => toChecksumAddress(address.toLowerCase()))).toEqual(addresses)
})

test.skipIf(!vectors)('the Mail example of EIP-712 (VECTORS_DIR)', async () => {
  const { typedData, ...expected } = await Bun.file(join(vectors ?? '', 'eip712/mail.json')).json()
  const table = Object.fromEntries(
    Object.entries(typedData.types as Record<string, { type: string; name: string }[]>).map(
      ([name, members]) => [name, members.map(({ type, name }) => [type, name] as const)],
    ),
  )
  const hasher = makeStructHasher(table)
  const separator = hasher.hash('EIP712Domain', typedData.domain)
  const digest = typedDigest(separator, hasher.hash('Mail', typedData.message))
  expect({
    encodeType: hasher.encodeType('Mail'),
    structHash: toHex(hasher.hash('Mail', typedData.message)),
    domainSeparator: toHex(separator),
    digest: toHex(digest),
  }).toEqual({
    encodeType: expected.encodeType,
    structHash: expected.structHash,
    domainSeparator: expected.domainSeparator,
    digest: expected.digest,
  })
})
