import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { meters } from '../../src/models/meter.ts'
import { toReceiptFile } from '../../src/proof/receipts/receipt-view.ts'
import { signerFromHex } from '../../src/proof/signer/signer.ts'
import { readVerifyRequest } from '../../src/verify/input.ts'
import { type ReceiptFile, receiptDigest, redact, sectionNames } from '../../src/verify/receipt.ts'
import { verifyReceipt } from '../../src/verify/verify.ts'
import manyMeters from '../fixtures/receipt-every-meter-v1.json'
import fixture from '../fixtures/receipt-v1.json'
import { promise } from '../support/promise.ts'
import { anchoredFile, evidenceAt } from './anchor-samples.ts'
import { failed, judge, set, statusOf, trust } from './judge.ts'
import { proofAt, sampleLog } from './proof-samples.ts'
import { facts, fileOf, make, type SampleFacts, testSigner } from './samples.ts'

/** Signs what the facts say, or something made of it, whether it is right or not. */
function signed(of: SampleFacts, change: (file: ReceiptFile) => void): ReceiptFile {
  const { receipt, digest } = make(of)
  const file = toReceiptFile(receipt, digest, testSigner.sign(digest))
  change(file)
  const changed = receiptDigest(file.receipt)
  return toReceiptFile(file.receipt, changed, testSigner.sign(changed), file.disclosures)
}

describe('whole answers', () => {
  test('the receipt of version 1 that is kept for ever', () => {
    const by = { ...trust, issuers: ['https://gw.example'] }
    const options = { verifiedAt: '2026-11-21T00:00:00.000Z' }
    expect(judge(fixture, by, options)).toMatchSnapshot()
  })

  promise`O4 H: A receipt with a meter that its reader does not know verifies, and is shown.`
  test('one with every meter, and with one that no version knows', () => {
    const verdict = judge(manyMeters)
    expect([verdict.valid, failed(verdict)]).toEqual([true, []])
    expect(statusOf(verdict, 'arithmetic')).toBe('pass')
    const { lines } = manyMeters.receipt.charge
    expect(lines.map(({ meter }) => meter)).toEqual([...meters, 'video_input'])
    for (const i of lines.keys()) {
      const changed = structuredClone(manyMeters)
      const line = changed.receipt.charge.lines[i]
      if (line) line.quantity += '0'
      expect(failed(judge(changed))).toContain('arithmetic')
    }
  })

  test('a shared one with everything hidden', () => {
    const { disclosures, ...file } = fileOf()
    expect(judge({ ...file, receipt: redact(file.receipt, sectionNames) })).toMatchSnapshot()
  })

  test('no one named as trusted: never valid', () => {
    expect(judge(fixture, {})).toMatchSnapshot()
  })

  test('an unknown version', () => {
    expect(judge({ ...fileOf(), version: '2' })).toMatchSnapshot()
  })

  test('a forged amount', () => {
    const file = structuredClone(fileOf())
    Object.assign(file.receipt.charge, { amount: '1' })
    expect(judge(file)).toMatchSnapshot()
  })
})

describe('what a receipt proves', () => {
  const signedBy = 'that the trusted signer signed exactly these fields'
  const input = 'that the disclosed input is the one committed to'
  const output = 'that the disclosed output is the one committed to'
  const log = 'that it is in the log that the trusted signer signed the root of'
  const amount = 'that the amount follows from the lines'
  const root = 'that the root of that log is on chain 4663, where it cannot be changed'
  const never = [
    'that the named model really produced the text',
    'that the text is true',
    'that a run which was never logged did not happen',
  ]
  const rewrite = 'that the operator cannot drop or rewrite the log later'
  const of = (verdict: ReturnType<typeof judge>) => [verdict.proves, verdict.does_not_prove]

  test('grows with its evidence, one sentence a check that passes', () => {
    const { disclosures, ...bare } = fileOf()
    const hidden = { ...bare, receipt: redact(bare.receipt, ['charge']) }
    const unlogged = [...never, 'that the receipt is in the log', rewrite]
    expect(of(judge(hidden))).toEqual([[signedBy], unlogged])
    const proof = proofAt(13)
    const all = [signedBy, amount, input, output]
    expect(of(judge(fileOf()))).toEqual([all, unlogged])
    const logged = { ...fileOf(), proof }
    expect(of(judge(logged))).toEqual([
      [...all, log],
      [...never, rewrite],
    ])
    const checkpoint = sampleLog(20).checkpoint()
    const more = { checkpoint, consistency: sampleLog(20).consistency(13, 20) }
    expect(of(verifyReceipt({ file: logged, ...more }, trust, { chain: 'auto' }))).toEqual([
      [...all, log, 'that the log was not rewritten between the two checkpoints'],
      [...never, rewrite],
    ])
    const onChain = (change: object) =>
      of(judge(anchoredFile(), { ...trust, chain: evidenceAt(13, change) }))
    expect(onChain({ finalRoot: null })).toEqual([
      [...all, log, root],
      [...never, 'that the chain keeps the block of the anchor: it is not final yet'],
    ])
    expect(onChain({})).toEqual([
      [...all, log, root, 'that the block of the anchor is final'],
      never,
    ])
  })

  test('A receipt proves nothing to a reader without trusted signers.', () => {
    expect(judge({ ...fileOf(), proof: proofAt(13) }, {}).proves).toEqual([])
  })

  test('is asked about no chain where that is to be skipped, or the proof cannot be read', () => {
    const by = { ...trust, chain: evidenceAt() }
    const anchorOf = (file: unknown, chain: 'auto' | 'skip') =>
      judge(file, by, { chain }).checks.find(({ name }) => name === 'anchor')
    expect(anchorOf(anchoredFile(), 'skip')).toMatchObject({
      ...{ status: 'skip', reason: 'The chain was not to be asked.' },
    })
    expect(anchorOf({ ...fileOf(), proof: 'none' }, 'auto')).toMatchObject({
      ...{ status: 'skip', reason: 'The proof could not be read.' },
    })
  })
})

describe('who may sign', () => {
  const other = signerFromHex('11'.repeat(32))

  promise`G2 C: Only a signer that the reader trusts makes a receipt valid.`
  test('an attacker who signs his own receipt is not authorised', () => {
    const { receipt, digest } = make(facts)
    const verdict = judge(toReceiptFile(receipt, digest, other.sign(digest)))
    expect(failed(verdict)).toEqual(['signer_authorized'])
    expect(verdict).toMatchObject({ valid: false, level: null, signer: other.address })
  })

  promise`G2`
  test('an empty list authorises no one', () => {
    expect(failed(judge(fileOf(), { signers: [] }))).toEqual(['signer_authorized'])
  })

  test.each([
    ['no index, current', {}, undefined, 'pass'],
    ['no index, current since 5', { fromIndex: 5n }, undefined, 'pass'],
    ['no index, retired', { untilIndex: 9n }, undefined, 'unavailable'],
    ['before its time', { fromIndex: 5n }, 4n, 'fail'],
    ['first', { fromIndex: 5n, untilIndex: 9n }, 5n, 'pass'],
    ['last', { fromIndex: 5n, untilIndex: 9n }, 8n, 'pass'],
    ['after its time', { fromIndex: 5n, untilIndex: 9n }, 9n, 'fail'],
  ] as const)('A signer is judged by log index: %s.', (_, range, index, status) => {
    const address = testSigner.address.toLowerCase()
    const known = { status: 'pass', reason: 'Stored here.' } as const
    const verdict = judge(fileOf(), {
      signers: [{ address: other.address }, { address, ...range }],
      known: index === undefined ? known : { ...known, index },
    })
    expect(statusOf(verdict, 'signer_authorized')).toBe(status)
    expect(verdict.valid).toBe(status === 'pass')
  })

  test('an issuer that is not the expected one fails', () => {
    const verdict = judge(fileOf(), { ...trust, issuers: ['https://gw.example.evil'] })
    expect(failed(verdict)).toEqual(['issuer'])
    expect(verdict.valid).toBe(false)
  })

  test('a store that says no makes it invalid', () => {
    const known = { status: 'fail', reason: 'Another digest is stored.' } as const
    expect(failed(judge(fileOf(), { ...trust, known }))).toEqual(['known_here'])
  })
})

describe('arithmetic, also of what a trusted key signed', () => {
  test.each([
    ['a nano more', { amount: '23256' }],
    ['a nano less', { amount: '23254' }],
    ['another discount', { discountBps: '249' }],
    ['more than all off', { discountBps: '10001' }],
    ['another unit', { unit: 'USD' }],
    ['no lines', { lines: [] }],
  ])('A receipt fails with %s.', (_, change) => {
    const file = signed(facts, ({ receipt }) => Object.assign(receipt.charge, change))
    expect(failed(judge(file))).toEqual(['arithmetic'])
  })

  test('the largest quantities do not overflow', () => {
    const most = (2n ** 64n - 1n).toString()
    const lines = [{ meter: 'input', quantity: most, price: most }]
    const file = signed(facts, ({ receipt }) => Object.assign(receipt.charge, { lines }))
    expect(failed(judge(file))).toEqual(['arithmetic'])
  })

  test('nothing used, nothing charged passes', () => {
    const lines: SampleFacts['charge']['lines'] = []
    const file = fileOf({ ...facts, charge: { ...facts.charge, lines, amount: 0n } })
    expect(judge(file)).toMatchObject({ valid: true, level: 'signed' })
  })
})

describe('content', () => {
  test('a run without an output has nothing to disclose', () => {
    const file = fileOf({ ...facts, output: null })
    expect(Object.keys(file.disclosures ?? {})).toEqual(['input'])
    expect(statusOf(judge(file), 'content_output')).toBe('skip')
  })

  promise`G14`
  test('a text beside hidden commitments makes a receipt invalid: it could be any text', () => {
    const file = fileOf()
    const receipt = redact(file.receipt, ['content'])
    expect(failed(judge({ ...file, receipt }))).toEqual(['content_input', 'content_output'])
    const { salt } = file.disclosures?.input ?? {}
    expect(judge({ ...file, receipt, disclosures: { input: { salt } } }).valid).toBe(true)
  })

  test('a value nested deeper than the stack fails and does not throw', () => {
    let value: unknown = 1
    for (let i = 0; i < 200_000; i++) value = [value]
    const { salt } = fileOf().disclosures?.input ?? {}
    const input = { file: fileOf(), disclosures: { input: { salt, value } } }
    expect(failed(verifyReceipt(input, trust, { chain: 'auto' }))).toEqual(['content_input'])
  })
})

describe('the chain', () => {
  test.each([
    ['auto', 'no proof', [true, 'signed', 'skip', 'skip']],
    ['auto', 'a proof', [true, 'logged', 'pass', 'skip']],
    ['skip', 'a proof', [true, 'logged', 'pass', 'skip']],
    ['require', 'no proof', [false, 'signed', 'unavailable', 'unavailable']],
    ['require', 'a proof', [false, 'logged', 'pass', 'unavailable']],
  ] as const)('The chain option %s with %s gives the expected level.', (chain, given, expected) => {
    const input = { file: fileOf(), ...(given === 'a proof' ? { proof: proofAt(13) } : {}) }
    const verdict = verifyReceipt(input, trust, { chain })
    const told = [verdict.valid, verdict.level, statusOf(verdict, 'leaf')]
    expect([...told, statusOf(verdict, 'anchor')]).toEqual([...expected])
  })
})

describe('a file that is not a receipt', () => {
  test.each([[null], [5], ['text']])('The value %p is reported as not an object.', (file) => {
    const { checks } = judge(file)
    expect(checks.find(({ name }) => name === 'schema')?.reason).toBe(': not an object')
  })

  test('when it was verified is told where that is known, also of what cannot be read', () => {
    for (const file of [fileOf(), 5]) {
      expect('verified_at' in judge(file)).toBe(false)
      expect(judge(file, trust, { verifiedAt: 'now' }).verified_at).toBe('now')
    }
  })

  test('a proof of null beside a file is none: the one inside counts', () => {
    const file = { ...fileOf(), proof: proofAt(13) }
    expect(verifyReceipt({ file, proof: null }, trust, { chain: 'auto' }).level).toBe('logged')
  })
})

describe('any JSON at all', () => {
  promise`G6 H: A verification takes bounded time and always returns a verdict.`
  test('Any JSON is judged without throwing.', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(judge(value).valid).toBe(false)
        readVerifyRequest(value)
      }),
      { numRuns: 300 },
    )
  })

  test('put anywhere into a good file is judged without throwing', () => {
    const paths = ['receipt', 'receipt.run', 'receipt.charge.lines', 'disclosures', 'signature']
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue(), (path, value) => {
        const file = structuredClone(fileOf())
        set(file, path, value)
        judge(file)
      }),
      { numRuns: 300 },
    )
  })
})
