import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { toHex } from '../../src/kernel/hex.ts'
import { signerFromHex } from '../../src/proof/signer/signer.ts'
import { structDigest } from '../../src/verify/eip712.ts'
import { leafHash } from '../../src/verify/merkle.ts'
import { logIdOf, parseConsistency } from '../../src/verify/proof.ts'
import type { Problem } from '../../src/verify/receipt.ts'
import { type VerifyInput, verifyReceipt } from '../../src/verify/verify.ts'
import { onChain, waiting } from './anchor-samples.ts'
import { failed, judge, set, statusOf, trust } from './judge.ts'
import { proofAt, provenFile, sampleLog, sign } from './proof-samples.ts'
import { fileOf, make, testSigner } from './samples.ts'

setDefaultTimeout(60_000)

const changed = (path: string, value: unknown, size = 13) => {
  const file = structuredClone(provenFile(size))
  set(file, path, value)
  return judge(file)
}

/** Hex with one digit changed. */
const flip = (hex: string, at: number) =>
  hex.slice(0, at) + (hex[at] === '0' ? '1' : '0') + hex.slice(at + 1)

describe('a receipt with its proof', () => {
  test('is logged, under every size of the log that covers it', () => {
    for (let size = 6; size <= 40; size++) {
      const verdict = judge(provenFile(size))
      expect([verdict.valid, verdict.level, failed(verdict)]).toEqual([true, 'logged', []])
      expect(statusOf(verdict, 'checkpoint_consistent')).toBe('skip')
    }
  })

  test('says what that proves, and never more', () => {
    const logged = judge(provenFile())
    const signed = judge(fileOf())
    expect(signed.does_not_prove).toContain('that the receipt is in the log')
    expect(logged.does_not_prove).not.toContain('that the receipt is in the log')
    expect(logged.does_not_prove).toContain('that a run which was never logged did not happen')
    expect(logged.does_not_prove).toContain(
      'that the operator cannot drop or rewrite the log later',
    )
    expect([statusOf(logged, 'anchor'), statusOf(logged, 'anchor_final')]).toEqual(['skip', 'skip'])
  })

  test('takes the proof beside the file as well as inside', () => {
    const beside = verifyReceipt({ file: fileOf(), proof: proofAt(9) }, trust, { chain: 'auto' })
    expect([beside.valid, beside.level]).toEqual([true, 'logged'])
    const wins = verifyReceipt({ file: provenFile(), proof: { a: 1 } }, trust, { chain: 'auto' })
    expect(failed(wins)).toEqual(['schema'])
  })

  test('is not logged while no one is trusted, and not by another signer', () => {
    const untrusting = verifyReceipt({ file: provenFile() }, {}, { chain: 'auto' })
    expect([untrusting.level, statusOf(untrusting, 'checkpoint_signature')]).toEqual([
      null,
      'unavailable',
    ])
    const other = { address: `0x${'12'.repeat(20)}` }
    const verdict = judge(provenFile(), { signers: [other] })
    expect(failed(verdict)).toEqual(['signer_authorized', 'checkpoint_signature'])
  })
})

describe('one digit changed', () => {
  test('in any hash of the path: inclusion fails', () => {
    const { path } = proofAt(13)
    expect(path.length).toBe(4)
    for (const [i, hash] of path.entries()) {
      for (let at = 2; at < hash.length; at += 7) {
        expect(failed(changed(`proof.path.${i}`, flip(hash, at)))).toEqual(['inclusion'])
      }
    }
  })

  test('in the leaf: the leaf is not that of the receipt, nor under the root', () => {
    const { leaf } = proofAt(13)
    for (let at = 2; at < leaf.length; at++) {
      expect(failed(changed('proof.leaf', flip(leaf, at)))).toEqual(['leaf', 'inclusion'])
    }
  })

  test('in the root: neither the path leads to it nor was it signed', () => {
    const { root } = proofAt(13).checkpoint
    for (let at = 2; at < root.length; at++) {
      const verdict = changed('proof.checkpoint.root', flip(root, at))
      expect(failed(verdict)).toEqual(['inclusion', 'checkpoint_signature'])
    }
  })

  test('in the signature or the time of the checkpoint: its signature fails', () => {
    const { signature, timestamp } = proofAt(13).checkpoint
    for (let at = 2; at < signature.length; at += 3) {
      const verdict = changed('proof.checkpoint.signature', flip(signature, at))
      expect(failed(verdict)).toEqual(['checkpoint_signature'])
    }
    const later = String(BigInt(timestamp) + 1n)
    expect(failed(changed('proof.checkpoint.timestamp', later))).toEqual(['checkpoint_signature'])
  })

  test('in the index: inclusion fails', () => {
    for (const index of ['0', '4', '6', '12', '13', '18446744073709551615']) {
      expect(failed(changed('proof.index', index))).toEqual(['inclusion'])
    }
  })
})

describe('a proof that does not fit', () => {
  test('with a path cut or longer fails by inclusion', () => {
    const { path } = proofAt(13)
    for (const other of [path.slice(1), path.slice(0, -1), [], [...path, path[0]]]) {
      expect(failed(changed('proof.path', other))).toEqual(['inclusion'])
    }
  })

  test('of another receipt fails, also when its digest is passed off as another kind', () => {
    const asPriceList = toHex(leafHash(1, make().digest))
    expect(failed(changed('proof.leaf', asPriceList))).toEqual(['leaf', 'inclusion'])
    expect(failed(changed('proof.receipt_id', 'rcpt_00000000000000000000000000'))).toEqual([
      'schema',
    ])
  })

  test('under the log of another issuer fails', () => {
    const { checkpoint } = proofAt(13)
    const { signature: _, ...rest } = checkpoint
    const foreign = sign({ ...rest, issuer: 'https://other.example' })
    expect(failed(changed('proof.checkpoint', foreign))).toEqual(['schema'])
    const file = structuredClone(provenFile())
    set(file, 'proof.checkpoint', foreign)
    set(file, 'proof.log_id', logIdOf('https://other.example'))
    expect(failed(judge(file))).toEqual(['checkpoint_signature'])
  })

  test.each([
    ['proof.index', 5],
    ['proof.index', '05'],
    ['proof.index', '-1'],
    ['proof.size', '12'],
    ['proof.size', 13],
    ['proof.leaf', '0x12'],
    ['proof.leaf', null],
    ['proof.path', 'none'],
    ['proof.path', { length: 4 }],
    ['proof.path', Array(200).fill(`0x${'00'.repeat(32)}`)],
    ['proof.path.0', `0x${'AB'.repeat(32)}`],
    ['proof.checkpoint', null],
    ['proof.checkpoint.size', 13],
    ['proof.checkpoint.signature', 13],
    ['proof.checkpoint.signature', undefined],
    ['proof.checkpoint.more', '1'],
    ['proof.log_id', `0x${'00'.repeat(32)}`],
    ['proof.anchor', null],
    ['proof.anchor.status', 'certain'],
    ['proof.anchor', { ...waiting('pending'), expected_by: 'soon' }],
    ['proof.anchor', { ...waiting('pending'), expected_by: undefined }],
    ['proof.anchor', { ...onChain(13), block_time: null }],
    ['proof.anchor', { ...onChain(13), size: '12' }],
    ['proof.type', 'counterfoil.receipt'],
    ['proof.version', '2'],
    ['proof.more', 1],
    ['proof', 'yes'],
    ['proof', false],
    ['proof', []],
  ])('is read strictly: %s = %p', (path, value) => {
    const verdict = changed(path, value)
    expect([verdict.valid, failed(verdict)]).toEqual([false, ['schema']])
    expect(verdict.checks.find(({ name }) => name === 'schema')?.reason).toContain('proof')
    expect(statusOf(verdict, 'inclusion')).toBe('skip')
    expect(statusOf(verdict, 'signature')).toBe('pass')
  })

  test('may say that no one knows when its anchor comes', () => {
    expect(failed(changed('proof.anchor', { ...waiting('pending'), expected_by: null }))).toEqual(
      [],
    )
  })

  test('The verifier never throws for any value in a proof.', () => {
    const paths = ['proof', 'proof.path', 'proof.checkpoint', 'proof.checkpoint.issuer']
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue(), (path, value) => {
        if (path === 'proof' && value === null) return
        expect(changed(path, value).valid).toBe(false)
      }),
      { numRuns: 300 },
    )
  })
})

describe('two checkpoints', () => {
  const of = (evidence: Partial<VerifyInput>) => {
    const verdict = verifyReceipt({ file: provenFile(13), ...evidence }, trust, { chain: 'auto' })
    return [statusOf(verdict, 'checkpoint_consistent'), verdict.valid]
  }
  const log = sampleLog(40)

  test('of one log are consistent, later and earlier, by the path between', () => {
    for (let other = 1; other <= 40; other++) {
      const [from, to] = [Math.min(other, 13), Math.max(other, 13)]
      const evidence = { checkpoint: log.checkpoint(other), consistency: log.consistency(from, to) }
      expect([other, ...of(evidence)]).toEqual([other, 'pass', true])
    }
  })

  test('of a log that was rewritten are not', () => {
    const rewritten = sampleLog(40, 3)
    const consistency = rewritten.consistency(13, 40)
    expect(of({ checkpoint: rewritten.checkpoint(), consistency })).toEqual(['fail', false])
    expect(of({ checkpoint: rewritten.checkpoint(13) })).toEqual(['fail', false])
  })

  test('fail with the path of other sizes, a changed path, or a foreign signature', () => {
    const checkpoint = log.checkpoint(40)
    const consistency = log.consistency(13, 40)
    expect(of({ checkpoint, consistency: log.consistency(12, 40) })).toEqual(['fail', false])
    for (const [i, hash] of consistency.path.entries()) {
      const path = consistency.path.map((one, at) => (at === i ? flip(hash, 40) : one)) as never
      expect(of({ checkpoint, consistency: { ...consistency, path } })).toEqual(['fail', false])
    }
    const forged = { ...checkpoint, timestamp: '1' }
    expect(of({ checkpoint: forged, consistency })).toEqual(['fail', false])
  })

  test('without the path between are not compared', () => {
    expect(of({ checkpoint: log.checkpoint(40) })).toEqual(['unavailable', true])
    expect(of({ checkpoint: { size: 40 } })).toEqual(['skip', false])
  })
})

describe('the path between two checkpoints', () => {
  const good = sampleLog(40).consistency(13, 40)
  const hash = `0x${'00'.repeat(32)}`
  const read = (value: unknown) => {
    const problems: Problem[] = []
    const parsed = parseConsistency(value, problems)
    return parsed ?? problems.map(({ path, message }) => `${path}: ${message}`)
  }

  test('is read as it is, with at most 128 hashes', () => {
    expect(read(good)).toEqual(good)
    const longest = { ...good, path: Array(128).fill(hash) }
    expect(read(longest)).toEqual(longest)
    expect(read({ ...good, path: Array(129).fill(hash) })).toEqual([
      'consistency.path: more than 128 hashes',
    ])
  })

  test.each([
    [null, 'consistency: not an object'],
    [[], 'consistency: not an object'],
    [{ ...good, from: 13 }, 'consistency.from: not text'],
    [{ ...good, to: '-1' }, 'consistency.to: not a decimal integer below 2^64'],
    [{ ...good, path: hash }, 'consistency.path: not a list'],
    [{ ...good, path: [hash, 1] }, 'consistency.path[1]: not text'],
  ])('The path between two checkpoints is read strictly: %j', (value, problem) => {
    expect(read(value)).toEqual([problem])
  })
})

describe('a signer that was retired', () => {
  const { address } = testSigner
  const by = (range: { fromIndex?: bigint; untilIndex?: bigint }) =>
    judge(provenFile(13), { signers: [{ address, ...range }] })

  test('is good for what the proof puts inside its range, and for nothing else', () => {
    expect(by({ untilIndex: 13n }).valid).toBe(true)
    expect(failed(by({ fromIndex: 6n }))).toEqual(['signer_authorized'])
    for (const untilIndex of [5n, 12n]) {
      const verdict = by({ untilIndex })
      expect([verdict.valid, failed(verdict)]).toEqual([false, ['checkpoint_signature']])
    }
  })

  test('leaves receipts that its successor puts under a checkpoint', () => {
    const next = signerFromHex(`0x${'5a'.repeat(32)}`)
    const file = structuredClone(provenFile(13))
    const { signature: _, ...signed } = file.proof.checkpoint
    const digest = structDigest('Checkpoint', signed)
    file.proof.checkpoint = { ...signed, signature: toHex(next.sign(digest)) }
    const judged = (untilIndex: bigint) =>
      judge(file, {
        signers: [
          { address, untilIndex },
          { address: next.address, fromIndex: 6n },
        ],
      })
    expect([judged(6n).valid, judged(6n).level]).toEqual([true, 'logged'])
    expect(failed(judged(5n))).toEqual(['signer_authorized'])
  })
})
