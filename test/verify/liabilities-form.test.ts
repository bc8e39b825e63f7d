import { describe, expect, test } from 'bun:test'
import { sha256 } from '@noble/hashes/sha2.js'
import { checkLiabilities, type LiabilitiesFile } from '../../src/verify/liabilities.ts'
import { liabilityVerdict, shownLiabilities } from '../../src/verify/shown-liabilities.ts'
import {
  nodeBytes,
  type SumNode,
  sumLeaf,
  sumsBelow,
  verifySum,
} from '../../src/verify/sum-tree.ts'
import { changed } from '../proof/liabilities/publishing.ts'
import { accountFor, leafFor, liabilitiesFileOf, nonceFor, treeOf } from './liabilities-samples.ts'
import { testSigner } from './samples.ts'

const trust = { signers: [{ address: testSigner.address }], account: accountFor(2) }
const good = liabilitiesFileOf()
const own = (file: LiabilitiesFile) => file.own as NonNullable<LiabilitiesFile['own']>
const reasonsOf = (file: unknown) =>
  Object.fromEntries(
    checkLiabilities(file, trust).map(({ name, status, reason }) => [name, `${status}: ${reason}`]),
  )

describe('the form of a file', () => {
  const schemaOf = (file: unknown) => reasonsOf(file)['schema']
  const edit = (change: (file: Record<string, never>) => void) => {
    const copy = structuredClone(good) as unknown as Record<string, never>
    change(copy)
    return schemaOf(copy)
  }

  test('The form of a liabilities file is read strictly.', () => {
    expect(schemaOf(null)).toBe('fail: : not an object')
    expect(schemaOf([])).toBe('fail: : not an object')
    const cases: [path: string, value: unknown, told: string][] = [
      ['type', 'x', 'type: not "counterfoil.liabilities"'],
      ['version', '2', 'version: not "1"'],
      ['more', 1, 'more: unknown member'],
      ['signature', 5, 'signature: not text'],
      ['statement', null, 'statement: not an object'],
      ['statement.total_nusd', 84, 'statement.total_nusd: not text'],
      ['statement.more', '1', 'statement.more: unknown member'],
      ['log', 1, 'log: not an object'],
      ['log.more', 1, 'log.more: unknown member'],
      ['log.index', '-1', 'log.index: not a decimal integer below 2^64'],
      ['log.checkpoint', {}, 'log.checkpoint.issuer: missing'],
      ['log.path', {}, 'log.path: not a list'],
      ['log.path', ['0x'], 'log.path[0]: not 32 bytes of lower-case hex'],
      ['log.path', Array(65).fill(nonceFor(0)), 'log.path: more than 64 hashes'],
      ['own', null, 'own: not an object'],
      ['own.more', 1, 'own.more: unknown member'],
      ['own.account', '0x1', 'own.account: not an address'],
      ['own.balance_nusd', '-1', 'own.balance_nusd: not a decimal integer below 2^64'],
      ['own.nonce', '0x', 'own.nonce: not 32 bytes of lower-case hex'],
      ['own.index', '01', 'own.index: not a decimal integer below 2^64'],
      ['own.path', 'x', 'own.path: not a list'],
      ['own.path', [7], 'own.path[0]: not an object'],
      ['own.path', Array(33).fill({}), 'own.path: more than 32 steps'],
      ['own.path', [{ hash: '0x', sum_nusd: '1' }], 'own.path[0].hash: not 32 bytes'],
      ['own.path', [{ hash: nonceFor(0), sum_nusd: '' }], 'own.path[0].sum_nusd: not a decimal'],
      ['own.path', [{ hash: nonceFor(0), sum_nusd: '1', a: 1 }], 'own.path[0].a: unknown member'],
    ]
    for (const [path, value, told] of cases) {
      const steps = path.split('.')
      const last = steps.pop() ?? ''
      expect(
        edit((file) => {
          const at = steps.reduce((to, step) => to[step] as never, file)
          Object.assign(at, { [last]: value })
        }),
      ).toStartWith(`fail: ${told}`)
    }
  })

  test('is not judged when its text repeats a member', () => {
    const [first, ...rest] = checkLiabilities(good, trust, [{ path: 'own', message: 'repeated' }])
    expect(first).toEqual({ name: 'schema', status: 'fail', reason: 'own: repeated' })
    expect(rest.map(({ status, reason }) => `${status}: ${reason}`)).toEqual(
      Array(7).fill('skip: The file could not be read.'),
    )
  })

  test('allows paths of the longest trees', () => {
    const long = changed(good, (file) => {
      file.log.path = Array(64).fill(nonceFor(0))
      own(file).path = Array(32).fill({ hash: nonceFor(0), sum_nusd: '0' })
      Object.assign(file.statement, { leaves: String(2 ** 32) })
    })
    expect(reasonsOf(long)['schema']).toBe('pass: The file is one of version 1.')
    expect(reasonsOf(long)['sum']).toStartWith('fail: ')
  })
})

test('A page shows each check that was made, as good, as undecided or as bad', () => {
  const shown = (file: unknown, more: object) =>
    shownLiabilities(checkLiabilities(file, more)).map(({ result, label }) => `${result}: ${label}`)
  expect(shown(good, {})).toEqual([
    'ok: The file is whole',
    'wait: Signed by this service',
    'ok: In the public log',
    'wait: The log is signed',
    'wait: It counts your account',
    'ok: Your balance is part of the total',
  ])
  expect(shown(null, trust)).toEqual(['bad: The file cannot be read'])
  const other = { ...trust, issuers: ['https://a.example'], since: 1_800_000_000_000 }
  expect(shown(good, { ...other, account: accountFor(1) })).toEqual([
    'ok: The file is whole',
    'bad: It is of another service',
    'ok: Signed by this service',
    'ok: In the public log',
    'ok: The log is signed',
    'bad: It is too old',
    'bad: It counts another account',
    'ok: Your balance is part of the total',
  ])
})

test('A verdict says what fails, what was not named, and what a good file shows', () => {
  const verdict = (file: unknown, more: object = trust) =>
    Object.values(liabilityVerdict(checkLiabilities(file, more)))
  const bad = (many: string) => ['bad', 'Not valid', `${many}. Do not rely on this file.`]
  const unsure = (lacks: string) => [
    ...['unsure', 'Undecided', `Nothing fails, but ${lacks} to compare with.`],
  ]
  const { own: _, ...whole } = good
  expect(verdict(good)).toEqual(['good', 'Counted', 'This balance is part of the signed total.'])
  const all = { signers: trust.signers }
  expect(verdict(whole, all)).toEqual(['good', 'Signed and logged', 'It has the total alone.'])
  expect(verdict(null)).toEqual(bad('One check fails'))
  expect(verdict(good, { ...trust, account: accountFor(1), since: 2e12 })).toEqual(
    bad('2 checks fail'),
  )
  expect(verdict(good, {})).toEqual(unsure('no trusted signer was given'))
  expect(verdict(good, { account: accountFor(2) })).toEqual(unsure('no trusted signer was given'))
  expect(verdict(good, all)).toEqual(unsure('no account was named'))
  // A log whose head a stranger signed is not a log of this service.
  const strange = changed(good, (file) => {
    file.log.checkpoint.signature = `0x${'11'.repeat(64)}1b`
  })
  expect(verdict(strange)[0]).toBe('bad')
})

describe('a sum tree', () => {
  const hash = new Uint8Array(32).fill(1)
  const leaf = sumLeaf(new Uint8Array(32), new Uint8Array(20), 1n)

  test('binds the sums of both sides', () => {
    expect(() => nodeBytes({ hash, sum: -1n }, { hash, sum: 0n })).toThrow('not a sum')
    expect(() => nodeBytes({ hash, sum: 0n }, { hash, sum: sumsBelow })).toThrow('not a sum')
    const bytes = nodeBytes({ hash, sum: 1n }, { hash, sum: sumsBelow - 1n })
    expect([bytes[0], bytes[8], bytes[41], bytes[48]]).toEqual([4, 1, 255, 255])
    expect(bytes.length).toBe(81)
  })

  test('takes no node that is none', () => {
    const claim = { index: 0n, leaf, path: [], root: leaf }
    expect(verifySum(claim)).toBe(true)
    expect(verifySum({ ...claim, index: 1n })).toBe(false)
    expect(verifySum({ ...claim, index: -1n })).toBe(false)
    expect(verifySum({ ...claim, root: { ...leaf, sum: 2n } })).toBe(false)
    const short = { hash: hash.subarray(1), sum: 1n }
    expect(verifySum({ ...claim, leaf: short, root: short })).toBe(false)
    const negative = { hash, sum: -1n }
    expect(verifySum({ ...claim, leaf: negative, root: negative })).toBe(false)
    const huge = { hash, sum: sumsBelow }
    expect(verifySum({ ...claim, leaf: huge, root: huge })).toBe(false)
    for (const sibling of [short, negative, huge, { hash, sum: sumsBelow - 1n }]) {
      expect(verifySum({ ...claim, path: [sibling] })).toBe(false)
    }
    const many = Array(33).fill({ hash, sum: 0n })
    expect(verifySum({ ...claim, path: many })).toBe(false)
  })

  test('has paths of 32 steps and no more', () => {
    const above = (node: SumNode): SumNode => {
      const sibling = { hash, sum: 0n }
      return { hash: sha256(nodeBytes(node, sibling)), sum: node.sum }
    }
    let root = leaf
    const path: SumNode[] = []
    for (; path.length < 32; path.push({ hash, sum: 0n })) root = above(root)
    const claim = { index: 0n, leaf, path, root }
    expect(verifySum(claim)).toBe(true)
    const longer = { ...claim, path: [...path, { hash, sum: 0n }], root: above(root) }
    expect(verifySum(longer)).toBe(false)
  })

  test('adds up to the largest sum and no further', () => {
    const most = [sumsBelow - 2n, 1n].map((sum, i) => leafFor(accountFor(i), nonceFor(i), sum))
    const { root, paths } = treeOf(most)
    const [own, sibling] = [most[0], paths[0]?.[0]]
    if (!own || !sibling) throw new Error('no leaf')
    expect(verifySum({ index: 0n, leaf: own, path: [sibling], root })).toBe(true)
  })
})
