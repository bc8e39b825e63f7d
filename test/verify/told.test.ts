import { describe, expect, test } from 'bun:test'
import { type ReceiptFile, redact } from '../../src/verify/receipt.ts'
import { proofIn, shownChecks, stampWords, stateWords } from '../../src/verify/shown-checks.ts'
import { headlineOf, kindOf, summaryOf, titleOf } from '../../src/verify/verdict-words.ts'
import { type Trust, type Verdict, verifyReceipt } from '../../src/verify/verify.ts'
import { anchoredFile, evidenceAt, onChain, waiting } from './anchor-samples.ts'
import { trust } from './judge.ts'
import { proofAt, provenFile } from './proof-samples.ts'
import { fileOf, testSigner } from './samples.ts'

const now = Date.UTC(2026, 10, 21, 0, 49)

function told(file: ReceiptFile, by: Trust = trust, chain: 'auto' | 'require' = 'auto') {
  const verdict = verifyReceipt({ file }, by, { chain })
  const checks = shownChecks({ verdict, file, now })
  return {
    verdict,
    checks: checks.map(({ result, label, detail }) => `${result}: ${label}. ${detail}`),
    stamp: stampWords(verdict, proofIn({ verdict, file })),
    state: stateWords(verdict),
    headline: headlineOf(verdict),
    summary: summaryOf(verdict),
    kind: kindOf(verdict),
  }
}
const changed = (change: (file: ReceiptFile) => void, file: ReceiptFile = fileOf()) => {
  const copy = structuredClone(file)
  change(copy)
  return copy
}

const address = testSigner.address
const ours = `${address.slice(0, 6)}…${address.slice(-4)}`
const signed = `ok: Signature is from this service. EIP-712, recovered ${ours}`
const total = 'ok: Total adds up. 75 input + 21 output = $0.000023255'
const shown = 'ok: Shown text is the one committed to. Salt and text open the input and output hash'
const logged = 'ok: Receipt is in the log. Leaf 6 of 13, 4 hashes to the root'
const place = 'Block 8,120,391, tx 0xc3c3…c3c3'

describe('a good receipt', () => {
  test('that is only signed says so, and what could still be shown', () => {
    const file = fileOf()
    expect(told(file)).toMatchObject({
      ...{ kind: 'good', state: 'Signed', headline: 'Verified' },
      stamp: { words: 'Verified', against: 'signed', isBad: false },
      summary: `Signed by ${address}.`,
      checks: [
        signed,
        total,
        'wait: Place in the log is not shown. No proof was given.',
        'wait: Not on a chain. There is no proof that could be',
        shown,
      ],
    })
  })

  test('in the log of a service that anchors nothing', () => {
    expect(told(provenFile(13))).toMatchObject({
      ...{ kind: 'good', state: 'Signed and logged', headline: 'Signed and logged' },
      stamp: { words: 'Verified', against: 'signed and logged', isBad: false },
      summary: `Signed by ${address}. It is in the log that was signed; the chain was not asked or has no anchor yet.`,
      checks: [
        signed,
        total,
        logged,
        'wait: Not anchored on a chain. Signed and logged. This service anchors nothing.',
        shown,
      ],
    })
  })

  test.each([
    [waiting('pending'), 'Signed and logged, waiting for the anchor, about 2 min'],
    [
      waiting('superseded'),
      'Signed and logged, waiting for the anchor of a larger log: ask for the proof again',
    ],
  ])('that waits for its anchor: %j', (anchor, words) => {
    const { checks } = told({ ...fileOf(), proof: { ...proofAt(13), anchor } })
    expect(checks[3]).toBe(`wait: Waiting for the anchor. ${words}`)
  })

  test('whose anchor no one asked the chain for is no more than logged', () => {
    const { checks, state, stamp } = told(anchoredFile(13))
    expect(state).toBe('Signed and logged')
    expect(stamp?.against).toBe('signed and logged')
    expect(checks[3]).toStartWith(`wait: Not confirmed by the chain. This service says: ${place}. `)
    expect(told(anchoredFile(13, onChain(13, 'confirmed'))).checks[3]).toStartWith(
      `wait: Not confirmed by the chain. This service says: ${place}. `,
    )
  })

  test('on the chain, in a block that is final and in one that is not yet', () => {
    const final = told(anchoredFile(13), { ...trust, chain: evidenceAt(13) })
    expect(final).toMatchObject({
      ...{ kind: 'good', state: 'Final', headline: 'Final' },
      stamp: { words: 'Verified', against: 'chain 4663 · anchor of 13', isBad: false },
      summary: `Signed by ${address}. Its log is on the chain permanently.`,
    })
    expect(final.checks[3]).toBe(
      `ok: Root is on chain 4663. ${place}, final, as this service read it there`,
    )
    const young = evidenceAt(13, { finalRoot: null })
    const anchored = told(anchoredFile(13), { ...trust, chain: young })
    expect(anchored).toMatchObject({
      ...{ kind: 'good', state: 'Anchored', headline: 'Anchored' },
      stamp: { against: 'chain 4663 · anchor of 13' },
      summary: `Signed by ${address}. Its log is on the chain, in a block that is not final yet.`,
    })
    expect(anchored.checks[3]).toBe(
      `ok: Root is on chain 4663. ${place}, not final yet, as this service read it there`,
    )
  })

  test('of which the charge and the texts are hidden says no total and no text', () => {
    const { disclosures, ...file } = fileOf()
    const hidden = { ...file, receipt: redact(file.receipt, ['charge', 'content']) }
    const { checks, kind } = told(hidden)
    expect(kind).toBe('good')
    expect(checks[1]).toBe('wait: Total is hidden. The owner does not show the charge')
    expect(checks).toHaveLength(4)
    // One text alone is named alone.
    const input = told({
      ...file,
      disclosures: { input: disclosures?.input ?? expect.unreachable() },
    })
    expect(input.checks.at(-1)).toEndWith('Salt and text open the input hash')
    const output = { output: disclosures?.output ?? expect.unreachable() }
    expect(told({ ...file, disclosures: output }).checks.at(-1)).toEndWith('open the output hash')
  })

  test('with a path of one hash says one hash', () => {
    const verdict: Verdict = told(provenFile(13)).verdict
    const proof = { ...proofAt(13), index: '999', size: '1000', path: proofAt(13).path.slice(0, 1) }
    const file = { ...fileOf(), proof }
    const { detail } = shownChecks({ verdict, file, now })[2] ?? expect.unreachable()
    expect(detail).toBe('Leaf 1,000 of 1,000, 1 hash to the root')
  })
})

describe('a receipt of which nothing is wrong, but', () => {
  test('no one is named as trusted', () => {
    expect(told(fileOf(), {})).toMatchObject({
      ...{ kind: 'unsure', state: 'Undecided', headline: 'Undecided', stamp: undefined },
      summary: `${address} signed it, but no trusted signer was given to compare with.`,
    })
    expect(told(fileOf(), {}).checks[0]).toBe(
      'wait: Signer is not known. No trusted signer was given.',
    )
  })

  test('no one is named: then nothing is in a log either', () => {
    expect(told(provenFile(13), {}).checks[2]).toBe(
      'wait: Place in the log is not shown. No trusted signer was given.',
    )
  })

  test('what was required could not be checked', () => {
    expect(told(provenFile(13), trust, 'require')).toMatchObject({
      ...{ kind: 'unsure', headline: 'Undecided', state: 'Signed and logged', stamp: undefined },
      summary: 'Nothing fails, but what was required could not be checked.',
    })
  })
})

describe('a bad receipt', () => {
  const bad = { kind: 'bad', state: 'Not valid', headline: 'Not valid' }
  const stamp = { words: 'Not valid', against: 'see the checks', isBad: true }

  test('whose total was changed shows what fails, with what was expected and found', () => {
    const forged = told(
      changed(({ receipt }) => {
        Object.assign(receipt.charge, { amount: '1' })
      }),
    )
    expect(forged).toMatchObject({
      ...{ ...bad, stamp },
      summary: '3 checks fail. Do not rely on this receipt.',
    })
    const wrong = forged.checks.filter((line) => line.startsWith('bad: '))
    expect(wrong.map((line) => line.replace(/\. .*/, ''))).toEqual([
      'bad: A field was changed',
      'bad: No trusted key signed it',
      'bad: The total does not add up',
    ])
    expect(wrong[2]).toContain('Expected 23255')
    expect(forged.checks).not.toContain(total)
    expect(forged.checks).toContain(shown)
  })

  test('of which one check fails says one', () => {
    const one = told(fileOf(), { ...trust, issuers: ['https://other.example'] })
    expect(one).toMatchObject({ ...bad, summary: 'One check fails. Do not rely on this receipt.' })
    expect(one.checks).toContain(
      'bad: The issuer is another one. Expected the issuer https://other.example; found https://gw.example.',
    )
  })

  test('that cannot be read shows that and nothing else, and has no proof', () => {
    const file = changed((file) => Object.assign(file, { version: '2' }), provenFile(13))
    const { checks, verdict } = told(file)
    expect(checks).toEqual(['bad: The file is not a whole receipt. version: not "1"'])
    expect(proofIn({ verdict, file })).toBeUndefined()
    expect(proofIn(judgedOf(provenFile(13)))).toEqual(proofAt(13))
    expect(proofIn(judgedOf(fileOf()))).toBeUndefined()
  })

  test('whose proof cannot be read is told without one', () => {
    const file = { ...fileOf(), proof: { ...proofAt(13), index: 5 } }
    const { checks } = told(file)
    expect(checks[0]).toBe('bad: The file is not a whole receipt. proof.index: not text')
    expect(checks).toContain('wait: Not on a chain. There is no proof that could be')
    expect(proofIn(judgedOf(file))).toBeUndefined()
  })

  const judgedOf = (file: ReceiptFile) => ({ verdict: told(file).verdict, file })
})

test('a check is told as what is so when it holds, and as what is so when it fails', () => {
  expect(titleOf({ name: 'digest', status: 'pass' })).toBe('No field was changed')
  expect(titleOf({ name: 'digest', status: 'skip' })).toBe('No field was changed')
  expect(titleOf({ name: 'digest', status: 'fail' })).toBe('A field was changed')
})
