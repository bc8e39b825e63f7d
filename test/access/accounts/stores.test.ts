import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { idleMs, lifeMs, seenEveryMs } from '../../../src/access/accounts/session.ts'
import { nonceStore } from '../../../src/access/accounts/store/nonce.ts'
import { sessionStore } from '../../../src/access/accounts/store/session.ts'
import type { AuditRow, NonceRow, SessionRow } from '../../../src/storage/db/schema/schema.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { engines, freshDb } from '../../support/world.ts'

const now = Date.UTC(2026, 10, 21, 12)

const session = (id: string, state: Partial<SessionRow> = {}): SessionRow => ({
  id,
  tokenHash: `hash of ${id}`,
  accountId: 'alice',
  createdAt: now,
  lastSeenAt: now,
  expiresAt: now + lifeMs,
  userAgent: '',
  clientAddress: '',
  memberId: null,
  ...state,
})
let audits = 0
const audit = (): AuditRow => ({
  ...{ id: `audit ${audits++}`, at: now, actor: 'alice', action: 'test', accountId: 'alice' },
  ...{ subject: 'alice', detail: {} },
})
const page = { limit: 50, after: undefined }

describe.each(engines)('sessions kept on %s', (engine) => {
  let opened: Awaited<ReturnType<typeof freshDb>>
  beforeAll(async () => {
    opened = await freshDb(engine)
  }, 30_000)
  afterAll(async () => {
    await opened.db.close()
    await opened.drop()
  })

  const counted = async () => {
    const { auditEntries } = opened.db.tables
    return (await opened.db.read((q) => rows(q.select().from(auditEntries)))).length
  }

  test('are shown while they are live, to their account, and not a moment longer', async () => {
    const store = sessionStore(opened.db)
    const old = { lastSeenAt: now - idleMs + 1 }
    await store.open(session('fresh'), undefined, audit())
    await store.open(session('idle', old), undefined, audit())
    await store.open(session('ending', { expiresAt: now + 1 }), undefined, audit())
    await store.open(session('other', { accountId: 'bob' }), undefined, audit())
    const idsAt = async (at: number) =>
      (await store.list('alice', page, at)).items.map(({ id }) => id).sort()
    expect(await idsAt(now)).toEqual(['ending', 'fresh', 'idle'])
    expect(await idsAt(now + 1)).toEqual(['fresh'])
    const got = async (account: string, id: string, at: number) =>
      (await store.get(account, id, at))?.id
    expect(await got('alice', 'ending', now)).toBe('ending')
    expect(await got('alice', 'ending', now + 1)).toBeUndefined()
    expect(await got('alice', 'idle', now + 1)).toBeUndefined()
    expect(await got('bob', 'fresh', now)).toBeUndefined()
    expect((await store.list('alice', { limit: 1, after: 'idle' }, now)).items[0]?.id).toBe('fresh')
  })

  test('are noted as used once a minute, each for itself', async () => {
    const store = sessionStore(opened.db)
    await store.open(session('one', { accountId: 'carol' }), undefined, audit())
    await store.open(session('two', { accountId: 'carol' }), undefined, audit())
    const seen = async () => {
      const { items: data } = await store.list('carol', page, now)
      return Object.fromEntries(data.map(({ id, lastSeenAt }) => [id, lastSeenAt - now]))
    }
    await store.noteSeen('one', now + seenEveryMs - 1)
    expect(await seen()).toEqual({ one: 0, two: 0 })
    await store.noteSeen('one', now + seenEveryMs)
    expect(await seen()).toEqual({ one: seenEveryMs, two: 0 })
  })

  test('are ended by their account alone, and the audit tells only of what was there', async () => {
    const store = sessionStore(opened.db)
    await store.open(session('mine', { accountId: 'dora' }), undefined, audit())
    const before = await counted()
    expect(await store.end({ id: 'mine', accountId: 'eve' }, audit())).toBe(false)
    expect(await store.end({ id: 'none', accountId: 'dora' }, audit())).toBe(false)
    expect(await store.endOthers({ id: 'mine', accountId: 'dora' }, audit())).toBe(0)
    expect(await counted()).toBe(before)
    expect(await store.end({ id: 'mine', accountId: 'dora' }, audit())).toBe(true)
    expect(await counted()).toBe(before + 1)
    for (const id of ['a', 'b', 'c']) {
      await store.open(session(id, { accountId: 'dora' }), undefined, audit())
    }
    const told = await counted()
    expect(await store.endOthers({ id: 'b', accountId: 'dora' }, audit())).toBe(2)
    expect(await counted()).toBe(told + 1)
    expect((await store.list('dora', page, now)).items.map(({ id }) => id)).toEqual(['b'])
    await store.open(session('d', { accountId: 'dora' }), undefined, audit())
    const again = await counted()
    expect(await store.endOthers({ id: 'd', accountId: 'dora' }, audit())).toBe(1)
    expect(await counted()).toBe(again + 1)
    expect((await store.list('alice', page, now)).items.length).toBeGreaterThan(0)
  })

  test('replace the one the browser had, and no other', async () => {
    const store = sessionStore(opened.db)
    const of = { accountId: 'fay' }
    await store.open(session('first', of), undefined, audit())
    await store.open(session('beside', of), undefined, audit())
    await store.open(session('second', of), 'hash of first', audit())
    const { items: data } = await store.list('fay', page, now)
    expect(data.map(({ id }) => id).sort()).toEqual(['beside', 'second'])
  })

  test('are swept once they ended, unused or at their end', async () => {
    const store = sessionStore(opened.db)
    const of = { accountId: 'gil' }
    await store.open(session('kept', of), undefined, audit())
    await store.open(session('g1', { ...of, expiresAt: now }), undefined, audit())
    await store.open(session('g2', { ...of, lastSeenAt: now - idleMs }), undefined, audit())
    await store.dropEnded(now)
    const { sessions } = opened.db.tables
    const left = await opened.db.read((q) => rows(q.select().from(sessions)))
    const own = left.filter(({ accountId }) => accountId === 'gil').map(({ id }) => id)
    expect(own).toEqual(['kept'])
  })
})

describe.each(engines)('nonces kept on %s', (engine) => {
  let opened: Awaited<ReturnType<typeof freshDb>>
  beforeAll(async () => {
    opened = await freshDb(engine)
  }, 30_000)
  afterAll(async () => {
    await opened.db.close()
    await opened.drop()
  })
  const nonce = (name: string): NonceRow => ({
    ...{ nonce: name, browserHash: 'b1', accountId: null, message: null },
    ...{ issuedAt: now, expiresAt: now + 10 },
  })

  test('are found and taken by their browser, before their end, once', async () => {
    const store = nonceStore(opened.db)
    await store.add(nonce('n1'))
    expect((await store.find('n1', 'b1', now + 9))?.nonce).toBe('n1')
    expect(await store.find('n1', 'b1', now + 10)).toBeUndefined()
    expect(await store.find('n1', 'b2', now)).toBeUndefined()
    expect(await store.find('n2', 'b1', now)).toBeUndefined()
    expect(await store.take('n1', 'b1', now + 10)).toBe(false)
    expect(await store.take('n1', 'b2', now)).toBe(false)
    expect(await store.take('n2', 'b1', now)).toBe(false)
    expect(await store.take('n1', 'b1', now + 9)).toBe(true)
    expect(await store.take('n1', 'b1', now + 9)).toBe(false)
  })

  test('are at most so many: a flood drops the oldest ones, at once as many as it must', async () => {
    const { signInNonces } = opened.db.tables
    const kept = async () => {
      const all = await opened.db.read((q) => rows(q.select().from(signInNonces)))
      return all.map(({ expiresAt }) => expiresAt - now).sort((a, b) => a - b)
    }
    const store = nonceStore(opened.db, 20)
    const counts: number[] = []
    for (let i = 1; i <= 30; i++) {
      await store.add({ ...nonce(`f${i}`), expiresAt: now + i })
      const left = await kept()
      expect(left).toEqual(left.map((_, at) => i - left.length + 1 + at))
      counts.push(left.length)
    }
    const filling = Array.from({ length: 19 }, (_, i) => i + 1)
    expect(counts).toEqual([...filling, 20, 19, 20, 19, 20, 19, 20, 19, 20, 19, 20])
    // One that is full already when it is opened is counted before anything is added.
    await nonceStore(opened.db, 10).add({ ...nonce('g'), expiresAt: now + 31 })
    expect((await kept()).length).toBe(10)
    await store.dropExpired(now + 31)
    const small = nonceStore(opened.db, 10)
    for (let i = 1; i <= 15; i++) {
      await small.add({ ...nonce(`s${i}`), expiresAt: now + i })
      expect((await kept()).length).toBe(Math.min(i, 10))
    }
    await small.dropExpired(now + 15)
  })

  test('are swept at their end', async () => {
    const store = nonceStore(opened.db)
    await store.add(nonce('n3'))
    await store.dropExpired(now + 9)
    expect((await store.find('n3', 'b1', now))?.nonce).toBe('n3')
    await store.dropExpired(now + 10)
    expect(await store.find('n3', 'b1', now)).toBeUndefined()
  })
})
