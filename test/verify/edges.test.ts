import { describe, expect, test } from 'bun:test'
import { fromHex } from '../../src/kernel/hex.ts'
import { checkAnchor } from '../../src/verify/check-anchor.ts'
import { checkLog } from '../../src/verify/check-log.ts'
import { checkArithmetic, checkContent, checkSigner, told } from '../../src/verify/checks.ts'
import { readVerifyRequest } from '../../src/verify/input.ts'
import { verifyConsistency, verifyInclusion } from '../../src/verify/merkle.ts'
import { toPagePayload, toTrust } from '../../src/verify/page-payload.ts'
import { pathSteps } from '../../src/verify/path.ts'
import { evidenceAt, waiting } from './anchor-samples.ts'
import { trust } from './judge.ts'
import { proofAt, sampleLog } from './proof-samples.ts'
import { facts, fileOf, make, testSigner } from './samples.ts'

describe('a trusted signer', () => {
  const recovered = { ok: true, address: testSigner.address } as const
  const { address } = testSigner
  const other = { address: `0x${'11'.repeat(20)}` }

  test.each([
    ['before its range', [{ address, fromIndex: 5n }], 4n, 'fail'],
    ['at its begin', [{ address, fromIndex: 5n }], 5n, 'pass'],
    ['before its end', [{ address, untilIndex: 8n }], 7n, 'pass'],
    ['at its end', [{ address, untilIndex: 8n }], 8n, 'fail'],
    [
      'in its second range',
      [
        { address, untilIndex: 8n },
        { address, fromIndex: 9n },
      ],
      9n,
      'pass',
    ],
    [
      'between its ranges',
      [
        { address, untilIndex: 8n },
        { address, fromIndex: 9n },
      ],
      8n,
      'fail',
    ],
    ['without an index', [{ address }], undefined, 'pass'],
    ['retired, without an index', [{ address, untilIndex: 8n }], undefined, 'unavailable'],
    [
      'retired once, without an index',
      [
        { address, untilIndex: 8n },
        { address, fromIndex: 9n },
      ],
      undefined,
      'pass',
    ],
    ['that is another', [other], 1n, 'fail'],
  ] as const)('A trusted signer is judged %s.', (_, trusted, index, status) => {
    expect(checkSigner(recovered, trusted, index).status).toBe(status)
  })

  test('is named where another is expected, and where no signer is trusted', () => {
    expect(checkSigner(recovered, [other], 1n).reason).toContain(other.address)
    expect(checkSigner(recovered, [], 1n).reason).toContain('of a trusted signer;')
  })
})

describe('the arithmetic of a charge', () => {
  const charge = (amount: bigint, discountBps: number, quantity = 1001) => ({
    ...make().receipt.charge,
    lines: [{ meter: 'input', quantity: String(quantity), price: '1000' }],
    discountBps: String(discountBps),
    amount: String(amount),
  })
  test.each([
    ['no discount', charge(1001n, 0), 'pass'],
    ['a part of a unit rounded up', { ...charge(1n, 0, 0), lines: one('1', '1') }, 'pass'],
    ['a whole unit not', { ...charge(1n, 0, 0), lines: one('1000', '1') }, 'pass'],
    ['one unit more', charge(1002n, 0), 'fail'],
    ['a discount rounded down', charge(1001n - 1n, 19), 'pass'],
    ['a discount of everything', charge(0n, 10_000), 'pass'],
    ['a discount of more', charge(0n, 10_001), 'fail'],
    ['another unit', { ...charge(1001n, 0), unit: 'USD' }, 'fail'],
    ['a hidden charge', { $hash: `0x${'00'.repeat(32)}` }, 'skip'],
  ])('The sum of a charge is judged with %s.', (_, of, status) => {
    expect(checkArithmetic(of as Parameters<typeof checkArithmetic>[0]).status).toBe(
      status as never,
    )
  })

  function one(quantity: string, price: string) {
    return [{ meter: 'input', quantity, price }]
  }
})

describe('a disclosed text', () => {
  const { receipt } = make()
  const { disclosures } = fileOf()
  test.each([
    ['that was committed to', receipt.content, disclosures, 'pass'],
    ['of hidden commitments', { $hash: `0x${'00'.repeat(32)}` }, disclosures, 'fail'],
    ['that is none', receipt.content, undefined, 'skip'],
  ])('A disclosed text is judged: one %s.', (_, content, given, status) => {
    const of = content as Parameters<typeof checkContent>[1]
    expect(checkContent('input', of, given).status).toBe(status as never)
  })
})

describe('the place of a receipt in the log', () => {
  const receipt = { id: facts.id, issuer: facts.issuer, digest: make().digest }
  const check = (evidence: object) => checkLog(receipt, evidence, trust.signers, false)
  const proof = proofAt(13)
  const log = sampleLog(20)

  test('is not judged where anything of the evidence cannot be read', () => {
    for (const checkpoint of [{ size: 'many' }, { ...log.checkpoint(), size: 'many' }]) {
      const verdict = check({ proof, checkpoint })
      expect(verdict.problems.length).toBeGreaterThan(0)
      expect(verdict.outcomes.inclusion.status).toBe('skip')
      expect(verdict.index).toBeUndefined()
    }
  })

  test.each([
    ['the path between both', log.consistency(13, 20), 'pass'],
    ['no path', undefined, 'unavailable'],
    ['a path from another size', log.consistency(12, 20), 'fail'],
    ['a path to another size', log.consistency(13, 19), 'fail'],
  ])('beside a later checkpoint, with %s', (_, consistency, status) => {
    const { outcomes } = check({ proof, checkpoint: log.checkpoint(), consistency })
    expect(outcomes.checkpoint_consistent.status).toBe(status as never)
    if (consistency && status === 'fail') {
      expect(outcomes.checkpoint_consistent.reason).toContain('between other sizes')
    }
  })

  test('beside an earlier checkpoint, the path leads to the proof', () => {
    const { outcomes } = check({
      proof,
      checkpoint: log.checkpoint(9),
      consistency: log.consistency(9, 13),
    })
    expect(outcomes.checkpoint_consistent.status).toBe('pass')
  })
})

describe('an anchor', () => {
  const proof = proofAt(13)
  const asked = (change: object) =>
    checkAnchor({ proof, signer: testSigner.address }, evidenceAt(13, change), false)

  test('with another root is a rewritten log, whatever the final block says', () => {
    const other = `0x${'ee'.repeat(32)}` as const
    expect(asked({ root: other }).anchor.status).toBe('fail')
    expect(asked({ root: other }).anchor_final.status).toBe('fail')
    expect(asked({ finalRoot: other }).anchor.status).toBe('pass')
    expect(asked({ finalRoot: other }).anchor_final.status).toBe('fail')
  })

  test('says how it was asked, where that matters', () => {
    expect(asked({ note: 'It may lag.' }).anchor.reason).toEndWith('. It may lag.')
    expect(asked({}).anchor.reason).toEndWith('at size 13.')
  })

  test('is not to be where the log has none, and not yet where it will have one', () => {
    const of = (anchor: typeof proof.anchor) =>
      checkAnchor({ proof: { ...proof, anchor }, signer: null }, undefined, false).anchor.reason
    expect(of({ status: 'disabled' })).toContain('not anchored on a chain')
    expect(of(waiting('pending'))).toContain('Not anchored yet')
  })
})

describe('a path of hashes', () => {
  const hash = (fill: number) => new Uint8Array(32).fill(fill)
  const log = sampleLog(13)
  const inclusion = {
    index: 5n,
    size: 13n,
    leaf: fromHex(log.leaf()),
    path: log.path().map(fromHex),
    root: fromHex(log.checkpoint().root),
  }
  const { path } = log.consistency(9, 13)
  const consistency = {
    from: 9n,
    to: 13n,
    fromRoot: fromHex(log.checkpoint(9).root),
    toRoot: inclusion.root,
    path: path.map(fromHex),
  }

  test.each([
    ['as it is', {}, true],
    ['with a hash more', { path: [...inclusion.path, hash(1)] }, false],
    ['with a hash less', { path: inclusion.path.slice(0, -1) }, false],
    ['with none', { path: [] }, false],
    ['with a short hash', { path: inclusion.path.map((one) => one.slice(1)) }, false],
    ['of a short leaf', { leaf: hash(1).slice(1) }, false],
    ['of a leaf beyond the tree', { index: 13n }, false],
    ['of a leaf before it', { index: -1n }, false],
  ])('A path to a root is judged %s.', (_, change, holds) => {
    expect(verifyInclusion({ ...inclusion, ...change })).toBe(holds)
  })

  test.each([
    ['as it is', {}, true],
    ['with a hash more', { path: [...consistency.path, hash(1)] }, false],
    ['with a hash less', { path: consistency.path.slice(0, -1) }, false],
    ['with none', { path: [] }, false],
    ['with one short hash', { path: [hash(1).slice(1), ...consistency.path.slice(1)] }, false],
    ['of a short root', { fromRoot: hash(1).slice(1) }, false],
    ['from an empty log', { from: 0n }, false],
    ['to a smaller log', { to: 8n }, false],
  ])('A path between two roots is judged %s.', (_, change, holds) => {
    expect(verifyConsistency({ ...consistency, ...change })).toBe(holds)
  })

  test('is told step by step, with the side of each hash', () => {
    const { steps, root } = pathSteps(proofAt(13))
    expect(steps.map(({ side }) => side)).toEqual(['left', 'right', 'left', 'right'])
    expect(steps[0]?.hash).toBe(proofAt(13).leaf)
    expect(root).toBe(proofAt(13).checkpoint.root)
  })

  test('is of whole hashes: none whose bytes are cut at another place', () => {
    // The same bytes in the same order, and so the same root.
    const [first = hash(0), ...rest] = inclusion.path
    const longer = new Uint8Array([...first, inclusion.leaf[0] ?? 0])
    const cut = { leaf: inclusion.leaf.slice(1), path: [longer, ...rest] }
    expect(verifyInclusion({ ...inclusion, ...cut })).toBe(false)
  })

  test('between a log and itself is empty, and its root one', () => {
    const same = { ...consistency, to: 9n, toRoot: consistency.fromRoot, path: [] }
    expect(verifyConsistency(same)).toBe(true)
    expect(verifyConsistency({ ...same, toRoot: hash(1) })).toBe(false)
    expect(verifyConsistency({ ...same, path: [hash(1)] })).toBe(false)
  })
})

describe('what is read', () => {
  test('options without a chain ask for what can be had', () => {
    const of = (options: unknown) => readVerifyRequest({ receipt: fileOf(), options })
    expect(of({})).toMatchObject({ ok: true, request: { chain: 'auto' } })
    expect(of(null)).toMatchObject({ ok: true, request: { chain: 'auto' } })
    expect(of({ chain: 'require' })).toMatchObject({ ok: true, request: { chain: 'require' } })
    expect(of({ chain: 'maybe' })).toMatchObject({ ok: false })
    expect(of('auto')).toMatchObject({ ok: false })
  })

  test('The reader takes hex only behind 0x.', () => {
    expect(() => fromHex('00')).toThrow('0x')
    expect(() => fromHex('xx00')).toThrow('0x')
    expect(fromHex('0x00ff')).toEqual(new Uint8Array([0, 255]))
  })

  test('Text of a file is quoted with 100 characters, and control characters are replaced.', () => {
    expect(told('a'.repeat(100))).toBe('a'.repeat(100))
    expect(told('a'.repeat(101))).toBe(`${'a'.repeat(100)}…`)
    expect(told('a\u001b[2J\u202e')).toBe('a?[2J?')
  })

  test('whom a page trusts is whom the service named', () => {
    const whole = {
      signers: [
        { address: testSigner.address, fromIndex: 0n, untilIndex: 8n },
        { address: testSigner.address, fromIndex: 9n },
      ],
      issuers: [facts.issuer],
      chain: evidenceAt(13),
    }
    expect(toTrust(toPagePayload(fileOf(), whole, 7))).toEqual(whole)
    expect(toPagePayload(fileOf(), {}, 7)).toEqual({
      ...{ file: fileOf(), signers: [], issuers: [], chain: null, now: 7 },
    })
    expect(toPagePayload(fileOf(), { signers: [{ address: 'a' }] }, 7).signers).toEqual([
      { address: 'a', from: '0', until: null },
    ])
    expect(toTrust({ signers: [], issuers: [], chain: null })).toEqual({ signers: [], issuers: [] })
  })
})
