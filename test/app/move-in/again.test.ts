import { describe, expect, test } from 'bun:test'
import type { Present } from '../../../src/cli/move-in/decide-moves.ts'
import type { KeyRow } from '../../../src/storage/db/schema/schema.ts'
import { firstRun, key, litellm, newApi, nothing, now, only, secondRun, usd } from './plans.ts'

describe('a second run of an import', () => {
  const rows = (more: object = {}, user: object = {}) =>
    litellm({
      LiteLLM_UserTable: [{ user_id: 'u', user_alias: 'Ann', max_budget: 9, ...user }],
      LiteLLM_VerificationToken: [key(1, { user_id: 'u', max_budget: 5, ...more })],
    })

  test('changes nothing where nothing changed, also under other names and without times.', () => {
    const { present } = firstRun(rows({ created_at: '2026-01-01T00:00:00Z' }))
    const { steps } = secondRun(rows({ key_alias: 'other' }, { user_alias: 'Bob' }), present)
    expect(steps).toEqual({ grants: [], creates: [], changes: [], stops: [], unchanged: 2 })
  })

  test('pauses a key that is blocked there, and revokes one that was deleted.', () => {
    const { present } = firstRun(rows())
    expect(secondRun(rows({ blocked: true }), present).steps.stops).toMatchObject([
      { does: 'pause', name: 'k1', why: 'it is blocked' },
    ])
    const gone = litellm({ LiteLLM_DeletedVerificationToken: [key(1)] })
    expect(secondRun(gone, present).steps.stops).toMatchObject([{ does: 'revoke', name: 'k1' }])
  })

  test('lowers a cap with the one there, and never raises one.', () => {
    const { present } = firstRun(rows())
    const [id = ''] = [...present.keys].find(([, row]) => row.name === 'k1') ?? []
    const withCap = (capLimit: bigint): Present => {
      const row = present.keys.get(id)
      return { ...present, keys: new Map(present.keys).set(id, { ...(row as KeyRow), capLimit }) }
    }
    const lowered = secondRun(rows({ max_budget: 4 }), present)
    expect(lowered.steps.changes).toMatchObject([{ id, change: { capLimit: 4n * usd } }])
    expect(secondRun(rows(), withCap(usd)).steps.changes).toEqual([])
    expect(secondRun(rows({ max_budget: 8 }), present).steps.changes).toEqual([])
    const widened = new Map([[id, new Set(['cap.limit_nusd'])]])
    // It was lowered, and then raised by a person to less than it had first.
    const raised = secondRun(rows({ max_budget: 2 }), { ...withCap(4n * usd), widened })
    expect(raised.steps.changes).toEqual([])
    expect(raised.why).toContain('its cap was raised here')
  })

  test('lowers a cap that is renewed more often there, and stops a key whose is renewed less often.', () => {
    const { present } = firstRun(rows())
    const daily = rows({ max_budget: 1, budget_duration: '1d' })
    const { steps, why } = secondRun(daily, present)
    expect(steps.changes).toMatchObject([{ change: { capLimit: usd } }])
    expect(why).toContain('it may do more there than here')
    const rarer = secondRun(rows({ max_budget: 4 }), firstRun(daily).present).steps
    expect(rarer.stops).toMatchObject([{ does: 'pause', name: 'k1' }])
  })

  test('tightens models, expiry and rates, and widens none.', () => {
    const { present } = firstRun(rows({ models: ['a', 'b'], rpm_limit: 9 }))
    const expires = new Date(now + 86_400_000).toISOString()
    const tight = rows({ models: ['b', 'c'], rpm_limit: 3, max_parallel_requests: 2, expires })
    expect(secondRun(tight, present).steps.changes).toMatchObject([
      { change: { models: ['b'], rpm: 3, concurrency: 2, expiresAt: now + 86_400_000 } },
    ])
    expect(secondRun(rows({ models: [], rpm_limit: null }), present).steps.changes).toEqual([])
  })

  test('books no balance twice, and names the difference.', () => {
    const { present } = firstRun(rows())
    const { steps, why } = secondRun(rows({}, { max_budget: 20 }), present)
    expect(steps.grants).toEqual([])
    expect(why).toContain('it has more there than was granted here once')
  })

  test('gives a key without an owner that came later none of the money of the others.', () => {
    const { present } = firstRun(only(key(1, { max_budget: 5 })))
    const { steps, why } = secondRun(
      only(key(1, { max_budget: 5 }), key(2, { max_budget: 4 })),
      present,
    )
    expect(steps.creates).toMatchObject([{ name: 'k2', capLimit: 1n }])
    expect([steps.grants, steps.changes]).toEqual([[], []])
    expect(why).toContain('a key without an owner came later')
  })

  test('gives a stranger that came after a run that was cut off none of the money of the others.', () => {
    const one = key(1, { max_budget: 5 })
    const first = firstRun(only(one)).present
    const cut = { ...nothing, booked: first.booked }
    expect(secondRun(only(one), cut).steps.creates.at(-1)).toMatchObject({ capLimit: 5n * usd })
    const { steps, why } = secondRun(only(one, key(2, { max_budget: 5 })), cut)
    expect(steps.grants).toEqual([])
    expect(steps.creates.slice(1).map(({ capLimit }) => capLimit)).toEqual([1n, 1n])
    expect(why).toContain('a key without an owner came later')
  })

  test('refuses an owner that went to another account before.', () => {
    const { present } = firstRun(rows())
    const booked = [...present.booked].map(
      ([id, one]) => [id, { ...one, account: `0x${'b2'.repeat(20)}` }] as const,
    )
    const other = { ...present, booked: new Map(booked) }
    expect(() => secondRun(rows(), other)).toThrow('was moved to 0xb2b2')
  })

  const idOf = (present: Present, name: string): string =>
    [...present.keys].find(([, row]) => row.name === name)?.[0] ?? ''
  const withRow = (present: Present, id: string, more: Partial<KeyRow>): Present => {
    const row = { ...(present.keys.get(id) as KeyRow), ...more }
    return { ...present, keys: new Map(present.keys).set(id, row) }
  }

  test('refuses users who came over under another name of the gateway, unless they are others.', () => {
    const { present } = firstRun(rows())
    const named = { as: 'litellm:eu' }
    expect(() => secondRun(rows(), present, named)).toThrow(
      'user/u or a key of it came over as litellm',
    )
    const poor = firstRun(rows({}, { max_budget: 0 })).present
    expect(poor.booked.size).toBe(0)
    expect(() => secondRun(rows(), poor, named)).toThrow(
      'user/u or a key of it came over as litellm',
    )
    const other = secondRun(rows(), present, { ...named, isSeparate: true })
    expect([other.steps.grants.length, other.steps.creates.length]).toEqual([1, 2])
    // Another kind of gateway has other users.
    expect(secondRun(rows(), present, { as: 'openrouter' }).steps.creates.length).toBe(2)
  })

  test('leaves a key where it is that changed its owner there, and tightens and stops it.', () => {
    const users = [
      { user_id: 'u', max_budget: 9 },
      { user_id: 'v', max_budget: 7 },
    ]
    const of = (user_id: string, more: object = {}, v: object = {}) =>
      litellm({
        LiteLLM_UserTable: users.map((user, at) => (at === 0 ? user : { ...user, ...v })),
        LiteLLM_VerificationToken: [key(1, { user_id, max_budget: 5, ...more })],
      })
    const { present } = firstRun(of('u'))
    const placed = {
      accountOf: ({ id }: { id: string }) => `0x${id}`,
    }
    const first = firstRun(of('u'), placed).present
    const again = secondRun(of('v', { max_budget: 3 }), first, placed)
    expect(again.why).toContain('belongs to another there')
    expect(again.steps).toMatchObject({
      ...{ creates: [], grants: [], changes: [{ change: { capLimit: 3n * usd } }] },
    })
    expect(secondRun(of('v', { blocked: true }), present).steps.stops).toMatchObject([
      { does: 'pause', name: 'k1' },
    ])
    // Its parent here stays on: the state of its new owner stops it.
    const stopped = secondRun(of('v', {}, { models: ['no-default-models'] }), present).steps.stops
    expect(stopped.map(({ name }) => name)).toEqual(['litellm v', 'k1'])
  })

  test('stops a user without keys and money who is disabled there.', () => {
    const user = (status: number) => ({ id: 7, username: 'eve', status, quota: 0, used_quota: 0 })
    const read = (status: number, more: object[]) => newApi({ users: [user(status)], tokens: more })
    const token = { id: 1, user_id: 7, status: 1, expired_time: -1, remain_quota: 5 }
    const { present } = firstRun(read(1, [token]))
    const { steps } = secondRun(read(2, []), present)
    expect(steps.stops).toMatchObject([{ does: 'pause', name: 'litellm eve' }])
    expect(secondRun(read(1, []), present).steps.stops).toEqual([])
    expect(secondRun(read(3, []), present).steps.stops).toMatchObject([{ does: 'revoke' }])
  })

  test('stops a key whose limits cannot be read, disabled or not.', () => {
    const read = (more: object) => {
      const token = { id: 1, user_id: 7, name: 'k1', remain_quota: 5, expired_time: -1, ...more }
      return newApi({ users: [{ id: 7, status: 1 }], tokens: [token] })
    }
    const { present } = firstRun(read({ status: 1 }))
    const { steps } = secondRun(read({ status: 2, allow_ips: 'home' }), present)
    expect(steps.stops).toMatchObject([{ does: 'pause', name: 'k1', why: 'it is disabled' }])
    const unread = secondRun(read({ status: 1, allow_ips: 'home' }), present).steps.stops
    expect(unread).toMatchObject([{ name: 'k1', why: 'it has networks that cannot be read' }])
  })

  test('makes no key whose models its owner may not use here any more.', () => {
    const { present } = firstRun(rows())
    const dear = withRow(present, idOf(present, 'litellm Ann'), { models: ['dear'] })
    const found = litellm({
      LiteLLM_UserTable: [{ user_id: 'u', max_budget: 9 }],
      LiteLLM_VerificationToken: [
        key(2, { user_id: 'u', models: ['cheap'] }),
        key(3, { user_id: 'u', models: ['cheap', 'dear'] }),
      ],
    })
    const { steps, why } = secondRun(found, dear)
    expect(steps.creates).toMatchObject([{ name: 'k3', models: ['dear'] }])
    expect(why).toContain('a key: it allows no model that its owner may use here')
  })

  test('stops keys of users who have no account in a narrower map.', () => {
    const { present } = firstRun(rows())
    const outside = { accountOf: () => undefined }
    const stopped = secondRun(rows({ blocked: true }), present, outside).steps
    expect(stopped.stops).toMatchObject([{ does: 'pause', name: 'k1' }])
    expect([stopped.creates, stopped.changes, stopped.grants]).toEqual([[], [], []])
    const user = secondRun(rows({}, { models: ['no-default-models'] }), present, outside).steps
    expect(user.stops.map(({ name }) => name)).toEqual(['litellm Ann'])
    const lower = secondRun(rows({ max_budget: 2 }), present, outside).steps
    expect(lower.changes).toMatchObject([{ name: 'k1', change: { capLimit: 2n * usd } }])
  })

  test('names keys that are not there any more, and leaves them.', () => {
    const { present } = firstRun(rows())
    const without = () =>
      litellm({
        LiteLLM_UserTable: [{ user_id: 'u', max_budget: 9 }],
        LiteLLM_VerificationToken: [],
      })
    const found = without()
    expect(secondRun(found, present).steps).toMatchObject({ stops: [], changes: [] })
    const why = 'not there any more, and stays here: revoke it if it was deleted'
    expect(found.misfits.get(why)).toEqual(['k1'])
    // Those of another gateway are not missed.
    expect(secondRun(without(), present, { as: 'litellm:eu', isSeparate: true }).why).toBe('')
  })

  test('leaves what a person made wider, and names it.', () => {
    const { present } = firstRun(rows({ models: ['a', 'b'], rpm_limit: 9 }))
    const expires = new Date(now + 86_400_000).toISOString()
    const tight = rows({ models: ['b'], rpm_limit: 3, expires })
    const members = ['models', 'limits.rpm', 'expires_at']
    const widened = new Map([[idOf(present, 'k1'), new Set(members)]])
    const { steps, why } = secondRun(tight, { ...present, widened })
    expect(steps.changes).toEqual([])
    for (const what of ['list of models', 'rpm', 'expiry']) {
      expect(why).toContain(`its ${what} was raised here`)
    }
  })
})
