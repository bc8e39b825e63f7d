import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rotateKey } from '../../src/access/keys/rotate.ts'
import { depositRows } from '../../src/billing/deposits/deposit-rows.ts'
import { subscriptionOf, subscriptionRows } from '../../src/billing/plans/subscription-rows.ts'
import { openLedger } from '../../src/ledger/post.ts'
import type { UnitOfWork } from '../../src/ledger/unit-of-work.ts'
import { textRows } from '../../src/runs/kept-rows.ts'
import type { IdempotentRow, SubscriptionRow } from '../../src/storage/db/schema/schema.ts'
import { insert, rows } from '../../src/storage/db/sql/query-steps.ts'
import { textStore } from '../../src/storage/texts/store.ts'
import { closeAll, freshFile, openFile } from '../storage/db/file.ts'
import { outcomeOf, rejectionOf } from '../support/rejection.ts'
import { engines, freshDb } from '../support/world.ts'
import { heldClock, newAccount, officeOn, openOffice } from './office.ts'

setDefaultTimeout(60_000)

describe.each(engines)('a command on %s', (engine) => {
  let office: Awaited<ReturnType<typeof openOffice>>
  beforeAll(async () => {
    office = await openOffice(engine)
  }, 30_000)
  afterAll(() => office.close())

  /** A ledger that remembers nothing yet. */
  const fresh = () => openLedger(office.db, office.clock)

  test('finds the keys below the one it names, though it names none of them', async () => {
    const account = newAccount()
    const top = await office.key({ account })
    const under = await office.key({ account, parentId: top.id })
    const deep = await office.key({ account, parentId: under.id })
    await office.key({ account })
    const below = await fresh().post({
      ...{ account, keys: [under.id], below: under.id },
      decide: (unit) => unit.below(under.id).map(({ id }) => id),
    })
    expect(below.sort()).toEqual([under.id, deep.id].sort())
    await office.revoke(top)
    expect(await rejectionOf(office.hold(deep, 0n))).toMatchObject({ type: 'key_revoked' })
  })

  test('opens the accounts it says it opens, and none that it only asks about', async () => {
    const [opened, target, asked] = [newAccount(), newAccount(), newAccount()]
    const ledger = fresh()
    const both = await Promise.all([
      ledger.post({
        ...{ account: opened, to: target, opens: true, keys: [] },
        decide: (unit) => [unit.account(opened)?.id, unit.account(target)?.id],
      }),
      ledger.post({ account: asked, keys: [], decide: (unit) => unit.account(asked)?.id }),
    ])
    expect(both).toEqual([[opened, target], undefined])
    const { accounts } = office.db.tables
    const all = await office.db.read((q) => rows(q.select().from(accounts)))
    const ids = all.map(({ id }) => id)
    expect([opened, target, asked].map((id) => ids.includes(id))).toEqual([true, true, false])
  })

  test('finds a run until it ended, no matter who remembers it', async () => {
    const account = newAccount()
    await office.grant(account, 10n)
    const run = await office.hold(await office.key({ account }), 4n)
    const find = () =>
      fresh().post({ account, keys: [], run: run.id, decide: (unit) => unit.run(run.id)?.hold })
    expect(await find()).toBe(4n)
    await office.end(run, 1n)
    expect(await find()).toBeUndefined()
  })

  test('sees the secrets of a key that work now, and not those that ran out', async () => {
    const account = newAccount()
    const start = office.clock.now()
    const key = await office.key({ account })
    const wish = { keyId: key.id, actor: 'test', overlapSeconds: 60 }
    await rotateKey(office, wish)
    const seenAt = (at: number) => {
      office.clock.set(at)
      return fresh().post({
        ...{ account, keys: [key.id], secretsOf: key.id },
        decide: (unit) => unit.secrets(key.id).length,
      })
    }
    expect(await seenAt(start + 59_999)).toBe(2)
    expect(await seenAt(start + 60_000)).toBe(1)
    office.clock.set(start)
  })

  test('sees the subscription that goes on, not one that ended', async () => {
    const account = newAccount()
    const row = (id: string, state: Partial<SubscriptionRow>): SubscriptionRow => ({
      ...{ id: `sub_${account}_${id}`, accountId: account, plan: 'pro', price: 1n },
      ...{ status: 'active', startedAt: 0, periodStart: 0, periodEnd: 9, nextPlan: null },
      ...{ endedAt: null, ...state },
    })
    const ended = { status: 'ended', endedAt: 5 } as const
    const all = [row('a', ended), row('b', { status: 'canceling' }), row('c', ended)]
    await office.grant(account, 1n)
    await office.db.write(() => insert(office.db.tables.subscriptions, all))
    const seen = await fresh().post({
      ...{ account, keys: [], parts: [subscriptionRows.of(account)] },
      decide: (unit) => subscriptionOf(unit, account)?.id,
    })
    expect(seen).toBe(`sub_${account}_b`)
  })

  test('keeps the answer of a call, which the next one finds', async () => {
    const account = newAccount()
    await office.grant(account, 1n)
    const call: IdempotentRow = {
      ...{ scope: `call of ${account}`, fingerprint: 'f', node: 'test', runId: null, reply: null },
      ...{ createdAt: office.clock.now(), until: office.clock.now() + 10 },
    }
    const named = { account, keys: [], call: call.scope }
    await office.ledger.post({ ...named, decide: (unit) => unit.addCall(call) })
    const reply = new Uint8Array([1, 2, 3])
    await office.ledger.post({ ...named, decide: (unit) => unit.answerCall(call.scope, reply) })
    const found = await fresh().post({ ...named, decide: (unit) => unit.call(call.scope) })
    expect([...(found?.reply ?? [])]).toEqual([1, 2, 3])
  })

  test('counts the keys that are neither revoked nor expired, for one that adds a key', async () => {
    const account = newAccount()
    const now = office.clock.now()
    await office.revoke(await office.key({ account }))
    await office.key({ account, expiresAt: now + 1 })
    await office.key({ account })
    const count = (at: number) => {
      office.clock.set(at)
      const decide = (unit: UnitOfWork) => unit.activeKeys(account)
      return fresh().post({ account, keys: [], mints: true, decide })
    }
    expect([await count(now), await count(now + 1)]).toEqual([2, 1])
    office.clock.set(now)
  })

  test('frees the call that began a run', async () => {
    const account = newAccount()
    await office.grant(account, 1n)
    const call: IdempotentRow = {
      ...{ scope: `freed by ${account}`, fingerprint: 'f', node: 'test', runId: 'run_freed' },
      ...{ reply: null, createdAt: office.clock.now(), until: office.clock.now() + 10 },
    }
    const named = { account, keys: [], call: call.scope }
    await office.ledger.post({ ...named, decide: (unit) => unit.addCall(call) })
    await office.ledger.post({ ...named, decide: (unit) => unit.freeCall('run_freed') })
    expect(
      await fresh().post({ ...named, decide: (unit) => unit.call(call.scope) }),
    ).toBeUndefined()
  })

  test('finds the deposit that it names, as it is now', async () => {
    const account = newAccount()
    const id = `dep of ${account}`
    await office.grant(account, 1n)
    await office.db.write(() =>
      insert(office.db.tables.deposits, [
        {
          ...{ id, chainId: 4663, txHash: id, logIndex: 0, blockNumber: 7, token: '0x1' },
          ...{ blockHash: '0xb', from: account, blockTime: null, tokenAmount: '5', amount: 5n },
          ...{ account, status: 'detected', reason: null, seenAt: 0, creditedAt: null },
          ...{ finalizedAt: null, ordinal: 0, credits: 0, reversals: 0, loss: 0n, moved: null },
        },
      ]),
    )
    const seen = await fresh().post({
      ...{ account, keys: [], parts: [depositRows.of(id)] },
      decide: (unit) => unit.part(depositRows).byId.get(id)?.amount,
    })
    expect(seen).toBe(5n)
  })

  test('keeps the text of a run where its account asked for that', async () => {
    const texts = textStore(office.db, office.clock)
    const [keeps, not] = [newAccount(), newAccount()]
    const audit = () => ({
      ...{ id: `audit of ${keeps}`, at: 0, actor: 'test', action: 'test', accountId: keeps },
      ...{ subject: keeps, detail: {} },
    })
    await texts.setRetention(keeps, '24h', office.clock.now(), audit)
    for (const account of [keeps, not]) {
      await office.grant(account, 1n)
      const run = await office.hold(await office.key({ account }), 0n)
      const text = { runId: run.id, accountId: account, input: 'in', output: 'out' }
      const decide = (unit: UnitOfWork) => void unit.part(textRows).push(text)
      await office.ledger.post({ account, keys: [], decide })
      const kept = account === keeps ? { input: 'in', output: 'out' } : undefined
      expect(await texts.find(run.id)).toEqual(kept)
    }
  })
})

describe('the commands of one of several nodes', () => {
  test('know what the others spent and hold, of every window', async () => {
    const { db, drop } = await freshDb('sqlite')
    const clock = heldClock()
    const shared = { ...db, exclusive: false }
    const [one, two] = [officeOn(shared, clock), officeOn(shared, clock)]
    const account = newAccount()
    await one.grant(account, 100n)
    for (const capWindow of ['day', 'month', 'lifetime'] as const) {
      const key = await one.key({ account, capLimit: 10n, capWindow })
      const run = await two.hold(key, 6n)
      expect(await rejectionOf(one.hold(key, 6n))).toMatchObject({ type: 'cap_exceeded' })
      await one.end(run, 4n)
      expect(await two.hold(key, 6n)).toMatchObject({ hold: 6n })
      expect(await rejectionOf(one.hold(key, 1n))).toMatchObject({ type: 'cap_exceeded' })
    }
    await db.close()
    await drop()
  })
})

describe('what another process writes', () => {
  afterEach(closeAll)

  test('is known to the next command, which remembered something else', async () => {
    const file = freshFile()
    const [server, other] = [openFile(file), openFile(file)]
    const account = newAccount()
    await server.grant(account, 10n)
    const key = await server.key({ account })
    await server.hold(key, 1n)
    await other.grant(account, 5n)
    expect(await server.hold(key, 14n)).toMatchObject({ hold: 14n })
    await other.revoke(key)
    expect(await rejectionOf(server.hold(key, 0n))).toMatchObject({ type: 'key_revoked' })
  })
})

describe('the ends of runs', () => {
  test('are numbered in the batch that ends them, together; what ends none numbers nothing', async () => {
    const office = await openOffice('sqlite')
    const numbered: string[][] = []
    let forgotten = 0
    const numbering = {
      *number(_: unknown, ended: { id: string }[]) {
        numbered.push(ended.map(({ id }) => id))
      },
      forget: () => void forgotten++,
    }
    const ledger = openLedger(office.db, office.clock, numbering)
    const account = newAccount()
    await office.grant(account, 10n, ledger)
    const key = await office.key({ account }, ledger)
    const runs = [await office.hold(key, 1n, ledger), await office.hold(key, 2n, ledger)]
    expect(numbered).toEqual([])
    await Promise.all(runs.map((run) => office.end(run, 1n, ledger)))
    expect(numbered.flat().sort()).toEqual(runs.map(({ id }) => id).sort())
    expect(numbered.every((ids) => ids.length > 0)).toBe(true)
    numbered.length = 0
    const last = await office.hold(key, 1n, ledger)
    await office.end(last, 1n, ledger)
    expect(numbered).toEqual([[last.id]])
    // What was undone was not numbered either.
    expect(forgotten).toBe(0)
    const bug = () => {
      throw new Error('a bug')
    }
    expect(await outcomeOf(ledger.post({ account, keys: [], decide: bug }))).toThrow('a bug')
    expect(forgotten).toBe(1)
    await office.close()
  })
})
