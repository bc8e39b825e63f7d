import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { ensureLogs } from '../../../src/proof/log/store/logs.ts'
import { type Signer, signerFromHex } from '../../../src/proof/signer/signer.ts'
import { ensureSigners } from '../../../src/proof/signer/store.ts'
import { nodeLease, takeLease } from '../../../src/storage/db/engine/lease.ts'
import { insert, rows, update } from '../../../src/storage/db/sql/query-steps.ts'
import { newAccount, openOffice } from '../../ledger/office.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { testSigner } from '../../verify/samples.ts'

setDefaultTimeout(60_000)

const now = Date.UTC(2026, 0, 1)

describe('the name of the first log', () => {
  let office: Awaited<ReturnType<typeof openOffice>>
  beforeEach(async () => {
    office = await openOffice('sqlite')
  })
  afterEach(() => office.close())

  /** The name under which a start with this configuration goes on, as it is kept too. */
  const startAs = async (origin: string, db = office.db) => {
    const { current } = await db.write((q) => ensureLogs(db, q, origin, now))
    const kept = await db.read((q) => rows(q.select().from(db.tables.logs)))
    expect(kept.map((row) => row.origin)).toEqual([current.origin])
    return current.origin
  }
  const addSigner = () =>
    office.db.write(() =>
      insert(office.db.tables.signers, [
        {
          ...{ issuer: 'a', address: '0x1', publicKey: '0x2', fromIndex: 0, untilIndex: null },
          ...{ addedAt: 0, previous: null, reason: '', signature: null, logPlace: null },
        },
      ]),
    )
  const signers = () => office.db.read((q) => rows(q.select().from(office.db.tables.signers)))

  test('is what the configuration says, as long as nothing was issued; so is who signs it', async () => {
    expect(await startAs('a')).toBe('a')
    await addSigner()
    expect([await startAs('a'), (await signers()).length]).toEqual(['a', 1])
    expect([await startAs('b'), (await signers()).length]).toEqual(['b', 0])
    expect(await startAs('c')).toBe('c')
  })

  test('stays from the first leaf on', async () => {
    await startAs('a')
    const leaf = { idx: 0, kind: 0, hashes: new Uint8Array(32), runId: null } as const
    await office.db.write(() => insert(office.db.tables.logLeaves, [leaf]))
    expect(await startAs('b')).toBe('a')
  })

  test('stays from the first run on that ended, and not for one that is open', async () => {
    await startAs('a')
    const account = newAccount()
    await office.grant(account, 1n)
    const run = await office.hold(await office.key({ account }), 0n)
    expect(await startAs('b')).toBe('b')
    await office.end(run, 0n)
    expect(await startAs('c')).toBe('b')
  })

  test('is not changed while another node runs: a start under another is refused, and says both', async () => {
    await startAs('a')
    await takeLease(office.db, { now: () => now }, nodeLease('other'), 'other')
    const shared = { ...office.db, exclusive: false }
    expect(await outcomeOf(startAs('b', shared))).toThrow(
      /is named a, and the server other runs on it, but base_url here is b: give all servers/,
    )
    expect(await startAs('a', shared)).toBe('a')
    // Where this process owns the file, any holder of a lease is dead.
    expect(await startAs('b')).toBe('b')
    const lease = { name: nodeLease('other'), holder: 'other', epoch: 1, expiresAt: now }
    await office.db.write(() => update(office.db.tables.leases, [lease], ['expiresAt']))
    expect(await startAs('c', shared)).toBe('c')
  })

  test('stays, and so does who signs, where the start under another fails over its key', async () => {
    const { db } = office
    const start = (origin: string, signer: Signer) =>
      db.write(function* (q) {
        const logs = yield* ensureLogs(db, q, origin, now)
        return yield* ensureSigners(db, q, { logs, signer, now })
      })
    await start('a', testSigner)
    const other = signerFromHex('11'.repeat(32))
    expect(await outcomeOf(start('b', other))).toThrow(testSigner.address)
    expect((await start('a', testSigner)).current.address).toBe(testSigner.address)
    expect((await signers()).map(({ issuer }) => issuer)).toEqual(['a'])
  })

  test('stays once there is a second log', async () => {
    await startAs('a')
    const second = { number: 2, origin: 'a#2', start: 0, openedAt: now, reason: 'test' }
    await office.db.write(() => insert(office.db.tables.logs, [second]))
    const { all, current } = await office.db.write((q) => ensureLogs(office.db, q, 'b', now))
    expect([all.map(({ origin }) => origin), current.origin]).toEqual([['a', 'a#2'], 'a#2'])
  })
})
