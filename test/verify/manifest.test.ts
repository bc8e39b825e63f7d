import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { toHex } from '../../src/kernel/hex.ts'
import { readCsv } from '../../src/verify/csv-records.ts'
import { structDigest } from '../../src/verify/eip712.ts'
import { checkExport, manifestDigest } from '../../src/verify/manifest.ts'
import { testSigner } from './samples.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const head = { issuer: 'https://gw.example', size: '12', root: `0x${'ab'.repeat(32)}` as const }

/** A manifest over a text, signed by the test key. */
function manifestOf(text: string, more: object = {}) {
  const signed = { ...head, timestamp: '1790000000000' }
  const signature = toHex(testSigner.sign(structDigest('Checkpoint', signed)))
  const facts = {
    rows: 2,
    sum_nusd: 30 as number | string,
    as_of: 12,
    sha256: createHash('sha256').update(text).digest('hex'),
    checkpoint: { ...signed, signature },
    ...more,
  }
  const own = toHex(testSigner.sign(manifestDigest(facts)))
  return { type: 'counterfoil.manifest', ...facts, signature: own }
}

const trusted = [{ address: testSigner.address }]
const judge = (text: string, manifest: unknown = manifestOf(text), by: object[] = trusted) =>
  Object.fromEntries(
    checkExport({ data: bytesOf(text), manifest }, by as never).map(({ name, status, reason }) => [
      name,
      `${status}: ${reason}`,
    ]),
  )

const json = '{"cost_nusd":10}\n{"cost_nusd":20}\n'

test('A manifest whose text repeats a member is not judged', () => {
  const problems = [{ path: 'rows', message: 'repeated' }]
  const file = { data: bytesOf(json), manifest: manifestOf(json), problems }
  const [first, ...rest] = checkExport(file, trusted)
  expect(first).toEqual({ name: 'manifest', status: 'fail', reason: 'rows: repeated' })
  expect(rest.map(({ status }) => status)).toEqual(['skip', 'skip', 'skip', 'skip'])
})

describe('the rows of an export', () => {
  test('are counted with their costs, or without where FOCUS has no such column', () => {
    const sum = 'pass: The file has 2 rows, which cost 30 nUSD.'
    for (const text of [json, 'cost_nusd,a\n10,x\n20,y\n', 'a,cost_nusd\r\nx,10\r\ny,20\r\n']) {
      expect(judge(text)['rows']).toBe(sum)
    }
    expect(judge('BilledCost\n0.1\n0.2\n')['rows']).toBe('pass: The file has 2 rows.')
    expect(judge('', manifestOf('', { rows: 0, sum_nusd: 0 }))['rows']).toBe(
      'pass: The file has 0 rows, which cost 0 nUSD.',
    )
  })

  test('are compared one by one with the manifest', () => {
    const rows = (text: string, more = {}) => judge(text, manifestOf(text, more))['rows']
    expect(rows(json, { rows: 3 })).toBe('fail: Expected 3 rows; found 2.')
    expect(rows(json, { sum_nusd: 31 })).toBe('fail: Expected costs of 31 nUSD; found 30.')
    const unreadable = 'fail: The file has rows that cannot be read.'
    expect(rows('{"cost_nusd":10}\n{"cost_nusd":-1}\n')).toBe(unreadable)
    expect(rows('{"cost_nusd":10}\n[]\n')).toBe(unreadable)
    expect(rows('{"cost_nusd":10}\n{\n')).toBe(unreadable)
    expect(rows('a,cost_nusd\n1,10\n1\n')).toBe(unreadable)
    const large = '9000000000000001'
    const text = `cost_nusd\n9000000000000000\n1\n`
    expect(rows(text, { sum_nusd: large })).toBe(
      `pass: The file has 2 rows, which cost ${large} nUSD.`,
    )
  })
})

describe('a manifest', () => {
  test('is signed by a trusted key, and so is its checkpoint at the last leaf that it covers', () => {
    const all = judge(json)
    expect(Object.values(all).every((said) => said.startsWith('pass'))).toBe(true)
    const { address } = testSigner
    const range = (fromIndex: bigint, untilIndex: bigint) => [{ address, fromIndex, untilIndex }]
    const said = (by: object[]) => judge(json, manifestOf(json), by)['checkpoint']
    expect(said(range(11n, 12n))).toStartWith('pass')
    expect(said(range(12n, 13n))).toStartWith('fail')
    expect(said(range(10n, 11n))).toStartWith('fail')
    const { checkpoint } = manifestOf(json)
    const broken = { ...checkpoint, signature: `0x${'00'.repeat(65)}` }
    expect(judge(json, manifestOf(json, { checkpoint: broken }))['checkpoint']).toStartWith(
      'fail: Its last byte',
    )
    const unsigned = { ...manifestOf(json), signature: '0x00' }
    expect(judge(json, unsigned)['signature']).toStartWith('fail: It is not 65 bytes')
    const none = judge(json, manifestOf(json, { checkpoint: null }))
    expect(none['checkpoint']).toBe('skip: The manifest names no checkpoint of the log.')
    expect(none['signature']).toStartWith('pass')
  })

  test('takes whole numbers, text only for a sum beyond them, and a whole checkpoint', () => {
    const first = (more: object) => judge(json, { ...manifestOf(json), ...more })['manifest']
    expect(first({ rows: 0, as_of: 0, sum_nusd: 0 })).toStartWith('pass')
    expect(first({ rows: Number.MAX_SAFE_INTEGER + 1 })).toBe('fail: rows: not a whole number')
    for (const [name, value] of [
      ['rows', '1234567890123456'],
      ['as_of', '1234567890123456'],
      ['sum_nusd', '0234567890123456'],
      ['sum_nusd', null],
      ['rows', undefined],
    ] as const) {
      expect(first({ [name]: value })).toBe(`fail: ${name}: not a whole number`)
    }
    expect(first({ checkpoint: 7 })).toStartWith('fail: checkpoint')
    expect(first({ rows: -1, as_of: -1 })).toBe(
      'fail: rows: not a whole number; as_of: not a whole number',
    )
    const problems = [{ path: 'rows', message: 'given twice' }]
    const twice = checkExport(
      { data: bytesOf(json), manifest: manifestOf(json), problems },
      trusted,
    )
    expect([twice[0]?.status, twice[1]?.status]).toEqual(['fail', 'skip'])
  })
})

test('CSV is read with its quotes, line breaks and empty fields, and without a last line break.', () => {
  const cases: [string, string[][]][] = [
    ['', []],
    ['a', [['a']]],
    ['a,', [['a', '']]],
    [',\n', [['', '']]],
    [
      'a,b\r\nc,d\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['"a,b","c""d"\r\n', [['a,b', 'c"d']]],
    ['"x\r\ny",z\n', [['x\r\ny', 'z']]],
    ['"","a"b\n', [['', 'ab']]],
    ['a\n\nb\n', [['a'], [''], ['b']]],
  ]
  for (const [text, records] of cases) expect(readCsv(text)).toEqual(records)
})
