import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { idOfFormToken, makeFormToken } from '../../../src/access/keys/form-token.ts'
import { issueKey, type KeyRequest } from '../../../src/access/keys/issue.ts'
import { assertAddressAllowed, assertModelInPlan, chainOf } from '../../../src/access/keys/key.ts'
import { pauseKey } from '../../../src/access/keys/pause.ts'
import { revokeKey } from '../../../src/access/keys/revoke.ts'
import type { Plan } from '../../../src/access/plan.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { grantCredit } from '../../../src/ledger/grant.ts'
import { onceOf } from '../../../src/ledger/once.ts'
import { trackedRows } from '../../../src/ledger/tracked-rows.ts'
import { UnitOfWork } from '../../../src/ledger/unit-of-work.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { testAccount, usd, type World, world } from '../../support/world.ts'

const toml = `[[plans]]
id = "free"
limits = { rpm = 20, concurrency = 1, max_keys = 3, max_depth = 1, history_days = 7 }
`
const start = Date.UTC(2026, 5, 1)
const dayMs = 86_400_000

/** Type and field of what is refused. */
async function refused(ask: () => unknown): Promise<string> {
  try {
    await ask()
    return 'nothing'
  } catch (error) {
    if (error instanceof Refusal) return [error.type, error.detail.param].filter(Boolean).join(' ')
    throw error
  }
}

describe('a key is issued', () => {
  let w: World
  let accounts = 0
  beforeAll(async () => {
    w = await world({ toml, now: start })
  })
  afterAll(() => w.stop())

  const someone = () => `0x${String(accounts++).padStart(40, '0')}`
  const issue = (account: string, wish: Partial<KeyRequest> = {}) =>
    issueKey(w.deps, {
      ...{ account, name: 'test', capLimit: usd, capWindow: 'lifetime', actor: 'test' },
      ...wish,
    })

  // Found by the simulation on sqlite: seed 69, command 6251.
  test('in the place of one that is revoked in the same batch', async () => {
    const account = someone()
    const { key } = await issue(account)
    await issue(account)
    await issue(account)
    const revoking = revokeKey(w.deps, { keyId: key.id, actor: 'test' })
    // It is looked up first; its command waits for the batch then.
    for (let i = 0; i < 20; i++) await null
    const [, issued] = await Promise.all([revoking, issue(account)])
    expect(issued.key.revokedAt).toBe(null)
    expect(await refused(() => issue(account))).toBe('conflict')
    // Of one that is over anyway nothing becomes free.
    const late = someone()
    const short = await issue(late, { expiresAt: w.deps.clock.now() + 1000 })
    for (let i = 0; i < 2; i++) await issue(late)
    w.advance(1000)
    await issue(late)
    const again = revokeKey(w.deps, { keyId: short.key.id, actor: 'test' })
    for (let i = 0; i < 20; i++) await null
    const asked = refused(() => issue(late))
    expect([(await again).stopped, await asked]).toEqual([1, 'conflict'])
  })

  test('as often as the plan has keys, and one place is free again once one is revoked', async () => {
    const account = someone()
    const first = await issue(account)
    await issue(account)
    await issue(account)
    expect(await refused(() => issue(account))).toBe('conflict')
    await revokeKey(w.deps, { keyId: first.key.id, actor: 'test' })
    await issue(account)
    expect(await refused(() => issue(account))).toBe('conflict')
    // Nor does an expired one count.
    const short = someone()
    for (let i = 0; i < 3; i++) await issue(short, { expiresAt: w.deps.clock.now() + 1000 })
    expect(await refused(() => issue(short))).toBe('conflict')
    w.advance(1000)
    await issue(short)
  })

  test('as deep as the plan nests, below a key of the same account that counts it', async () => {
    const account = someone()
    const top = await issue(account)
    const child = await issue(account, { parentId: top.key.id })
    expect(child.key.lineage).toEqual([child.key.id, top.key.id])
    expect((await w.deps.keys.find(top.key.id))?.childrenCount).toBe(1)
    const deeper = () => issue(account, { parentId: child.key.id })
    expect(await refused(deeper)).toBe('invalid_request parent_id')
    const foreign = () => issue(someone(), { parentId: top.key.id })
    expect(await refused(foreign)).toBe('invalid_request parent_id')
    const none = () => issue(account, { parentId: w.deps.ids.make('key') })
    expect(await refused(none)).toBe('invalid_request parent_id')
  })

  test.each([
    ['paused', 'key_paused'],
    ['revoked', 'key_revoked'],
    ['expired', 'key_expired'],
  ])('never below one that is %s', async (state, type) => {
    const account = someone()
    const { key } = await issue(account, { expiresAt: w.deps.clock.now() + dayMs })
    if (state === 'paused') await pauseKey(w.deps, { keyId: key.id, actor: 'test' })
    if (state === 'revoked') await revokeKey(w.deps, { keyId: key.id, actor: 'test' })
    if (state === 'expired') w.advance(dayMs)
    expect(await refused(() => issue(account, { parentId: key.id }))).toBe(type)
  })

  test('A key is issued once for one id.', async () => {
    const account = someone()
    const id = w.deps.ids.make('key')
    await issue(account, { id })
    expect(await refused(() => issue(account, { id }))).toBe('conflict')
    expect((await w.deps.keys.find(id))?.id).toBe(id)
  })

  test('once for one call, and a grant too', async () => {
    const account = someone()
    const callOf = (scope: string) => ({ scope, fingerprint: 'f' })
    const once = onceOf<never>(w.deps, callOf('keys x'), () => undefined)
    await issue(account, { once })
    expect(await refused(() => issue(account, { once }))).toStartWith('idempotency')
    const call = onceOf<bigint>(w.deps, callOf('grant x'), () => undefined)
    const gift = { account, amount: 5n, reason: 'why', actor: 'operator', once: call }
    expect(await grantCredit(w.deps, gift)).toBe(5n)
    expect(await refused(() => grantCredit(w.deps, gift))).toStartWith('idempotency')
    const { auditEntries } = w.db.tables
    const told = (await w.db.read((q) => rows(q.select().from(auditEntries)))).filter(
      (entry) => entry.action === 'grant' && entry.accountId === account,
    )
    expect(told.map(({ actor, detail }) => [actor, detail])).toEqual([
      ['operator', { amount_nusd: '5', reason: 'why' }],
    ])
  })
})

describe('the token of a form', () => {
  const ids = { make: () => `key_${'0'.repeat(10)}${'a'.repeat(16)}` } as never
  test('is good for a day, of a clock that may be a minute ahead', async () => {
    const token = makeFormToken(ids, start)
    for (const at of [start - 60_000, start, start + dayMs]) {
      expect(idOfFormToken(testAccount, token, at)).toBe(idOfFormToken(testAccount, token, start))
    }
    for (const at of [start - 60_001, start + dayMs + 1]) {
      expect(await refused(() => idOfFormToken(testAccount, token, at))).toBe('conflict')
    }
    expect(idOfFormToken('0x', token, start)).not.toBe(idOfFormToken(testAccount, token, start))
    expect(await refused(() => idOfFormToken(testAccount, `${token}x`, start))).toBe('conflict')
  })
})

describe('what a chain may', () => {
  test('A chain requires that its keys exist', async () => {
    expect(await refused(() => chainOf(new UnitOfWork(trackedRows(), start), ['none']))).toBe(
      'invalid_key',
    )
  })

  test('is a model that the plan opens; a plan that names none opens all', async () => {
    const plan = (...models: string[]) => ({ name: 'free', models }) as unknown as Plan
    expect(await refused(() => assertModelInPlan(plan(), 'a/b'))).toBe('nothing')
    expect(await refused(() => assertModelInPlan(plan('c/*', 'a/*'), 'a/b'))).toBe('nothing')
    expect(await refused(() => assertModelInPlan(plan('c/*'), 'a/b'))).toBe('model_not_allowed')
  })

  test('asks for an address only where a key is bound to networks', async () => {
    const key = (...ipCidrs: string[]) => ({ ipCidrs }) as never
    const never = () => {
      throw new Error('it was asked')
    }
    expect(await refused(() => assertAddressAllowed([key(), key()], never))).toBe('nothing')
    const from = (address: string) =>
      refused(() => assertAddressAllowed([key(), key('10.0.0.0/8', '192.0.2.1')], () => address))
    expect(await from('10.1.2.3')).toBe('nothing')
    expect(await from('192.0.2.1')).toBe('nothing')
    expect(await from('192.0.2.2')).toBe('ip_not_allowed')
    expect(await from('nowhere')).toBe('ip_not_allowed')
  })
})
