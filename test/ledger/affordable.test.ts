import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Refusal } from '../../src/kernel/refusal.ts'
import type { KeyRow, RunRow } from '../../src/storage/db/schema/schema.ts'
import { promise } from '../support/promise.ts'
import { engines } from '../support/world.ts'
import { faultsOf, newAccount, openOffice, pictureOf } from './office.ts'

const wanted = 1000
const affordable = 50
const each = 20n
const room = each * BigInt(affordable)

describe.each(engines)('1,000 holds at once where 50 are affordable, on %s', (engine) => {
  let office: Awaited<ReturnType<typeof openOffice>>
  beforeAll(async () => {
    office = await openOffice(engine)
  }, 30_000)
  afterAll(() => office.close())

  /** A thousand holds over these keys, with readers beside them until the last is answered. */
  async function rush(keys: KeyRow[]) {
    let done = false
    let pictures = 0
    const faults = new Set<string>()
    const readers = Array.from({ length: 3 }, async () => {
      do {
        for (const fault of faultsOf(await pictureOf(office.db))) faults.add(fault)
        pictures++
        await Bun.sleep(0)
      } while (!done)
    })
    const asked = Array.from({ length: wanted }, (_, i) => {
      const key = keys[i % keys.length]
      if (!key) throw new Error('no key')
      return office.hold(key, each)
    })
    const outcomes = await Promise.allSettled(asked)
    const held = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const reasons = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    await endAll(held)
    done = true
    await Promise.all(readers)
    expect([...faults]).toEqual([])
    expect(pictures).toBeGreaterThanOrEqual(3)
    return { held, reasons }
  }

  /** Every other hold is settled in full, the rest released. */
  async function endAll(held: RunRow[]) {
    await Promise.all(held.map((run, i) => office.end(run, i % 2 === 0 ? run.hold : 0n)))
  }

  /** What is left when all holds have ended: half of them paid, nothing held anywhere. */
  async function expectEnded(account: string, balance: bigint) {
    const { accounts, keys, windows, runs } = await pictureOf(office.db)
    const paid = room / 2n
    expect(accounts.find(({ id }) => id === account)).toMatchObject({
      balance: balance - paid,
      held: 0n,
    })
    const own = new Set(keys.filter((key) => key.accountId === account).map(({ id }) => id))
    expect(windows.filter(({ keyId, held }) => own.has(keyId) && held !== 0n)).toEqual([])
    expect(runs.filter((run) => own.has(run.keyId) && run.finishedAt === null)).toEqual([])
    return windows.filter(({ keyId }) => own.has(keyId))
  }

  const refusedBy = (reasons: unknown[]) => {
    const counts: Record<string, number> = {}
    for (const reason of reasons) {
      const type = reason instanceof Refusal ? reason : undefined
      const said = `${type?.type ?? reason} ${type?.detail.metadata?.['limited_by']}`
      counts[said] = (counts[said] ?? 0) + 1
    }
    return counts
  }

  promise`D6 C: The most a run may cost is checked and held in one step.`
  test('exactly 50 are taken through one key, and the balance refuses the rest', async () => {
    const account = newAccount()
    await office.grant(account, room)
    const key = await office.key({ account })
    const { held, reasons } = await rush([key])
    expect(held.length).toBe(affordable)
    expect(refusedBy(reasons)).toEqual({ 'insufficient_balance balance': wanted - affordable })
    await expectEnded(account, room)
  }, 60_000)

  test('exactly 50 are taken through 20 children of one parent', async () => {
    const account = newAccount()
    await office.grant(account, room)
    const parent = await office.key({ account })
    const { held, reasons } = await rush(await childrenOf(parent))
    expect(held.length).toBe(affordable)
    expect(refusedBy(reasons)).toEqual({ 'insufficient_balance balance': wanted - affordable })
    const windows = await expectEnded(account, room)
    expect(windows.find(({ keyId }) => keyId === parent.id)?.spent).toBe(room / 2n)
  }, 60_000)

  promise`A10`
  test('exactly 50 are taken where the cap of the parent binds', async () => {
    const account = newAccount()
    const balance = room * 100n
    await office.grant(account, balance)
    const parent = await office.key({ account, capLimit: room, capWindow: 'day' })
    const { held, reasons } = await rush(await childrenOf(parent))
    expect(held.length).toBe(affordable)
    expect(refusedBy(reasons)).toEqual({ 'cap_exceeded ancestor': wanted - affordable })
    const windows = await expectEnded(account, balance)
    expect(windows.find(({ keyId }) => keyId === parent.id)?.spent).toBe(room / 2n)
  }, 60_000)

  const childrenOf = (parent: KeyRow) =>
    Promise.all(
      Array.from({ length: 20 }, () =>
        office.key({
          account: parent.accountId,
          parentId: parent.id,
          capLimit: parent.capLimit,
        }),
      ),
    )
})
