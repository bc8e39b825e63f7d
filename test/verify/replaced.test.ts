import { describe, expect, test } from 'bun:test'
import { type VerifyInput, verifyReceipt } from '../../src/verify/verify.ts'
import { promise } from '../support/promise.ts'
import { proofAt } from './proof-samples.ts'
import { fileOf, testSigner } from './samples.ts'

const trust = { signers: [{ address: testSigner.address }] }
const failing = (input: VerifyInput): string[] =>
  verifyReceipt(input, trust, { chain: 'auto' })
    .checks.filter(({ status }) => status === 'fail')
    .map(({ name }) => name)

promise`T5 C: A verifier checks every byte that it was given: a manifest covers its file, a replaced
  part must hold, a saved answer has one form.`
describe('A part of a receipt file that another beside it replaces', () => {
  const file = fileOf()
  const { input, output } = file.disclosures ?? {}

  test('holds where it says the same, or leaves a text out', () => {
    const { disclosures } = file
    expect(failing({ file, disclosures })).toEqual([])
    expect(failing({ file: { ...file, disclosures: { input } }, disclosures })).toEqual([])
    expect(failing({ file, disclosures: { output } })).toEqual([])
    expect(failing({ file: { ...file, proof: proofAt(13) }, proof: proofAt(20) })).toEqual([])
  })

  test('fails with a text that the receipt does not commit to', () => {
    for (const name of ['input', 'output'] as const) {
      const own = { ...file.disclosures, [name]: { ...file.disclosures?.[name], value: 'forged' } }
      const forged = { ...file, disclosures: own }
      for (const disclosures of [file.disclosures, { input }, { output }, {}]) {
        expect(failing({ file: forged, disclosures })).toEqual([`content_${name}`])
      }
    }
  })

  test('fails with a proof of another place or leaf', () => {
    const proof = proofAt(13)
    for (const [wrong, name] of [
      [{ ...proof, leaf: `0x${'11'.repeat(32)}` }, 'leaf'],
      [{ ...proof, index: String(Number(proof.index) + 1) }, 'inclusion'],
    ] as const) {
      expect(failing({ file: { ...file, proof: wrong }, proof })).toContain(name)
    }
  })
})
