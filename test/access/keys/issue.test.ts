import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { KeyRequest } from '../../../src/access/keys/issue.ts'
import { defaultScopes, type Scope, scopes } from '../../../src/access/keys/key.ts'
import type { KeyRow } from '../../../src/storage/db/schema/schema.ts'
import { takenTogether } from '../../ledger/answers.ts'
import { newAccount, openOffice, pictureOf } from '../../ledger/office.ts'
import { prng } from '../../ledger/prng.ts'
import { promise } from '../../support/promise.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { engines } from '../../support/world.ts'

const day = 86_400_000

describe.each(engines)('a new key on %s', (engine) => {
  let office: Awaited<ReturnType<typeof openOffice>>
  let now: number
  let account: string
  let parent: KeyRow
  beforeAll(async () => {
    office = await openOffice(engine)
    now = office.clock.now()
    account = newAccount()
    parent = await office.key({
      account,
      capLimit: 1000n,
      expiresAt: now + 30 * day,
      scopes: ['runs:write', 'runs:read', 'keys:mint'],
      models: ['acme/*', 'echo-1'],
    })
  }, 30_000)
  afterAll(() => office.close())

  const child = (wish: Partial<KeyRequest>) =>
    office.key({ account, parentId: parent.id, capLimit: 10n, ...wish })

  describe('by default', () => {
    test('lives 90 days, and may do all but mint, share and choose webhooks', async () => {
      const key = await office.key({ account: newAccount() })
      expect(key.expiresAt).toBe(now + 90 * day)
      expect(key.scopes.sort()).toEqual(
        scopes
          .filter((scope) => !['keys:mint', 'receipts:share', 'webhooks:write'].includes(scope))
          .sort(),
      )
      expect([...defaultScopes].sort()).toEqual(key.scopes as Scope[])
      expect(key).toMatchObject({ models: [], parentId: null, lineage: [key.id] })
    })

    test('as a child lives no longer than its parent, and has no more of its rights', async () => {
      const key = await child({})
      expect(key.expiresAt).toBe(parent.expiresAt)
      expect(key.scopes.sort()).toEqual(['runs:read', 'runs:write'])
      expect(key.models).toEqual(parent.models)
      expect(key.lineage).toEqual([key.id, parent.id])
    })

    test('as a child of a long-lived parent lives 90 days', async () => {
      const old = await office.key({ account, expiresAt: now + 366 * day })
      const key = await office.key({ account, parentId: old.id })
      expect(key.expiresAt).toBe(now + 90 * day)
    })

    test('an empty list of models under a limited parent means the parent’s, never all', async () => {
      expect((await child({ models: [] })).models).toEqual(parent.models)
    })
  })

  const bad: [
    what: string,
    wish: Partial<KeyRequest> | (() => Partial<KeyRequest>),
    param: string,
  ][] = [
    ['a cap of 0', { capLimit: 0n }, 'cap.limit_nusd'],
    ['a negative cap', { capLimit: -1n }, 'cap.limit_nusd'],
    ['a cap above all balances', { capLimit: 9_000_000_000_000_001n }, 'cap.limit_nusd'],
    ['a cap above the parent’s', { capLimit: 1001n }, 'cap.limit_nusd'],
    ['an expiry in the past', () => ({ expiresAt: now - 1 }), 'expires_at'],
    ['an expiry of now', () => ({ expiresAt: now }), 'expires_at'],
    ['an expiry after the parent’s', () => ({ expiresAt: now + 30 * day + 1 }), 'expires_at'],
    ['a scope the parent lacks', { scopes: ['runs:write', 'usage:read'] }, 'scopes'],
    ['a model the parent lacks', { models: ['acme/one', 'other/one'] }, 'models'],
    ['a glob wider than the parent’s', { models: ['acme*'] }, 'models'],
    ['every model', { models: ['*'] }, 'models'],
    ['no name', { name: '' }, 'name'],
    ['a name of 65', { name: 'x'.repeat(65) }, 'name'],
    ['nine tags', { tags: Object.fromEntries([...'123456789'].map((t) => [t, t])) }, 'tags'],
    ['a parent that is not there', { parentId: 'key_none' }, 'parent_id'],
    ['a parent of another account', { account: newAccount() }, 'parent_id'],
  ]
  describe('400 invalid_request', () => {
    test.each(bad)('as a child with %s', async (_, wish, param) => {
      const before = (await pictureOf(office.db)).keys.length
      const asked = child(typeof wish === 'function' ? wish() : wish)
      expect(await rejectionOf(asked)).toMatchObject({ type: 'invalid_request', detail: { param } })
      expect((await pictureOf(office.db)).keys.length).toBe(before)
    })

    test('as a root that lives longer than 366 days', async () => {
      const most = now + 366 * day
      expect(await office.key({ account, expiresAt: most })).toMatchObject({ expiresAt: most })
      expect(await rejectionOf(office.key({ account, expiresAt: most + 1 }))).toMatchObject({
        type: 'invalid_request',
        detail: { param: 'expires_at' },
      })
    })

    test('at depth 5; depth 4 is the deepest', async () => {
      let key = await office.key({ account })
      for (let depth = 1; depth <= 4; depth++) {
        key = await office.key({ account, parentId: key.id })
        expect(key.lineage.length).toBe(depth + 1)
      }
      expect(await rejectionOf(office.key({ account, parentId: key.id }))).toMatchObject({
        type: 'invalid_request',
        detail: { param: 'parent_id' },
      })
    })
  })

  test('asks for exactly what its parent has, and gets it', async () => {
    const wish = {
      capLimit: parent.capLimit,
      expiresAt: parent.expiresAt,
      scopes: parent.scopes as Scope[],
      models: ['acme/one*', 'echo-1'],
      name: 'x'.repeat(64),
    }
    expect(await child(wish)).toMatchObject(wish)
  })

  test('is refused below a key that is revoked or expired', async () => {
    const doomed = await office.key({ account, expiresAt: now + day })
    const below = await office.key({ account, parentId: doomed.id })
    office.clock.set(now + day)
    const late = office.key({ account, parentId: below.id })
    expect(await rejectionOf(late)).toMatchObject({ type: 'key_expired' })
    await office.revoke(doomed)
    const later = office.key({ account, parentId: below.id })
    expect(await rejectionOf(later)).toMatchObject({ type: 'key_revoked' })
    office.clock.set(now)
  })

  promise`A9 C: A key has no more rights, cap or time than the key above it.`
  test('in random trees of random wishes is never more than any key above it', async () => {
    const random = prng(11)
    const own = newAccount()
    const tree = [await office.key({ account: own, scopes: [...scopes], models: ['a*', 'b/*'] })]
    for (let i = 0; i < 60; i++) {
      const above = random.pick(tree)
      const wish: Partial<KeyRequest> = {
        capLimit: (above.capLimit * BigInt(5 + random.below(7))) / 10n,
        ...(random.below(2) ? { expiresAt: now + random.below(200 * day) + 1 } : {}),
        ...(random.below(2) ? { scopes: scopes.filter(() => random.below(4) > 0) } : {}),
        ...(random.below(2)
          ? { models: [random.pick(['a*', 'ab*', 'b/*', 'b/c', '*', 'c'])] }
          : {}),
      }
      const [made] = await Promise.allSettled([
        office.key({ account: own, parentId: above.id, ...wish }),
      ])
      if (made?.status === 'fulfilled') tree.push(made.value)
    }
    expect(tree.length).toBeGreaterThan(10)
    for (const key of tree) {
      for (const id of key.lineage.slice(1)) {
        const above = tree.find((other) => other.id === id)
        if (!above) throw new Error('no ancestor')
        expect(key.capLimit <= above.capLimit && key.expiresAt <= above.expiresAt).toBe(true)
        expect(key.scopes.filter((scope) => !above.scopes.includes(scope))).toEqual([])
        // A model that a child's list allows is allowed by its ancestors' lists.
        for (const model of ['a', 'abc', 'b/', 'b/c', 'b', 'c']) {
          const allows = (row: KeyRow) =>
            row.models.some((glob) => new RegExp(`^${glob.replace('*', '.*')}$`).test(model))
          if (allows(key)) expect(allows(above)).toBe(true)
        }
      }
    }
  }, 30_000)

  test('is the 500th active one at most, also when 520 are asked for at once', async () => {
    const own = newAccount()
    const asked = Array.from({ length: 520 }, () => office.key({ account: own }))
    const { done, refused } = await takenTogether(asked)
    expect(done.length).toBe(500)
    expect(refused).toEqual({ conflict: 20 })
    expect(await rejectionOf(office.key({ account: own }))).toMatchObject({ type: 'conflict' })
    const [first] = done
    if (!first) throw new Error('no key')
    await office.revoke(first)
    await office.key({ account: own })
    expect(await rejectionOf(office.key({ account: own }))).toMatchObject({ type: 'conflict' })
    // Expired ones do not count either.
    office.clock.set(now + 90 * day)
    await office.key({ account: own })
    office.clock.set(now)
  }, 30_000)
})
