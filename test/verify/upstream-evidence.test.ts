import { describe, expect, test } from 'bun:test'
import { privateKeyToAccount } from 'viem/accounts'
import { toHex } from '../../src/kernel/hex.ts'
import { signerFromHex } from '../../src/proof/signer/signer.ts'
import { redact } from '../../src/verify/receipt.ts'
import {
  type EvidenceFile,
  evidenceCheck,
  evidenceDigest,
} from '../../src/verify/upstream-evidence.ts'
import { headlineOf } from '../../src/verify/verdict-words.ts'
import { verifyReceipt } from '../../src/verify/verify.ts'
import { promise } from '../support/promise.ts'
import {
  answer,
  digestByViem,
  documentOf,
  evidenceFileOf,
  logged,
  request,
  upstream,
  upstreamAddress,
} from './evidence-samples.ts'
import { facts, fileOf, make, testSigner } from './samples.ts'

const other = privateKeyToAccount(
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
)
const signers = [{ address: testSigner.address }]
const trust = { signers, upstreamKeys: [upstream.address] }

const { receipt, digest } = make()
const judge = (file: unknown, more: object = {}) =>
  evidenceCheck(file)(receipt, digest, { ...trust, ...more })
const reasonOf = (file: unknown, more: object = {}) => {
  const { status, reason } = judge(file, more)
  return `${status}: ${reason}`
}
const changed = (file: EvidenceFile, change: (copy: EvidenceFile) => void): EvidenceFile => {
  const copy = structuredClone(file)
  change(copy)
  return copy
}
const good = await evidenceFileOf()

describe('evidence of an upstream', () => {
  test('A statement has the digest that other code gives it, and its leaf is of kind 6.', () => {
    expect(toHex(evidenceDigest(good.statement))).toBe(digestByViem(good.statement))
  })

  test('Good evidence passes, and says whose key signed.', () => {
    expect(judge(good)).toEqual({
      status: 'pass',
      reason: `The upstream key ${upstreamAddress} signed the exchange; leaf 1 of the log says so.`,
    })
    expect(judge(good, { upstreamKeys: [other.address, upstreamAddress] }).status).toBe('pass')
  })

  test('A document without the model passes too.', async () => {
    const document = await documentOf(`${request}:${answer}`)
    expect(judge(await evidenceFileOf({ document })).status).toBe('pass')
  })

  test('A hidden route is not compared.', async () => {
    const hidden = redact(receipt, ['run'])
    const elsewhere = await evidenceFileOf({ statement: { upstream: 'far' } })
    expect(evidenceCheck(elsewhere)(hidden, digest, trust).status).toBe('pass')
    expect(reasonOf(elsewhere)).toBe(
      'fail: The evidence is of far:small; the run was answered by local:small.',
    )
  })

  promise`E27`
  test('Without a named key it is undecided; another key than the named ones fails.', () => {
    expect(reasonOf(good, { upstreamKeys: undefined })).toBe(
      `unavailable: ${upstreamAddress} signed the hashes of the exchange (near-ai); name the ` +
        'upstream key that you know to compare with.',
    )
    expect(reasonOf(good, { upstreamKeys: [other.address, testSigner.address] })).toBe(
      `fail: Expected the upstream key ${other.address} or ${testSigner.address}; ` +
        `found ${upstreamAddress}.`,
    )
  })

  promise`E27 C: Evidence is checked offline, from files: another receipt, exchange, key, document
    or leaf is found, and the key of the operator alone decides nothing.`
  test.each([
    ['receipt_id', 'rcpt_01jd7m3v5k8q2w4x6y9z0a1b2d', /of another receipt: rcpt_.*2d\.$/],
    ['receipt_digest', `0x${'ab'.repeat(32)}`, /of another receipt/],
    [
      'issuer',
      'https://evil.example',
      /^fail: Expected evidence in the log of https:\/\/gw\.example; found https:\/\/evil\.example\.$/,
    ],
    ['model', 'large', /answered by local:small/],
    ['request_sha256', `0x${answer}`, /signed another request or answer/],
    ['answer_sha256', `0x${request}`, /signed another request or answer/],
    ['document_sha256', `0x${request}`, /not the one that was logged/],
    ['scheme', 'far-ai', /^unavailable: This verifier does not know the scheme far-ai\.$/],
    ['key', other.address, /Expected a signature of 0x3C44.*found one of 0x7099/],
  ] as const)('A logged lie about %s is found.', async (member, lie, reason) => {
    const file = await evidenceFileOf({ statement: { [member]: lie } })
    expect(reasonOf(file)).toMatch(reason)
  })

  test('A document of another model is found where the route is hidden.', async () => {
    const file = await evidenceFileOf({ statement: { model: 'large' } })
    const outcome = evidenceCheck(file)(redact(receipt, ['run']), digest, trust)
    expect(outcome).toEqual({
      status: 'fail',
      reason: 'The upstream signed an answer of another model.',
    })
  })

  test('A document that another key signed in the name of the first is found.', async () => {
    const text = `small:${request}:${answer}`
    const forged = await documentOf(text, { signing_address: upstreamAddress }, other)
    expect(reasonOf(await evidenceFileOf({ document: forged }))).toBe(
      'fail: The key that the upstream names did not sign.',
    )
    const signature = `0x${'00'.repeat(64)}1b`
    expect(
      reasonOf(await evidenceFileOf({ document: await documentOf(text, { signature }) })),
    ).toBe('fail: The key that the upstream names did not sign.')
  })

  test.each(['', '{', '[]', 'null', '{"text":1}'])(
    'A document that is spelt %p is none of its scheme.',
    async (document) => {
      expect(reasonOf(await evidenceFileOf({ document }))).toBe(
        'fail: The document of the upstream is not one of its scheme.',
      )
    },
  )

  test('A document in another spelling is none: what is kept has one.', async () => {
    const document = (await documentOf()).replace(':', ': ')
    expect(reasonOf(await evidenceFileOf({ document }))).toContain('not one of its scheme')
  })

  promise`E27`
  test('A changed document, index, path or root does not hold.', () => {
    for (const change of [
      (copy: EvidenceFile) => Object.assign(copy.log, { index: '0' }),
      (copy: EvidenceFile) => Object.assign(copy.log, { path: [] }),
      (copy: EvidenceFile) => Object.assign(copy.log.checkpoint, { root: `0x${request}` }),
      (copy: EvidenceFile) => Object.assign(copy.statement, { salt: `0x${request}` }),
      (copy: EvidenceFile) => Object.assign(copy.statement, { checked_at: '1' }),
    ]) {
      expect(reasonOf(changed(good, change))).toMatch(
        /^fail: The path does not lead from the evidence, leaf [01], to the root of the log\.$/,
      )
    }
    const document = { ...good, document: `${good.document} ` }
    expect(reasonOf(document)).toBe(
      'fail: The document of the upstream is not the one that was logged.',
    )
  })

  test('The head has to be of the same log, and signed by a trusted key in its range.', async () => {
    expect(reasonOf(logged(good, testSigner, 'https://evil.example'))).toBe(
      'fail: Expected a checkpoint of https://gw.example; found one of https://evil.example.',
    )
    const stranger = signerFromHex(`0x${'11'.repeat(32)}`)
    expect(reasonOf(logged(good, stranger))).toContain('fail: Expected a signature of')
    expect(reasonOf(good, { signers: undefined })).toBe('unavailable: No trusted signer was given.')
    const until = (untilIndex: bigint) => ({ signers: [{ ...signers[0], untilIndex }] })
    expect(judge(good, until(2n)).status).toBe('pass')
    expect(judge(good, until(1n)).status).toBe('fail')
    const cut = changed(good, (copy) => {
      copy.log.checkpoint.signature = copy.log.checkpoint.signature.slice(0, -2)
    })
    expect(reasonOf(cut)).toBe('fail: It is not 65 bytes of lower-case hex.')
  })

  test('A signer who is wrong is found before the key of the upstream is looked at.', () => {
    expect(
      judge(good, { signers: [{ address: other.address }], upstreamKeys: undefined }).status,
    ).toBe('fail')
  })
})

describe('a verdict with evidence of an upstream', () => {
  const verify = (attested: EvidenceFile | undefined, upstreamKeys?: string[]) =>
    verifyReceipt(
      { file: fileOf(facts), ...(attested && { attested: evidenceCheck(attested) }) },
      { signers, ...(upstreamKeys && { upstreamKeys }) },
      { chain: 'auto' },
    )

  test('names it among the kinds that it rests on', () => {
    const verdict = verify(good, [upstreamAddress])
    expect([verdict.valid, verdict.evidence]).toEqual([true, ['signed', 'attested']])
    expect(verdict.proves).toContain(
      'that the upstream signed hashes which the signer ties to this run',
    )
    expect(verdict.does_not_prove).toContain('that the named model really produced the text')
  })

  test('is undecided where no upstream key is named, and bad where the evidence is', () => {
    const undecided = verify(good)
    expect([undecided.valid, undecided.evidence, headlineOf(undecided)]).toEqual([
      false,
      [],
      'Undecided',
    ])
    const bad = verify({ ...good, document: '' }, [upstreamAddress])
    expect([bad.valid, headlineOf(bad)]).toEqual([false, 'Not valid'])
    const without = verify(undefined)
    expect([without.valid, without.evidence]).toEqual([true, ['signed']])
  })
})
