import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Hex, hashTypedData, recoverAddress } from 'viem'
import { canonical } from '../../../src/kernel/canonical.ts'
import { sha256 } from '../../../src/kernel/hash.ts'
import { toHex } from '../../../src/kernel/hex.ts'
import {
  failuresOf,
  type StatementFile,
  statementDigest,
} from '../../../src/proof/passports/statement.ts'
import { leafHash, leafKinds } from '../../../src/verify/merkle.ts'
import { auditsOf } from '../../support/sharing.ts'
import { engines, type World, world } from '../../support/world.ts'
import { arrive, ask, countAll, type Person, shown } from './office.ts'

const types = {
  PassportStatement: [
    { name: 'handle', type: 'string' },
    { name: 'asOfSize', type: 'uint64' },
    { name: 'record', type: 'bytes32' },
  ],
} as const
const domain = { name: 'Counterfoil Receipt', version: '1', chainId: 4663 } as const

/** The digest as a library of others makes it. */
const digestByViem = (handle: string, asOfSize: bigint, record: string): Hex =>
  hashTypedData({
    domain,
    types,
    primaryType: 'PassportStatement',
    message: { handle, asOfSize, record: toHex(sha256(record)) },
  })

test.each([
  ['harbor-lab', 0n, '{}'],
  ['a-b-c', 248_113n, '{"runs":1}'],
  ['z'.repeat(30), 2n ** 53n, '"ü"'],
])('the digest of %p at %p is what viem makes of it', (handle, size, record) => {
  expect(toHex(statementDigest(handle, size, record))).toBe(digestByViem(handle, size, record))
})

describe.each(engines)('a signed statement on %s', (engine) => {
  let w: World
  let one: Person
  let secret: string
  beforeAll(async () => {
    w = await world({ engine })
    one = await arrive(w)
    await one.publish('ledger-lady')
    secret = (await one.bound('ledger-lady')).secret
  }, 60_000)
  afterAll(() => w.stop())

  const file = async (handle = 'ledger-lady'): Promise<StatementFile> =>
    (await w.call(`/passports/${handle}/statement`)).json()
  const trusted = async () => {
    const signer = await (await w.call('/v1/signer')).json()
    return [
      { address: signer.address, fromIndex: BigInt(signer.from_index), untilIndex: null },
    ] as const
  }
  const sizeOf = () => w.deps.logStore.size()

  test('409 before anything is counted, 404 for its file', async () => {
    const { status, body } = await one.post('/ledger-lady/statement')
    expect([status, body.error.type]).toEqual([409, 'conflict'])
    expect((await w.call('/passports/ledger-lady/statement')).status).toBe(404)
    expect((await shown(w, 'ledger-lady')).body.statement).toBeNull()
  })

  test('is a leaf of kind 3 that the signer signed, proven under a checkpoint', async () => {
    await ask(w, secret)
    await countAll(w)
    const before = await sizeOf()
    const { body } = await one.post('/ledger-lady/statement')
    const made = await file()
    expect(failuresOf(made, await trusted())).toEqual([])
    expect(made.log_index).toBe(String(before))
    expect(made.record).toEqual(body.track_record)
    const record = canonical(made.record)
    const digest = digestByViem('ledger-lady', BigInt(made.as_of_size), record)
    expect(made.digest).toBe(digest)
    const signer = await recoverAddress({ hash: digest, signature: made.signature })
    expect(signer).toBe((await trusted())[0].address)
    const leaf = leafHash(
      leafKinds.passportStatement,
      statementDigest('ledger-lady', BigInt(made.as_of_size), record),
    )
    expect(made.proof?.leaf).toBe(toHex(leaf))
    const seen = (await shown(w, 'ledger-lady')).body.statement
    expect(seen).toMatchObject({ digest, log_index: made.log_index })
    expect((await auditsOf(w, 'ledger-lady')).at(-1)?.action).toBe('passport.statement')
  })

  test('says when any part of it is changed', async () => {
    const made = await file()
    const allowed = await trusted()
    const proof = made.proof
    if (!proof) throw new Error('no proof')
    const worse = (text: string) => `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}` as Hex
    const changed: [Partial<StatementFile>, string][] = [
      [{ handle: 'ledger-lad' }, 'digest'],
      [{ record: { ...made.record, runs: 99 } }, 'record'],
      [{ record_hash: worse(made.record_hash) }, 'record'],
      [{ as_of_size: '9' }, 'digest'],
      [{ digest: worse(made.digest) }, 'digest'],
      [{ signature: worse(made.signature.slice(0, -2)).concat('1b') as Hex }, 'signature'],
      [{ signer: one.wallet.address }, 'signature'],
      [{ log_index: '0' }, 'inclusion'],
      [{ proof: { ...proof, leaf: worse(proof.leaf) } }, 'inclusion'],
      [{ proof: { ...proof, path: proof.path.map(worse) } }, 'inclusion'],
    ]
    for (const [part, check] of changed) {
      expect(failuresOf({ ...made, ...part }, allowed)).toContain(check as never)
    }
    expect(failuresOf(made, [])).toEqual(['signer'])
    const { proof: _, ...bare } = made
    expect(failuresOf(bare, allowed)).toEqual(['inclusion'])
    const ended = allowed.map((one) => ({ ...one, untilIndex: BigInt(made.log_index) }))
    expect(failuresOf(made, ended)).toEqual(['signer'])
  })

  test('of one state of the log there is one, however often it is asked for', async () => {
    const before = await sizeOf()
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => one.post('/ledger-lady/statement')),
    )
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(await sizeOf()).toBe(before)
    await ask(w, secret)
    await countAll(w)
    await Promise.all(Array.from({ length: 10 }, () => one.post('/ledger-lady/statement')))
    expect(await sizeOf()).toBe(before + 2)
    const told = (await auditsOf(w, 'ledger-lady')).filter(
      ({ action }) => action === 'passport.statement',
    )
    expect(told).toHaveLength(2)
    expect(failuresOf(await file(), await trusted())).toEqual([])
  })

  test('receipts and statements lie in the log beside each other without a gap', async () => {
    const id = await ask(w, secret)
    await w.deps.sequencer.flush()
    const proof = await (await w.call(`/v1/receipts/${id}/proof`)).json()
    expect(Number(proof.index)).toBe((await sizeOf()) - 1)
    const verdict = await (await w.call('/v1/receipts/verify', { json: { id } })).json()
    // A private receipt is none for everybody.
    expect(verdict.error.type).toBe('receipt_not_found')
  })

  test('the retirement of what was public leaves its last one in the log; of a draft none', async () => {
    await one.publish('last-words')
    const own = await one.bound('last-words')
    await ask(w, own.secret)
    await countAll(w)
    const before = await sizeOf()
    const { status, body } = await one.post('/last-words/retire')
    expect([status, body.status]).toEqual([200, 'retired'])
    expect(await sizeOf()).toBe(before + 1)
    expect(failuresOf({ ...body.statement, proof: undefined }, await trusted())).toEqual([
      'inclusion',
    ])
    expect(body.statement.record.runs).toBe(1)
    await one.post('', { handle: 'never-seen', display_name: 'x', kind: 'agent' })
    expect((await one.post('/never-seen/retire')).body.statement).toBeNull()
    expect(await sizeOf()).toBe(before + 1)
    expect((await w.call('/passports/last-words/statement')).status).toBe(410)
  })
})
