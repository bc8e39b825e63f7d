import { describe, expect, test } from 'bun:test'
import { evidenceSchemes, schemeOf, spellKey } from '../../src/verify/evidence-schemes.ts'
import { readPolicy } from '../../src/verify/policy.ts'
import { readEvidenceText } from '../../src/verify/supplements.ts'
import {
  evidenceCheck,
  isEvidenceFile,
  mostDocument,
  parseEvidenceFile,
} from '../../src/verify/upstream-evidence.ts'
import {
  documentOf,
  evidenceFileOf,
  request,
  upstream,
  upstreamAddress,
} from './evidence-samples.ts'
import { make, testSigner } from './samples.ts'

const trust = { signers: [{ address: testSigner.address }], upstreamKeys: [upstream.address] }
const { receipt, digest } = make()
const good = await evidenceFileOf()
const reasonOf = (file: unknown) => {
  const { status, reason } = evidenceCheck(file)(receipt, digest, trust)
  return `${status}: ${reason}`
}

describe('the form of a file of evidence', () => {
  const problemsOf = (file: unknown): string[] => {
    const problems: { path: string; message: string }[] = []
    const read = parseEvidenceFile(file, problems)
    expect(read === undefined).toBe(problems.length > 0)
    return problems.map(({ path, message }) => `${path}: ${message}`)
  }

  test('A good one is read as it is.', () => {
    expect(problemsOf(good)).toEqual([])
    expect(parseEvidenceFile(good, [])).toEqual(good)
    expect([isEvidenceFile(good), isEvidenceFile({}), isEvidenceFile(null)]).toEqual([
      true,
      false,
      false,
    ])
  })

  test.each([
    [null, ': not an object'],
    [{ ...good, type: 'counterfoil.evidence' }, 'type: not "counterfoil.upstream_evidence"'],
    [{ ...good, version: '2' }, 'version: not "1"'],
    [{ ...good, more: 1 }, 'more: unknown member'],
    [{ ...good, statement: { ...good.statement, more: '' } }, 'statement.more: unknown member'],
    [
      { ...good, statement: { ...good.statement, salt: 'x' } },
      'statement.salt: not 32 bytes of lower-case hex',
    ],
    [{ ...good, document: 1 }, 'document: not text'],
    [{ ...good, document: 'x'.repeat(mostDocument + 1) }, 'document: longer than 8192 characters'],
    [{ ...good, log: undefined }, 'log: not an object'],
    [{ ...good, log: { ...good.log, more: 1 } }, 'log.more: unknown member'],
    [{ ...good, log: { ...good.log, index: -1 } }, 'log.index: not text'],
    [{ ...good, log: { ...good.log, path: 'x' } }, 'log.path: not a list'],
    [{ ...good, log: { ...good.log, path: ['x'] } }, 'log.path[0]: not 32 bytes of lower-case hex'],
    [
      { ...good, log: { ...good.log, path: Array(65).fill(`0x${request}`) } },
      'log.path: more than 64 hashes',
    ],
    [{ ...good, log: { ...good.log, checkpoint: 1 } }, 'log.checkpoint: not an object'],
  ])('One that is wrong is named: %#.', (file, problem) => {
    expect(problemsOf(file)).toEqual([problem])
    expect(reasonOf(file)).toBe(`fail: The evidence of the upstream cannot be read: ${problem}.`)
  })

  test('The longest document and the longest path are read.', () => {
    const path = Array(64).fill(`0x${request}`)
    expect(
      problemsOf({ ...good, document: 'x'.repeat(mostDocument), log: { ...good.log, path } }),
    ).toEqual([])
  })

  test('Problems of its text make it wrong as well.', () => {
    const twice = [{ path: 'document', message: 'there twice' }]
    expect(evidenceCheck(good, twice)(receipt, digest, trust).reason).toBe(
      'The evidence of the upstream cannot be read: document: there twice.',
    )
  })

  test('A page reads its text, or says what it is not.', () => {
    expect(readEvidenceText(' ')).toEqual({})
    expect(readEvidenceText('{}')).toContain('not such evidence')
    expect(readEvidenceText('{')).toContain('not such evidence')
    const read = readEvidenceText(JSON.stringify(good))
    if (typeof read === 'string') throw new Error(read)
    expect(read.attested?.(receipt, digest, trust).status).toBe('pass')
    const twice = readEvidenceText(JSON.stringify(good).replace('{', '{"type":"x",'))
    if (typeof twice === 'string') throw new Error(twice)
    expect(twice.attested?.(receipt, digest, trust).status).toBe('fail')
  })
})

describe('the scheme near-ai', () => {
  const scheme = evidenceSchemes['near-ai']
  const served = async () => JSON.parse(await documentOf())

  test('keeps one spelling of what servers write', async () => {
    const kept = await documentOf()
    const value = await served()
    expect(scheme.read(value)).toBe(kept)
    expect(scheme.read({ ...value, signing_address: upstream.address, more: 1 })).toBe(kept)
    expect(scheme.read({ ...value, signature: value.signature.slice(2).toUpperCase() })).toBe(kept)
    const v = value.signature.slice(-2)
    const parity = v === '1b' ? '00' : '01'
    expect(scheme.read({ ...value, signature: value.signature.slice(0, -2) + parity })).toBe(kept)
  })

  test.each([
    ['text', 1],
    ['text', 'x'.repeat(513)],
    ['text', '\ud800'],
    ['signature', 1],
    ['signature', '0x12'],
    ['signature', `0x${'g'.repeat(130)}`],
    ['signing_address', 1],
    ['signing_address', '0x12'],
    ['signing_algo', 'ed25519'],
    ['signing_algo', undefined],
  ])('does not keep an answer with %s %p', async (member, value) => {
    expect(scheme.read({ ...(await served()), [member]: value })).toBeUndefined()
  })

  test('keeps the longest text, and nothing that is not an object', async () => {
    expect(scheme.read({ ...(await served()), text: 'x'.repeat(512) })).toBeDefined()
    expect([scheme.read(undefined), scheme.read([]), scheme.read('x')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  test('takes addresses as keys; other schemes are not known', () => {
    expect([upstream.address, upstreamAddress, '0x12', ''].map(scheme.isKey)).toEqual([
      true,
      true,
      false,
      false,
    ])
    expect([schemeOf('near-ai'), schemeOf('constructor')]).toEqual([scheme, undefined])
    expect(spellKey('0xAB')).toBe('0xab')
  })
})

describe('upstream_keys of a policy', () => {
  const policyWith = (keys: unknown) =>
    readPolicy(JSON.stringify({ type: 'counterfoil.policy', version: '1', upstream_keys: keys }))

  test('are addresses, one at least', () => {
    const read = policyWith([upstream.address])
    expect(read).toEqual({ ok: true, policy: { upstreamKeys: [upstream.address], chain: 'auto' } })
    const why = 'upstream_keys is not a list of keys by which upstreams sign, such as 0x…'
    for (const wrong of [[], 'x', [1], ['0x12'], [upstream.address, 'x'], null]) {
      expect(policyWith(wrong)).toEqual({ ok: false, problems: [why] })
    }
  })
})
