import { describe, expect, test } from 'bun:test'
import { signerFromHex } from '../../src/proof/signer/signer.ts'
import { toChecksumAddress } from '../../src/verify/address.ts'
import { encodeType } from '../../src/verify/eip712.ts'
import {
  checkLiabilities,
  type LiabilitiesFile,
  type LiabilitiesTrust,
} from '../../src/verify/liabilities.ts'
import { sumsBelow } from '../../src/verify/sum-tree.ts'
import { changed } from '../proof/liabilities/publishing.ts'
import { promise } from '../support/promise.ts'
import { accountFor, leafFor, liabilitiesFileOf, nonceFor, signed } from './liabilities-samples.ts'
import { testSigner } from './samples.ts'

const trust: LiabilitiesTrust = {
  signers: [{ address: testSigner.address }],
  issuers: ['https://gw.example'],
  account: accountFor(2),
  since: 1_790_000_000_000,
}

/** Each check with its outcome. */
const judge = (file: unknown, more: LiabilitiesTrust = {}) =>
  Object.fromEntries(
    checkLiabilities(file, { ...trust, ...more }).map(({ name, status, reason }) => [
      name,
      `${status}: ${reason}`,
    ]),
  )

/** Names of the checks that do not pass. */
const wrongIn = (file: unknown, more: LiabilitiesTrust = {}): string[] =>
  checkLiabilities(file, { ...trust, ...more })
    .filter(({ status }) => status !== 'pass')
    .map(({ name, status }) => `${name} ${status}`)

const good = liabilitiesFileOf()
const own = (file: LiabilitiesFile) => file.own as NonNullable<LiabilitiesFile['own']>
const account = toChecksumAddress(accountFor(2))

describe('a file of liabilities', () => {
  test('holds, as a tree written by other code', () => {
    expect(judge(good)).toEqual({
      schema: 'pass: The file is one of version 1.',
      issuer: 'pass: The issuer is the expected one.',
      signature: `pass: ${testSigner.address} is a trusted signer at log index 0.`,
      inclusion: 'pass: It is leaf 0 of the 1 under the root of the log.',
      checkpoint: `pass: ${testSigner.address} is a trusted signer at log index 0.`,
      age: 'pass: Statement 3 is of 2026-09-21T14:13:20.000Z.',
      account: `pass: It counts ${account} with $0.00000007.`,
      sum: 'pass: The balance is part of the total of $0.000000084.',
    })
    for (const whose of [0, 1, 2, 3]) {
      expect(wrongIn(liabilitiesFileOf({ whose }), { account: accountFor(whose) })).toEqual([])
    }
    expect(
      wrongIn(liabilitiesFileOf({ balances: [4n], whose: 0 }), { account: accountFor(0) }),
    ).toEqual([])
    expect(encodeType('Liabilities')).toBe(
      'Liabilities(string issuer,uint64 number,bytes32 previous,uint64 as_of,uint64 leaves,' +
        'bytes32 root,uint64 total_nusd,address treasury,address token,uint64 treasury_nusd,' +
        'uint64 block)',
    )
  })

  test('says what a reader who names less does not know', () => {
    const nothing = checkLiabilities(good, {})
    const told = Object.fromEntries(nothing.map(({ name, status }) => [name, status]))
    expect(told).toEqual({
      schema: 'pass',
      issuer: 'skip',
      signature: 'unavailable',
      inclusion: 'pass',
      checkpoint: 'unavailable',
      age: 'skip',
      account: 'unavailable',
      sum: 'pass',
    })
    expect(judge(good, { account: undefined })['account']).toBe(
      `unavailable: It counts ${account} with $0.00000007; no account was named to compare with.`,
    )
    expect(judge(good, { issuers: undefined })['issuer']).toBe(
      'skip: No issuer was named to compare with.',
    )
    expect(judge(good, { since: undefined })['age']).toBe(
      'skip: Statement 3 is of 2026-09-21T14:13:20.000Z; no earliest time was named.',
    )
  })

  test('about all accounts together counts none of them', () => {
    const { own: _, ...whole } = good
    expect(judge(whole, { account: undefined })).toMatchObject({
      account: 'skip: The file is about all accounts together.',
      sum: 'skip: The file has no path from an account to the total.',
    })
    expect(judge(whole)['account']).toBe(
      `fail: The file does not count ${accountFor(2)}: it has the total alone.`,
    )
  })
})

describe('a service that lies', () => {
  promise`D60`
  test('cannot pass off the proof of another account', () => {
    const other = liabilitiesFileOf({ whose: 0 })
    expect(judge(other)['account']).toBe(
      `fail: Expected the account ${accountFor(2)}; found ${toChecksumAddress(accountFor(0))}.`,
    )
    const relabelled = changed(other, (file) => {
      own(file).account = accountFor(2)
    })
    expect(wrongIn(relabelled)).toEqual(['sum fail'])
    expect(judge(good, { account: 'me' })['account']).toStartWith('fail: Expected the account me;')
  })

  promise`D60 C: An account that was left out, lowered or given the proof of another finds it out
    from its file alone; no negative leaf and no sum that wraps lowers the total.`
  test('cannot leave an account out, or lower or raise what it counts for', () => {
    const path =
      'fail: The path does not add up to the signed root and total: this balance is not in it.'
    const leaves = [5n, 0n, 9n, 9n].map((b, i) => leafFor(accountFor(i), nonceFor(i), b))
    for (const b of [69n, 71n, 0n]) {
      const lowered = liabilitiesFileOf({ balances: [5n, 0n, b, 9n] })
      const told = changed(lowered, (file) => {
        own(file).balance_nusd = '70'
      })
      expect(judge(told)['sum']).toBe(path)
    }
    const omitted = liabilitiesFileOf({
      leaves: leaves.toSpliced(2, 1, leafFor(accountFor(9), nonceFor(9), 0n)),
    })
    expect(wrongIn(omitted)).toEqual(['sum fail'])
  })

  promise`D60`
  test('cannot hide debts behind a negative leaf, or a sum that wraps', () => {
    const negative = leafFor(accountFor(8), nonceFor(8), -50n)
    const leaves = [5n, 0n, 70n].map((b, i) => leafFor(accountFor(i), nonceFor(i), b))
    const file = liabilitiesFileOf({ leaves: [...leaves, negative], more: { total_nusd: '25' } })
    expect(wrongIn(file)).toEqual(['schema fail', ...skipped])
    expect(judge(file)['schema']).toContain('own.path[0].sum_nusd: not a decimal integer')
    const wrapping = leafFor(accountFor(8), nonceFor(8), sumsBelow - 50n)
    const wrapped = liabilitiesFileOf({
      leaves: [...leaves, wrapping],
      more: { total_nusd: '25' },
    })
    expect(wrongIn(wrapped)).toEqual(['sum fail'])
  })

  test('cannot sign a total that the tree does not have', () => {
    for (const total_nusd of ['83', '85', '0']) {
      expect(wrongIn(liabilitiesFileOf({ more: { total_nusd } }))).toEqual(['sum fail'])
    }
    const root = `0x${'11'.repeat(32)}`
    expect(wrongIn(liabilitiesFileOf({ more: { root } }))).toEqual(['sum fail'])
  })

  test('cannot move what a sibling holds from one side to the other', () => {
    const moved = changed(good, (file) => {
      const [first, second] = own(file).path
      if (!first || !second) throw new Error('no path')
      Object.assign(first, { sum_nusd: '4' })
      Object.assign(second, { sum_nusd: '10' })
    })
    expect(wrongIn(moved)).toEqual(['sum fail'])
  })

  test('cannot give a path of another length, or another place', () => {
    const short = changed(good, (file) => void own(file).path.pop())
    expect(judge(short)['sum']).toBe('fail: Expected a path of 2 steps; found 1.')
    for (const index of ['0', '3', '4', '6']) {
      const elsewhere = changed(good, (file) => {
        own(file).index = index
      })
      expect(wrongIn(elsewhere)).toEqual(['sum fail'])
    }
    for (const leaves of ['0', '3', '6', '8589934592', '1', '8']) {
      const status = wrongIn(liabilitiesFileOf({ more: { leaves } }))
      const isSize = leaves === '1' || leaves === '8'
      expect(status).toEqual(isSize ? ['sum fail'] : ['schema fail', ...skipped])
    }
    expect(judge(liabilitiesFileOf({ more: { leaves: '3' } }))['schema']).toBe(
      'fail: statement.leaves: not a power of two up to 2^32',
    )
  })

  test('cannot show an old statement to one who says how old it may be', () => {
    expect(judge(good, { since: 1_790_000_000_001 })['age']).toBe(
      'fail: Statement 3 is of 2026-09-21T14:13:20.000Z, which is before ' +
        '2026-09-21T14:13:20.001Z: ask for a newer one.',
    )
    const far = liabilitiesFileOf({ more: { as_of: '18446744073709551615' } })
    expect(judge(far)['age']).toBe('pass: Statement 3 is of 18446744073709551615 ms.')
  })

  test('cannot change a signed number, or sign with another key', () => {
    for (const [member, value] of Object.entries(good.statement)) {
      const other = value.startsWith('0x')
        ? value.replace(/.$/, (d) => (d === '1' ? '2' : '1'))
        : `${value}0`
      const edited = changed(good, (file) => {
        Object.assign(file.statement, { [member]: other })
      })
      expect(wrongIn(edited).some((one) => one.endsWith(' fail'))).toBe(true)
    }
    const stranger = signerFromHex('11'.repeat(32))
    expect(wrongIn(signed(good, stranger))).toEqual(['signature fail', 'checkpoint fail'])
    const retired = { signers: [{ address: testSigner.address, fromIndex: 1n }] }
    expect(wrongIn(good, retired)).toEqual(['signature fail', 'checkpoint fail'])
    const broken = changed(good, (file) => {
      file.signature = '0x'
      file.log.checkpoint.signature = '0x'
    })
    expect(judge(broken)).toMatchObject({
      signature: 'fail: It is not 65 bytes of lower-case hex.',
      checkpoint: 'fail: It is not 65 bytes of lower-case hex.',
    })
  })

  test('cannot keep a statement out of the log, or in that of another', () => {
    const elsewhere = changed(good, (file) => {
      file.log.index = '1'
    })
    expect(judge(elsewhere)['inclusion']).toBe(
      'fail: The path does not lead from leaf 1 to the root of the log.',
    )
    const alien = changed(good, (file) => {
      file.log.checkpoint.issuer = 'https://other.example'
    })
    expect(judge(alien)['checkpoint']).toBe(
      'fail: Expected a checkpoint of https://gw.example; found one of https://other.example.',
    )
    expect(judge(good, { issuers: ['https://a.example', 'b'] })['issuer']).toBe(
      'fail: Expected the issuer https://a.example or b; found https://gw.example.',
    )
    const later = { signers: [{ address: testSigner.address, untilIndex: 0n }] }
    expect(judge(good, later)['checkpoint']).toContain('may not sign at log index 0')
  })
})

const skipped = ['issuer', 'signature', 'inclusion', 'checkpoint', 'age', 'account', 'sum'].map(
  (name) => `${name} skip`,
)
