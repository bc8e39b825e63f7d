import { describe, expect, test } from 'bun:test'
import { parseSigner, readPolicy, trustBy } from '../../src/verify/policy.ts'
import { vkeyOf } from '../../src/verify/signed-note.ts'
import { promise } from '../support/promise.ts'
import { judge, statusOf } from './judge.ts'
import { testSigner } from './samples.ts'
import { logNoteKey, sampleWitnesses, witnessedFile } from './witness-samples.ts'

const [one, two, three] = sampleWitnesses
const named = (...of: (typeof one)[]) => of.map((w) => ({ name: w?.name, key: w?.vkey }))
const whole = {
  type: 'counterfoil.policy',
  version: '1',
  signers: [testSigner.address],
  issuer: 'https://gw.example',
  log: vkeyOf(logNoteKey),
  witnesses: named(one, two, three),
  quorum: 2,
  chain: 'skip',
}
const read = (change: object = {}) => readPolicy(JSON.stringify({ ...whole, ...change }))
const problemsOf = (change: object) => {
  const found = read(change)
  return found.ok ? [] : found.problems
}

describe('a policy', () => {
  test('names signers, the issuer, the log, witnesses with their quorum, and the chain', () => {
    const found = read()
    if (!found.ok) throw new Error(found.problems.join())
    const { signers, issuers, witnesses, chain } = found.policy
    expect([signers, issuers, chain]).toEqual([
      [{ address: testSigner.address }],
      ['https://gw.example'],
      'skip',
    ])
    expect(witnesses).toEqual({
      witnesses: sampleWitnesses.map(({ name, key }) => ({ name, key })),
      quorum: 2,
      log: [logNoteKey],
    })
  })

  promise`H15`
  test('decides what a receipt needs', () => {
    const verdictBy = (change: object) => {
      const found = read({ issuer: undefined, ...change })
      if (!found.ok) throw new Error(found.problems.join())
      return judge(witnessedFile(), trustBy(found.policy), { chain: found.policy.chain })
    }
    expect(verdictBy({}).valid).toBe(true)
    const strict = verdictBy({ quorum: 3 })
    expect([strict.valid, statusOf(strict, 'witnessed')]).toEqual([false, 'unavailable'])
    expect(verdictBy({ chain: 'require' }).valid).toBe(false)
    const stranger = verdictBy({ signers: ['0x0000000000000000000000000000000000000001'] })
    expect(statusOf(stranger, 'signer_authorized')).toBe('fail')
  })

  test('needs all of its witnesses unless it names a quorum, and may name nothing', () => {
    const found = read({ quorum: undefined })
    expect(found.ok && found.policy.witnesses?.quorum).toBe(3)
    const empty = readPolicy('{"type":"counterfoil.policy","version":"1"}')
    expect(empty).toEqual({ ok: true, policy: { chain: 'auto' } })
    expect(empty.ok && trustBy(empty.policy)).toEqual({})
    const few = read({ witnesses: named(one), quorum: 1, log: undefined })
    expect(few.ok && few.policy.witnesses).toEqual({
      witnesses: [{ name: one?.name ?? '', key: one?.key ?? logNoteKey }],
      quorum: 1,
    })
  })

  test.each([
    ['another type', { type: 'policy' }, 'type is not'],
    ['another version', { version: '2' }, 'version is not'],
    ['an unknown member', { quorom: 2 }, 'quorom is unknown'],
    ['no signers in the list', { signers: [] }, 'signers is not'],
    ['a signer that is none', { signers: [testSigner.address, '0x1'] }, 'signers is not'],
    ['a signer as a number', { signers: [1] }, 'signers is not'],
    ['signers outside of a list', { signers: testSigner.address }, 'signers is not'],
    ['an empty issuer', { issuer: '' }, 'issuer is not'],
    ['an issuer as a number', { issuer: 1 }, 'issuer is not'],
    ['another word for the chain', { chain: 'maybe' }, 'chain is not'],
    ['no witnesses for its quorum', { witnesses: undefined }, 'witnesses is not a list'],
    ['no witnesses for its log', { witnesses: undefined, quorum: undefined }, 'witnesses is not'],
    ['an empty list of witnesses', { witnesses: [] }, 'witnesses is not a list'],
    ['a quorum of none', { quorum: 0 }, 'quorum is not'],
    ['a quorum beyond its witnesses', { quorum: 4 }, 'quorum is not'],
    ['half a witness as quorum', { quorum: 1.5 }, 'quorum is not'],
    ['a quorum as text', { quorum: '2' }, 'quorum is not'],
    ['a witness twice', { witnesses: named(one, two, one) }, 'witnesses names a key twice'],
    ['a log as witness', { witnesses: [{ name: 'a', key: whole.log }] }, 'witnesses[0] is not'],
    ['a witness without a name', { witnesses: [{ key: one?.vkey }] }, 'witnesses[0] is not'],
    ['an empty name', { witnesses: [{ name: '', key: one?.vkey }] }, 'witnesses[0] is not'],
    ['a witness without a key', { witnesses: [{ name: 'a' }] }, 'witnesses[0] is not'],
    [
      'a member more of a witness',
      { witnesses: [{ name: 'a', key: one?.vkey, url: 'x' }] },
      'witnesses[0] is not',
    ],
    ['a witness as a number', { witnesses: [1] }, 'witnesses[0] is not'],
    ['a witness as log', { log: one?.vkey }, 'log is not'],
    ['a log without a key', { log: 'a' }, 'log is not'],
    ['a log as a number', { log: 1 }, 'log is not'],
    [
      'a quorum without witnesses',
      { witnesses: undefined, log: undefined },
      'witnesses is not a list',
    ],
    ['a key of the log alone', { witnesses: undefined, quorum: undefined }, 'witnesses is not a'],
    ['no key in the list of a log', { log: [] }, 'log is not'],
    ['a witness among the keys of a log', { log: [whole.log, one?.vkey] }, 'log is not'],
    ['a number among the keys of a log', { log: [whole.log, 1] }, 'log is not'],
  ])('A policy is refused with %s.', (_, change, problem) => {
    expect(problemsOf(change).join('; ')).toContain(problem)
  })

  test('takes up to 32 keys of a log: those of before and after rotations', () => {
    const found = read({ log: [whole.log, whole.log] })
    expect(found.ok && found.policy.witnesses?.log).toEqual([logNoteKey, logNoteKey])
    expect(problemsOf({ log: Array(32).fill(whole.log) })).toEqual([])
    expect(problemsOf({ log: Array(33).fill(whole.log) })).toHaveLength(1)
  })

  test('takes 32 witnesses and no more', () => {
    const many = Array.from({ length: 33 }, () => ({ name: 'a', key: one?.vkey }))
    expect(problemsOf({ witnesses: many })).toContain('witnesses is not a list of 1 to 32')
    expect(problemsOf({ witnesses: many.slice(1) })).toEqual(['witnesses names a key twice'])
  })

  test('is refused outside of an object, and where it says something twice', () => {
    expect(readPolicy('[')).toEqual({ ok: false, problems: ['it is not a JSON object'] })
    expect(readPolicy('[]')).toEqual({ ok: false, problems: ['it is not a JSON object'] })
    const twice = JSON.stringify(whole).replace('{', '{"quorum":1,')
    expect(readPolicy(twice)).toEqual({ ok: false, problems: ['quorum is there twice'] })
  })
})

describe('a signer', () => {
  const { address } = testSigner
  test('is an address alone, or for a range of the log', () => {
    expect(parseSigner(address)).toEqual({ address })
    expect(parseSigner(`${address}@12-`)).toEqual({ address, fromIndex: 12n })
    const range = { address, fromIndex: 12n, untilIndex: 40n }
    expect(parseSigner(`${address}@12-40`)).toEqual(range)
  })

  test.each(['', 'x', `${address}@`, `${address}@12`, `${address}@-4`, `${address}@1-2-3`])(
    'is none as %p',
    (text) => {
      expect(parseSigner(text)).toBeUndefined()
    },
  )
})
