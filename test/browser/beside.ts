import { costOf } from '../../src/models/meter.ts'
import { vkeyOf } from '../../src/verify/signed-note.ts'
import { fileFor, quote, receiptFor } from '../verify/quote-samples.ts'
import { facts, testSigner } from '../verify/samples.ts'
import { sampleWitnesses } from '../verify/witness-samples.ts'

export { quote, receiptFor }
export const quoteFile = fileFor

/** A receipt that names the quote and charges more for its output. */
const lines = facts.charge.lines.map((line) => ({ ...line, pricePusd: 9_000_000n }))
export const dearReceipt = receiptFor(quote, {
  lines,
  amount: costOf(lines, facts.charge.discountBps),
})

/** Those that signed the samples. */
const witnesses = sampleWitnesses.slice(0, 2)
export const names = witnesses.map(({ name }) => name).join(', ')

const trusted = { type: 'counterfoil.policy', version: '1', signers: [testSigner.address] }
export const signersOnly = JSON.stringify(trusted)

/** A policy of the samples: their signer, and the witnesses that signed. */
export const policyText = JSON.stringify({
  ...trusted,
  witnesses: witnesses.map(({ name, key }) => ({ name, key: vkeyOf(key) })),
})
