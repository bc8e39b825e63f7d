import { describe, expect, test } from 'bun:test'
import { encodeAbiParameters, keccak256, stringToBytes } from 'viem'
import { type ChainEvidence, registryLogId } from '../../src/verify/check-anchor.ts'
import { redact, sectionNames } from '../../src/verify/receipt.ts'
import type { Trust, VerifyOptions } from '../../src/verify/verify.ts'
import { anchoredFile, evidenceAt, onChain, owner, registry, waiting } from './anchor-samples.ts'
import { failed, judge, set, statusOf, trust } from './judge.ts'
import { provenFile } from './proof-samples.ts'
import { facts, testSigner } from './samples.ts'

const asked = (
  chain: ChainEvidence | undefined,
  file: unknown = anchoredFile(),
  options: Partial<VerifyOptions> = {},
  by: Trust = trust,
) => judge(file, { ...by, ...(chain ? { chain } : {}) }, options)

const anchorsOf = (verdict: ReturnType<typeof judge>) => [
  statusOf(verdict, 'anchor'),
  statusOf(verdict, 'anchor_final'),
]
const reasonOf = (verdict: ReturnType<typeof judge>, name: string) =>
  verdict.checks.find((check) => check.name === name)?.reason ?? ''

/** Hex with one digit changed. */
const flip = <T extends string>(hex: T, at: number) =>
  (hex.slice(0, at) + (hex[at] === '0' ? '1' : '0') + hex.slice(at + 1)) as T

describe('a root that the registry has', () => {
  test('is anchored, and final once a final block has it', () => {
    const final = asked(evidenceAt())
    expect([final.valid, final.level, anchorsOf(final)]).toEqual([true, 'final', ['pass', 'pass']])
    const waits = asked(evidenceAt(13, { finalRoot: null }))
    expect([waits.valid, waits.level]).toEqual([true, 'anchored'])
    expect(anchorsOf(waits)).toEqual(['pass', 'unavailable'])
  })

  test('takes from what is not proven only what it removes', () => {
    const rewrite = 'that the operator cannot drop or rewrite the log later'
    const stays = 'that the chain keeps the block of the anchor: it is not final yet'
    const unproven = (chain?: ChainEvidence, file?: unknown) => asked(chain, file).does_not_prove
    expect(unproven(undefined)).toContain(rewrite)
    expect(unproven(undefined, provenFile())).toContain(rewrite)
    const anchored = unproven(evidenceAt(13, { finalRoot: null }))
    expect([anchored.includes(rewrite), anchored.includes(stays)]).toEqual([false, true])
    expect(unproven(evidenceAt())).toEqual([
      'that the named model really produced the text',
      'that the text is true',
      'that a run which was never logged did not happen',
    ])
  })

  test('carries every redaction of the receipt to final, with the same digest', () => {
    const { disclosures: _, ...file } = anchoredFile()
    const digests = new Set<string | null>()
    for (let bits = 0; bits < 32; bits++) {
      const hidden = sectionNames.filter((_, i) => bits & (1 << i))
      const verdict = asked(evidenceAt(), { ...file, receipt: redact(file.receipt, hidden) })
      digests.add(verdict.digest)
      expect([verdict.level, verdict.valid, verdict.hidden]).toEqual(['final', true, hidden])
    }
    expect(digests.size).toBe(1)
  })

  test('proves a file that did not know of its anchor yet', () => {
    for (const anchor of [waiting('pending'), { status: 'disabled' } as const]) {
      expect(asked(evidenceAt(), anchoredFile(13, anchor)).level).toBe('final')
    }
  })

  test('proves nothing beyond a signature when the receipt is not in that log', () => {
    const file = anchoredFile()
    set(file, 'proof.index', '4')
    const verdict = asked(evidenceAt(), file)
    expect([verdict.valid, verdict.level, failed(verdict)]).toEqual([false, null, ['inclusion']])
    expect(verdict.does_not_prove).toContain('that the receipt is in the log')
  })
})

describe('what a file says of the chain', () => {
  test.each(['confirmed', 'final'] as const)('%s is not believed: no one asked', (status) => {
    const verdict = asked(undefined, anchoredFile(13, onChain(13, status)))
    expect([verdict.valid, verdict.level]).toEqual([true, 'logged'])
    expect(anchorsOf(verdict)).toEqual(['unavailable', 'unavailable'])
    expect(reasonOf(verdict, 'anchor')).toContain('--rpc URL --registry 0x…')
    expect(
      asked(undefined, anchoredFile(13, onChain(13, status)), { chain: 'require' }).valid,
    ).toBe(false)
  })

  test.each(['pending', 'submitted', 'superseded', 'failed'] as const)('%s waits', (status) => {
    const file = anchoredFile(13, waiting(status))
    expect(anchorsOf(asked(undefined, file))).toEqual(['skip', 'skip'])
    const none = evidenceAt(13, { root: null, finalRoot: null })
    expect(anchorsOf(asked(none, file))).toEqual(['skip', 'skip'])
    expect(asked(none, file).valid).toBe(true)
    const required = asked(none, file, { chain: 'require' })
    expect([required.valid, failed(required)]).toEqual([false, []])
    expect(anchorsOf(required)).toEqual(['unavailable', 'unavailable'])
  })

  test('other places in it change nothing: only those who asked name them', () => {
    const file = anchoredFile()
    set(file, 'proof.anchor.registry', `0x${'99'.repeat(20)}`)
    set(file, 'proof.anchor.log_owner', `0x${'88'.repeat(20)}`)
    set(file, 'proof.anchor.tx_hash', `0x${'77'.repeat(32)}`)
    expect(asked(evidenceAt(), file).level).toBe('final')
  })

  test('skip asks for nothing, no matter what was read', () => {
    const verdict = asked(evidenceAt(), anchoredFile(), { chain: 'skip' })
    expect([verdict.level, anchorsOf(verdict)]).toEqual(['logged', ['skip', 'skip']])
  })
})

describe('a chain that says otherwise', () => {
  test('another root, by any digit, in the latest block: anchor fails, both told', () => {
    const { root } = evidenceAt()
    if (!root) throw new Error('the sample has a root')
    for (let at = 2; at < root.length; at++) {
      const other = flip(root, at)
      const verdict = asked(evidenceAt(13, { root: other }))
      expect([verdict.valid, failed(verdict)]).toEqual([false, ['anchor', 'anchor_final']])
      expect(reasonOf(verdict, 'anchor')).toContain(`expected the root ${root}; found ${other}`)
      const final = asked(evidenceAt(13, { finalRoot: other }))
      expect([final.valid, failed(final)]).toEqual([false, ['anchor_final']])
    }
  })

  test('no root where the file says that it is anchored', () => {
    const verdict = asked(evidenceAt(13, { root: null, finalRoot: null }))
    expect(failed(verdict)).toEqual(['anchor', 'anchor_final'])
    expect(reasonOf(verdict, 'anchor')).toContain('found none')
  })

  test('another size, another log, another registry, another owner', () => {
    const { log } = evidenceAt()
    for (const change of [
      { size: '12' },
      { log: flip(log, 20) },
      { registry: flip(registry, 9) },
      { owner: flip(owner, 9) },
    ]) {
      expect(failed(asked(evidenceAt(13, change)))).toEqual(['anchor', 'anchor_final'])
    }
  })

  test('a signer whom the registry does not let sign there, although the reader trusts it', () => {
    const verdict = asked(evidenceAt(13, { signerAllowed: false }))
    expect([verdict.valid, failed(verdict)]).toEqual([false, ['anchor', 'anchor_final']])
    expect(reasonOf(verdict, 'anchor')).toContain(`does not let ${testSigner.address} sign`)
  })

  test('down: unavailable with its reason, never a pass; invalid only where it is required', () => {
    const down: ChainEvidence = { status: 'unavailable', reason: 'No server answered.' }
    const verdict = asked(down)
    expect([verdict.valid, verdict.level]).toEqual([true, 'logged'])
    expect(anchorsOf(verdict)).toEqual(['unavailable', 'unavailable'])
    expect(reasonOf(verdict, 'anchor')).toBe('No server answered.')
    const required = asked(down, anchoredFile(), { chain: 'require' })
    expect([required.valid, required.level, failed(required)]).toEqual([false, 'logged', []])
  })
})

describe('what a proof says of its anchor is read strictly', () => {
  test.each([
    ['chain_id', 1],
    ['chain_id', '4663'],
    ['registry', '0x12'],
    ['log_owner', null],
    ['size', '12'],
    ['size', 13],
    ['tx_hash', `0x${'AA'.repeat(32)}`],
    ['block_number', '0x7be7e7'],
    ['block_hash', ''],
    ['block_time', 'yesterday'],
    ['expected_by', null],
    ['status', 'pending'],
    ['status', ['final']],
    ['more', 1],
  ])('A proof whose anchor has %s = %p is refused.', (member, value) => {
    const file = structuredClone(anchoredFile())
    set(file, `proof.anchor.${member}`, value)
    const verdict = asked(evidenceAt(), file)
    expect([verdict.valid, failed(verdict)]).toEqual([false, ['schema']])
    expect(reasonOf(verdict, 'schema')).toContain('proof.anchor.')
  })

  test('a time to expect it by may be unknown', () => {
    const file = anchoredFile(13, { ...waiting('pending'), expected_by: null } as never)
    expect(asked(undefined, file).valid).toBe(true)
  })
})

test('the id of a log in the registry is that of the ABI', () => {
  const origins = ['', facts.issuer, 'https://пример.example#2', 'x'.repeat(300)]
  for (const origin of origins) {
    const types = ['uint256', 'address', 'address', 'bytes32'].map((type) => ({ type }))
    const hash = keccak256(stringToBytes(origin))
    const encoded = encodeAbiParameters(types, [4663n, registry, owner, hash])
    expect(registryLogId(registry, owner, origin)).toBe(keccak256(encoded))
  }
})
