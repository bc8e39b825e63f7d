import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { countAffected } from '../../../src/access/keys/affected.ts'
import { statusOf } from '../../../src/access/keys/key.ts'
import { pauseKey } from '../../../src/access/keys/pause.ts'
import { rotateKey } from '../../../src/access/keys/rotate.ts'
import { shownKeys } from '../../../src/access/keys/store/shown-key.ts'
import type { KeyRow } from '../../../src/storage/db/schema/schema.ts'
import { newAccount, openOffice } from '../../ledger/office.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { engines } from '../../support/world.ts'

const day = 86_400_000

describe.each(engines)('the keys of an account on %s', (engine) => {
  let office: Awaited<ReturnType<typeof openOffice>>
  beforeAll(async () => {
    office = await openOffice(engine)
  }, 30_000)
  afterAll(() => office.close())

  const tree = (account: string) => office.keys.tree({ account }, office.clock.now())
  /** Keys made a millisecond apart, so that their order is known. */
  const later = async (
    account: string,
    parent?: KeyRow,
    capWindow: KeyRow['capWindow'] = 'day',
  ) => {
    office.clock.set(office.clock.now() + 1)
    return office.key({ account, parentId: parent?.id, capWindow, capLimit: 1000n })
  }

  test('stand below their parents, the newest first, without those that are revoked', async () => {
    const account = newAccount()
    const old = await later(account)
    const young = await later(account)
    const a = await later(account, old)
    const b = await later(account, old)
    const deep = await later(account, a)
    const gone = await later(account, a)
    const below = await later(account, gone)
    await office.revoke(gone)
    await later(newAccount())
    const shown = await tree(account)
    expect(shown.map(({ key }) => key.id)).toEqual([young, old, b, a, deep].map(({ id }) => id))
    expect(shown.map(({ chain }) => chain.length)).toEqual([1, 1, 2, 2, 3])
    const now = office.clock.now()
    const revoked = { ended: 'revoked' } as const
    const page = await office.keys.listAll(
      { account },
      revoked,
      { limit: 1, after: undefined },
      now,
    )
    expect([page.items.map(({ key }) => key.id), page.hasMore]).toEqual([[below.id], true])
    const next = await office.keys.listAll({ account }, revoked, { limit: 1, after: below.id }, now)
    expect([next.items.map(({ key }) => key.id), next.hasMore]).toEqual([[gone.id], false])
    expect(statusOf(next.items[0]?.chain ?? [], now)).toBe('revoked')
  })

  test('Keys show what their current window counts, of any length, and their rotation', async () => {
    const account = newAccount()
    await office.grant(account, 1000n)
    const made: KeyRow[] = []
    for (const window of ['lifetime', 'day', 'week', 'month'] as const) {
      made.push(await later(account, undefined, window))
    }
    for (const key of made) {
      await office.end(await office.hold(key, 20n), 7n)
      await office.hold(key, 5n)
    }
    const seen = async () =>
      (await tree(account)).map(({ window }) => [window?.spent, window?.held])
    expect(await seen()).toEqual(Array(4).fill([7n, 5n]))
    office.clock.set(office.clock.now() + 40 * day)
    expect(await seen()).toEqual([...Array(3).fill([undefined, undefined]), [7n, 5n]])
    const [first] = made
    if (!first) throw new Error('no key')
    await rotateKey(office, { keyId: first.id, actor: 'test', overlapSeconds: 60 })
    const until = (await tree(account)).map(({ overlapUntil }) => overlapUntil)
    expect(until).toEqual([null, null, null, office.clock.now() + 60_000])
  })

  test('are read with one query, all 500 of them', async () => {
    const account = newAccount()
    const roots = await Promise.all(Array.from({ length: 20 }, () => office.key({ account })))
    await Promise.all(
      roots.flatMap((root) =>
        Array.from({ length: 24 }, () => office.key({ account, parentId: root.id })),
      ),
    )
    let steps = 0
    const counted = shownKeys({
      ...office.db,
      read: (work) =>
        office.db.read(function* (q) {
          const running = work(q)
          let turn = running.next()
          while (!turn.done) {
            steps++
            turn = running.next(yield turn.value)
          }
          return turn.value
        }),
    })
    const shown = await counted.tree({ account }, office.clock.now())
    expect([shown.length, steps]).toEqual([500, 1])
    const at = new Map(shown.map(({ key }, place) => [key.id, place]))
    for (const { key } of shown) {
      if (key.parentId) expect(at.get(key.id)).toBeGreaterThan(at.get(key.parentId) ?? 500)
    }
  }, 60_000)

  test('are counted before one is revoked: what stops with it', async () => {
    const account = newAccount()
    await office.grant(account, 1000n)
    const top = await later(account)
    const key = await later(account, top)
    const child = await later(account, key)
    const paused = await later(account, key)
    const gone = await later(account, key)
    await pauseKey(office, { keyId: paused.id, actor: 'test' })
    await office.revoke(gone)
    await office.hold(top, 1n)
    await office.hold(key, 1n)
    const ended = await office.hold(child, 1n)
    await office.hold(child, 1n)
    await office.end(ended, 1n)
    expect(await countAffected(office, key.id)).toEqual({ keysBelow: 2, runsInFlight: 2 })
    expect(await countAffected(office, top.id)).toEqual({ keysBelow: 3, runsInFlight: 3 })
    expect(await countAffected(office, child.id)).toEqual({ keysBelow: 0, runsInFlight: 1 })
    const none = countAffected(office, 'key_none')
    expect(await rejectionOf(none)).toMatchObject({ type: 'not_found' })
  })
})
