import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { auditStore } from '../../../src/ledger/store/audit.ts'
import { sumLedger } from '../../../src/ledger/store/sums.ts'
import { fileOf, ownFile } from '../../../src/proof/liabilities/liabilities.ts'
import { liabilityPublisher } from '../../../src/proof/liabilities/publish-liabilities.ts'
import { liabilityStore } from '../../../src/proof/liabilities/store.ts'
import { update } from '../../../src/storage/db/sql/query-steps.ts'
import { checkLiabilities } from '../../../src/verify/liabilities.ts'
import { promise } from '../../support/promise.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { engines, usd, type World, world } from '../../support/world.ts'
import { accountOf, fund, publish } from './publishing.ts'

for (const engine of engines) {
  describe(`liabilities (${engine})`, () => {
    let w: World
    beforeAll(async () => {
      w = await world({ engine, now: Date.UTC(2026, 10, 20, 12) })
      await fund(w, [5n * usd, 1n, 7n * usd + 3n])
    }, 60_000)
    afterAll(() => w.stop())

    const faults = () => auditStore(w.db).faults(w.deps.clock.now())
    const trust = () => ({ signers: [{ address: w.deps.signer.address }] })

    promise`D59 C: A liabilities statement is the sum of all balances at one moment, to the
      nano-dollar, on both engines; it counts only once all of it is stored.`
    test('is the sum of all balances, and each account finds its own in it', async () => {
      const row = await publish(w)
      expect(row.statement.total_nusd).toBe(String(12n * usd + 4n))
      expect(BigInt(row.statement.total_nusd)).toBe((await sumLedger(w.db)).balance)
      for (const n of [1, 2, 3]) {
        const account = accountOf(n)
        const checks = checkLiabilities(await ownFile(w.deps, account), { ...trust(), account })
        expect(checks.filter(({ status }) => status !== 'pass').map(({ name }) => name)).toEqual([
          'issuer',
          'age',
        ])
      }
      expect(await faults()).toEqual([])
    })

    test('leads from statement to statement', async () => {
      const before = await w.deps.liabilities.newest()
      w.advance(1000)
      await fund(w, [usd])
      const row = await publish(w)
      expect(row.statement.number).toBe(String((before?.number ?? 0) + 1))
      expect(row.statement.previous).toBe(before?.digest as `0x${string}`)
      expect(row.statement.total_nusd).toBe(String(13n * usd + 4n))
      const older = await ownFile(w.deps, accountOf(1), before?.number)
      expect(older.own?.balance_nusd).toBe(String(5n * usd))
      const { own: _, ...whole } = older
      expect(await fileOf(w.deps, before as NonNullable<typeof before>)).toEqual(whole)
      expect(await faults()).toEqual([])
    })

    test('is none of an account that came later', async () => {
      const late = accountOf(99)
      const refusal = await rejectionOf(ownFile(w.deps, late))
      expect(refusal).toMatchObject({ type: 'not_found' })
    })

    promise`D59`
    test('counts nothing that a node left behind which died or lost its lease', async () => {
      const { liabilities } = w.deps
      const newest = await liabilities.newest()
      const number = (newest?.number ?? 0) + 1
      const lease = await liabilities.takeLease()
      if (!lease) throw new Error('no lease')
      await liabilities.addParts(lease, [{ number, part: 1, bytes: new Uint8Array(48) }])
      expect(await liabilities.newest()).toEqual(newest)
      expect(await faults()).toEqual([])
      const lost = { ...lease, epoch: lease.epoch - 1 }
      const part = { number, part: 2, bytes: new Uint8Array(48) }
      expect(await rejectionOf(liabilities.addParts(lost, [part]))).toBeInstanceOf(Error)
      const again = newest as NonNullable<typeof newest>
      expect(await rejectionOf(liabilities.add(lost, { ...again, number }))).toBeInstanceOf(Error)
      expect((await publish(w)).number).toBe(number)
      expect(await faults()).toEqual([])
    })

    promise`D59`
    test('is found out where a leaf was changed or left out, or a balance was lowered', async () => {
      const { liabilityParts: parts, liabilities } = w.db.tables
      const row = await w.deps.liabilities.newest()
      if (!row) throw new Error('no statement')
      const stored = await w.deps.liabilities.part(row.number, 1)
      if (!stored) throw new Error('no part')
      const write = (bytes: Uint8Array) =>
        w.db.write(function* () {
          yield* update(parts, [{ number: row.number, part: 1, bytes }], ['bytes'])
        })
      const wrong = stored.slice()
      wrong[39] = (wrong[39] ?? 0) ^ 1
      await write(wrong)
      const told = `the stored leaves of statement ${row.number} of the liabilities do not lead to its root`
      expect(await faults()).toEqual([told])
      await write(stored)
      await w.db.write(function* () {
        yield* update(liabilities, [{ number: row.number, seed: new Uint8Array(32) }], ['seed'])
      })
      w.advance(120_000)
      const asOf = w.deps.clock.now()
      await w.db.write(function* () {
        yield* update(liabilities, [{ number: row.number, asOf }], ['asOf'])
      })
      const left = [1, 2, 3].map(
        (n) => `statement ${row.number} of the liabilities leaves out account ${accountOf(n)}`,
      )
      expect(await faults()).toEqual(left)
      const { accounts } = w.db.tables
      const balanceOf = (n: number, balance: bigint) =>
        w.db.write(function* () {
          yield* update(accounts, [{ id: accountOf(n), balance }], ['balance'])
        })
      await w.db.write(function* () {
        yield* update(liabilities, [{ ...row }], ['seed', 'asOf'])
      })
      expect(await faults()).toEqual([])
      await balanceOf(2, 0n)
      const { number } = await publish(w)
      await balanceOf(2, 1n)
      const lowered = `the balance of account ${accountOf(2)} in statement ${number} of the liabilities`
      expect(await faults()).toEqual([`${lowered} is 0, but should be 1`])
      await publish(w)
      expect(await faults()).toEqual([])
    })

    test('is said once a day, by the node with the lease, and its leaves are deleted', async () => {
      const job = liabilityPublisher(w.deps)
      const { signal } = new AbortController()
      const before = (await w.deps.liabilities.newest())?.number ?? 0
      await job(signal)
      expect((await w.deps.liabilities.newest())?.number).toBe(before)
      w.advance(86_400_000)
      const time = { clock: w.deps.leaseClock, node: 'another' }
      const other = liabilityStore(w.db, w.deps.logStore, time)
      // Where one process owns the file, any other holder is dead.
      if (!w.db.exclusive) {
        await w.deps.liabilities.takeLease()
        await liabilityPublisher({ ...w.deps, liabilities: other })(signal)
        expect((await w.deps.liabilities.newest())?.number).toBe(before)
      }
      await job(signal)
      await job(signal)
      expect((await w.deps.liabilities.newest())?.number).toBe(before + 1)
      w.advance(36 * 86_400_000)
      await job(signal)
      expect((await w.deps.liabilities.newest())?.number).toBe(before + 2)
      expect(await rejectionOf(ownFile(w.deps, accountOf(1), before))).toMatchObject({
        type: 'gone',
      })
      // Deleted are the leaves and the secret that would name them.
      expect(await w.deps.liabilities.part(before, 1)).toBeUndefined()
      expect(await w.deps.liabilities.find(before)).toMatchObject({ number: before, seed: null })
      expect((await ownFile(w.deps, accountOf(1))).own?.balance_nusd).toBe(String(6n * usd))
      expect(await faults()).toEqual([])
    })

    test('is not said where it is switched off, or where the log diverged', async () => {
      const { settings, heads, liabilities } = w.deps
      const { signal } = new AbortController()
      w.advance(86_400_000)
      const before = await liabilities.newest()
      const off = { ...settings, liabilities: { ...settings.liabilities, everyMs: 0 } }
      await liabilityPublisher({ ...w.deps, settings: off })(signal)
      await liabilityPublisher({ ...w.deps, heads: { ...heads, isOpen: () => false } })(signal)
      expect(await liabilities.newest()).toEqual(before)
    })

    test('ends in silence where its lease went to another node, and says why it was stopped', async () => {
      const { liabilities } = w.deps
      const before = await liabilities.newest()
      const { signal } = new AbortController()
      const other = liabilityStore(w.db, w.deps.logStore, {
        clock: w.deps.leaseClock,
        node: 'other',
      })
      const unleased = { ...liabilities, takeLease: async () => undefined }
      await liabilityPublisher({ ...w.deps, liabilities: unleased })(signal)
      const lost = {
        ...liabilities,
        readLeaves: async (seed: Uint8Array) => {
          const leaves = await liabilities.readLeaves(seed)
          w.advance(11_000)
          await other.takeLease()
          return leaves
        },
      }
      await liabilityPublisher({ ...w.deps, liabilities: lost })(signal)
      expect(await liabilities.newest()).toEqual(before)
      w.advance(11_000)
      const stopped = rejectionOf(
        liabilityPublisher(w.deps)(AbortSignal.abort(new Error('stopped'))),
      )
      expect(await stopped).toMatchObject({ message: 'stopped' })
      await liabilityPublisher(w.deps)(signal)
      expect((await liabilities.newest())?.number).toBe((before?.number ?? 0) + 1)
      expect(await faults()).toEqual([])
    })
  })
}
