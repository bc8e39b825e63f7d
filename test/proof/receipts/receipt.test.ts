import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { toHex } from '../../../src/kernel/hex.ts'
import { contentSalts, noCommitment } from '../../../src/proof/receipts/receipt.ts'
import { toDisclosures } from '../../../src/proof/receipts/receipt-view.ts'
import { commit, salt } from '../../../src/verify/commitment.ts'
import { parseReceiptFile, receiptDigest } from '../../../src/verify/receipt.ts'
import fixture from '../../fixtures/receipt-v1.json'
import { facts, fileOf, make } from '../../verify/samples.ts'

test('the same facts give the receipt that is kept for ever, byte for byte', () => {
  expect(fileOf() as unknown).toEqual(fixture)
})

const anything = fc.jsonValue().filter((value) => value !== null)

test('salts and commitments are those that the verifier computes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), anything, (seed, value) => {
      const input = value as never
      const { receipt, inputSalt, outputSalt } = make({
        ...facts,
        seed,
        input,
        output: input,
      })
      expect(receipt.content).toEqual({
        input: toHex(commit('input/v1', salt(seed, 'input'), input)),
        output: toHex(commit('output/v1', salt(seed, 'output'), input)),
      })
      const { subject, passport, run, charge } = receipt
      expect([subject.salt, passport.salt, run.salt, charge.salt, inputSalt, outputSalt]).toEqual(
        ['subject', 'passport', 'run', 'charge', 'input', 'output'].map((name) =>
          toHex(salt(seed, name)),
        ),
      )
    }),
    { numRuns: 50 },
  )
})

test('no two salts of a receipt are the same', () => {
  const { receipt, inputSalt, outputSalt } = make(facts)
  const { subject, passport, run, charge } = receipt
  const salts = [subject.salt, passport.salt, run.salt, charge.salt, inputSalt, outputSalt]
  expect(new Set(salts).size).toBe(6)
})

test('the digest belongs to the receipt, also after a way through JSON', () => {
  const { receipt, digest } = make(facts)
  expect(toHex(receiptDigest(JSON.parse(JSON.stringify(receipt))))).toBe(toHex(digest))
})

test('a run without an output commits to none', () => {
  const { receipt } = make({ ...facts, output: null })
  expect(receipt.content.output).toBe(noCommitment)
  expect(parseReceiptFile(fileOf({ ...facts, output: null })).ok).toBe(true)
})

test('a seed differs, everything salted differs', () => {
  const { receipt } = make(facts)
  const other = make({ ...facts, seed: new Uint8Array(32).fill(8) }).receipt
  expect(other.content.input).not.toBe(receipt.content.input)
  expect(other.subject.salt).not.toBe(receipt.subject.salt)
})

test('an amount that does not follow from the lines is a bug, not a receipt', () => {
  const charge = { ...facts.charge, amount: facts.charge.amount + 1n }
  expect(() => make({ ...facts, charge })).toThrow('does not follow')
})

test('a duration with a fraction is a bug', () => {
  expect(() => make({ ...facts, run: { ...facts.run, durationMs: 0.5 } })).toThrow()
})

test('the owner gets the salts without the text when it was not kept', () => {
  const { receipt } = make(facts)
  const salts = contentSalts(facts.seed)
  expect(toDisclosures(facts.seed, receipt.content, {})).toEqual({
    input: { salt: toHex(salts.input) },
    output: { salt: toHex(salts.output) },
  })
})
