import { toHex } from '../../src/kernel/hex.ts'
import { type Quote, quoteCheck, quoteDigest } from '../../src/verify/quote.ts'
import { judge, trust } from './judge.ts'
import { facts, fileOf, type SampleFacts, testSigner } from './samples.ts'

export const rate = (meter: string, price: number, tier = '', from = 0) => ({
  service_tier: tier,
  from_input_tokens: String(from),
  meter,
  price: String(price),
})

export const quote: Quote = {
  id: 'quote_01jd7m3v5k8q2w4x6y9z0a1b2c',
  issuer: facts.issuer,
  account: facts.account,
  model: facts.run.model,
  rates: [
    ...[rate('input', 150_000), rate('cache_read', 20_000), rate('output', 600_001)],
    ...[rate('input', 300_000, '', 1000), rate('output', 900_000, '', 1000)],
    ...[rate('input', 400_000, 'priority'), rate('output', 700_000, 'priority')],
    ...[rate('reasoning', 800_000, 'priority')],
  ],
  price_list: 'default@1',
  discount_bps: '250',
  max_input_tokens: '100',
  max_output_tokens: '50',
  max_nusd: '23255',
  uses: '1',
  issued_at: '1789999999000',
  expires_at: '1790000600000',
  log_size: '4',
  nonce: `0x${'ab'.repeat(32)}`,
}

export const fileFor = (of: Quote, by = testSigner) => {
  const digest = quoteDigest(of)
  return {
    type: 'counterfoil.quote',
    version: '1',
    quote: of,
    digest: toHex(digest),
    signature: toHex(by.sign(digest)),
  }
}

/** A receipt that names a quote, its charge and run as said. */
export const receiptFor = (
  of: Quote,
  charge: Partial<SampleFacts['charge']> = {},
  run: Partial<SampleFacts['run']> = {},
) => {
  const priceList = `quote:${toHex(quoteDigest(of))}`
  const charged = { ...facts.charge, priceList, ...charge }
  return fileOf({ ...facts, run: { ...facts.run, ...run }, charge: charged })
}

/** What the verdict says of a quote beside a receipt. */
export const about = (file: ReturnType<typeof fileOf>, given: unknown, by = trust) => {
  const verdict = judge(file, by, {}, { quote: quoteCheck(given) })
  const check = verdict.checks.find(({ name }) => name === 'quote')
  return { verdict, status: check?.status, reason: check?.reason ?? '' }
}
