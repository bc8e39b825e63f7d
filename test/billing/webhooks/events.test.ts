import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { asc } from 'drizzle-orm'
import { refuse } from '../../../src/kernel/refusal.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import type { NewEvent } from '../../../src/storage/outbox/event.ts'
import { addEvents } from '../../../src/storage/outbox/store.ts'
import { newAccount, type Office, openOffice } from '../../ledger/office.ts'
import { promise } from '../../support/promise.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { engines } from '../../support/world.ts'

setDefaultTimeout(60_000)

describe.each(engines)('events on %s', (engine) => {
  let office: Office & { close(): Promise<void>; clock: { set(at: number): void; now(): number } }
  beforeAll(async () => {
    office = await openOffice(engine)
  })
  afterAll(() => office.close())

  const event = (account: string, n: number): NewEvent => ({
    type: 'key.paused',
    account,
    subject: 'key_1',
    data: { key_id: 'key_1', n },
  })
  const tell = (account: string, n: number, isRefused = false) =>
    office.ledger.post({
      account,
      keys: [],
      decide(unit) {
        if (isRefused) refuse('conflict', 'No.')
        unit.addEvent(event(account, n))
      },
    })
  const told = (account: string) =>
    office.db.read(function* (q) {
      const { events } = office.db.tables
      const all = yield* rows(q.select().from(events).orderBy(asc(events.place)))
      return all.filter(({ accountId }) => accountId === account)
    })

  promise`E17`
  test('A command writes its events with its change, each with a place after the one before.', async () => {
    const account = newAccount()
    await office.grant(account, 5n)
    await Promise.all([0, 1, 2, 3, 4].map((n) => tell(account, n)))
    office.clock.set(office.clock.now() - 5000)
    await tell(account, 5)
    const found = await told(account)
    expect(found.map(({ data }) => data.n)).toEqual([0, 1, 2, 3, 4, 5])
    expect(new Set(found.map(({ id }) => id)).size).toBe(6)
    expect(found.every(({ id }) => /^evt_[0-9a-z]{26}$/.test(id))).toBe(true)
  })

  promise`E17`
  test('A refused command leaves no event, and the others of its batch theirs.', async () => {
    const account = newAccount()
    await office.grant(account, 5n)
    const [, refusal] = await Promise.all([
      tell(account, 1),
      rejectionOf(tell(account, 2, true)),
      tell(account, 3),
    ])
    expect(refusal).toMatchObject({ type: 'conflict' })
    expect((await told(account)).map(({ data }) => data.n)).toEqual([1, 3])
  })

  test('An event of other work stands or falls with its transaction.', async () => {
    const { db, clock } = office
    const account = newAccount()
    const write = (n: number, isKept: boolean) =>
      db.write(function* () {
        yield* addEvents(db.tables, [event(account, n), event(account, n + 1)], clock.now())
        if (!isKept) throw new Error('undone')
      })
    await write(1, true)
    expect(await rejectionOf(write(3, false))).toMatchObject({ message: 'undone' })
    expect((await told(account)).map(({ data }) => data.n)).toEqual([1, 2])
  })
})
