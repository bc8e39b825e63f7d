import { describe, expect, test } from 'bun:test'
import { noLimits, withLimits } from '../../../src/access/keys/key-limits.ts'
import { decideMoves, type Present, type Steps } from '../../../src/cli/move-in/decide-moves.ts'
import type { SourceContents } from '../../../src/cli/move-in/found.ts'
import { readLitellmKeys } from '../../../src/cli/move-in/litellm-keys.ts'
import { oneApiTables, readOneApi } from '../../../src/cli/move-in/one-api.ts'
import { type MovePlan, planMoves } from '../../../src/cli/move-in/plan-moves.ts'
import { rowsIn, type Tables } from '../../../src/cli/move-in/tables.ts'
import { parseExactJson } from '../../../src/kernel/exact-json.ts'
import type { KeyRow } from '../../../src/storage/db/schema/schema.ts'
import { tokenOf } from './fixtures.ts'

const account = `0x${'a1'.repeat(20)}`
const now = 1_790_000_000_000
const usd = 1_000_000_000n

const tablesOf = (rows: Record<string, object[]>): Tables =>
  new Map(
    Object.entries(rows).map(([name, list]) => [
      name,
      rowsIn(parseExactJson(JSON.stringify(list))),
    ]),
  )

const litellm = (rows: Record<string, object[]>) => readLitellmKeys(tablesOf(rows), now)
const key = (n: number, more: object = {}) => ({ token: tokenOf(n), key_alias: `k${n}`, ...more })
const only = (...keys: object[]) => litellm({ LiteLLM_VerificationToken: keys })

const planOf = (found: SourceContents, isShared = true): MovePlan =>
  planMoves(found, {
    ...{ as: 'litellm', accountOf: () => ({ account, isShared }), aliases: {}, now, mark: '' },
  })

const nothing: Present = {
  ...{ keys: new Map(), booked: new Map(), caps: new Map(), balances: new Map() },
}

/** The rows that a plan makes, as a later run finds them. */
function madeBy(plan: MovePlan, steps: Steps): Present {
  const wishes = plan.owners.flatMap(({ parent, keys }) => [parent, ...keys])
  const rows = wishes
    .filter(({ id }) => steps.creates.some((one) => one.id === id))
    .map((wish): KeyRow => {
      const { hasExpiry: _, state: __, owner: ___, parentId, ...own } = wish
      const row = {
        ...{ ...own, accountId: account, parentId: parentId ?? null, lineage: [own.id] },
        ...withLimits(noLimits, own),
        ...{ models: [...own.models], ipCidrs: [...own.ipCidrs], branch: null, fingerprint: '' },
        ...{ secretBy: 'operator', scopes: [], passport: '', childrenCount: 0, createdAt: now },
        ...{ pausedAt: null, pausedReason: null, leakAnsweredAt: null, revokedAt: null },
        ...{ revokedBy: null, lastUsedAt: null },
      }
      return row
    })
  const booked = steps.grants.map(({ id, amount }) => [id, { account, amount }] as const)
  return {
    keys: new Map(rows.map((row) => [row.id, row])),
    booked: new Map(booked),
    caps: new Map(rows.map((row) => [row.id, row.capLimit])),
    balances: new Map(),
  }
}

const firstRun = (found: SourceContents) => {
  const plan = planOf(found)
  const steps = decideMoves(plan, nothing, found.misfits)
  return { plan, steps, present: madeBy(plan, steps) }
}

const secondRun = (found: SourceContents, present: Present) => ({
  steps: decideMoves(planOf(found), present, found.misfits),
  why: [...found.misfits.keys()].join('; '),
})

const named = ({ steps }: { steps: Steps }, name: string) =>
  steps.creates.find((one) => one.name === name)

describe('what an import reads of LiteLLM', () => {
  test('A shared budget bounds the caps and rates of its keys, the lower of both counts.', () => {
    const found = litellm({
      LiteLLM_BudgetTable: [
        {
          budget_id: 'b',
          max_budget: 3,
          rpm_limit: '60.0',
          tpm_limit: 9,
          max_parallel_requests: 2,
        },
      ],
      LiteLLM_VerificationToken: [
        key(1, { budget_id: 'b', spend: 1 }),
        key(2, { budget_id: 'b', max_budget: 2, spend: 1, rpm_limit: 7 }),
        key(3, { budget_id: 'b', max_budget: 50 }),
      ],
    })
    expect(found.keys).toMatchObject([
      { cap: 2n * usd, rpm: 60, concurrency: 2 },
      { cap: usd, rpm: 7 },
      { cap: 3n * usd },
    ])
  })

  test('A budget of a member of a team bounds the keys of that member.', () => {
    const found = litellm({
      LiteLLM_BudgetTable: [{ budget_id: 'm', max_budget: 4 }],
      LiteLLM_TeamTable: [{ team_id: 't', max_budget: 100, spend: 10 }],
      LiteLLM_TeamMembership: [{ team_id: 't', user_id: 'u', budget_id: 'm', spend: 1.5 }],
      LiteLLM_VerificationToken: [key(1, { team_id: 't', user_id: 'u' }), key(2, { team_id: 't' })],
    })
    expect(found.keys.map(({ cap }) => cap)).toEqual([2_500_000_000n, undefined])
    expect(found.owners).toMatchObject([{ id: 'team/t', balance: 90n * usd }])
  })

  test('A budget that is renewed becomes a window here, never one that allows more.', () => {
    const renewed = (n: number, budget_duration: string) =>
      key(n, { max_budget: 5, spend: 1, budget_duration })
    const durations = ['1h', '24h', '7d', '10d', '30d', '1mo', '90d']
    const found = only(...durations.map((one, at) => renewed(at, one)))
    expect(found.keys.map(({ window, cap }) => `${window} ${cap}`)).toEqual([
      ...['day', 'day', 'week', 'month', 'month', 'month'].map((one) => `${one} ${5n * usd}`),
      `lifetime ${4n * usd}`,
    ])
    const why = 'a cap that is renewed in another rhythm there is renewed less often here'
    expect(found.misfits.get(why)).toEqual(['k0', 'k3', 'k6'])
  })

  test('A blocked team, a user without models and a limit of zero leave their keys behind.', () => {
    const found = litellm({
      LiteLLM_TeamTable: [{ team_id: 't', max_budget: 9, blocked: true }],
      LiteLLM_UserTable: [{ user_id: 'u', max_budget: 9, models: ['no-default-models'] }],
      LiteLLM_VerificationToken: [
        ...[key(1, { team_id: 't' }), key(2, { user_id: 'u' }), key(3, { rpm_limit: 0.5 })],
        key(4, { blocked: true }),
      ],
    })
    const { steps } = firstRun(found)
    expect(steps.creates).toEqual([])
    expect(steps.grants).toEqual([])
    expect([...found.misfits.keys()].join()).toContain('its team is blocked')
  })

  test('The own models of a user bound every key of that user.', () => {
    const found = litellm({
      LiteLLM_UserTable: [{ user_id: 'u', max_budget: 9, models: ['a', 'b'] }],
      LiteLLM_VerificationToken: [
        key(1, { user_id: 'u' }),
        key(2, { user_id: 'u', models: ['b', 'c'] }),
        key(3, { user_id: 'u', models: ['c'] }),
        key(4, { user_id: 'u', models: ['all-proxy-models'], tpm_limit: 5 }),
      ],
    })
    const run = firstRun(found)
    expect(named(run, 'litellm u')?.models).toEqual(['a', 'b'])
    expect(['k1', 'k2', 'k3', 'k4'].map((name) => named(run, name)?.models)).toEqual([
      [],
      ['b'],
      undefined,
      [],
    ])
    expect(found.misfits.get('tpm_limit: not kept here')).toEqual(['k4'])
  })

  test('Keys without an owner share one capped parent, and those without a budget get no money.', () => {
    const found = only(
      key(1, { max_budget: 5, spend: 1 }),
      key(2, { max_budget: 3 }),
      key(3, {}),
      key(4, { max_budget: 1, budget_duration: '1d' }),
    )
    const { plan, steps } = firstRun(found)
    expect(plan.owners.map(({ parent, balance }) => [parent.capLimit, balance])).toEqual([
      [7n * usd, 7n * usd],
      [1n, 0n],
    ])
    expect(steps.grants.map(({ amount }) => amount)).toEqual([7n * usd])
    expect(
      steps.creates.every(({ parentId, name }) => parentId || name.startsWith('litellm')),
    ).toBe(true)
    expect(named({ steps }, 'k4')).toMatchObject({ capLimit: 1n, capWindow: 'day' })
  })

  test('A budget that is renewed bounds a shared account by what is left, its own by the window.', () => {
    const rows = { user_id: 'u', max_budget: 9, spend: 2, budget_duration: '30d' }
    const found = litellm({ LiteLLM_UserTable: [rows], LiteLLM_VerificationToken: [] })
    expect(planOf(found).owners[0]?.parent).toMatchObject({
      ...{ capLimit: 7n * usd, capWindow: 'lifetime' },
    })
    expect(planOf(found, false).owners[0]?.parent).toMatchObject({
      ...{ capLimit: 9n * usd, capWindow: 'month' },
    })
  })
})

test('A token of new-api whose list of models is on and empty stays there.', () => {
  const tables = tablesOf({
    users: [{ id: 7, username: 'eve', status: 1, quota: 500_000, used_quota: 0 }],
    tokens: [
      {
        id: 1,
        user_id: 7,
        status: 1,
        remain_quota: 5,
        model_limits_enabled: true,
        model_limits: '',
      },
    ],
  })
  expect(Object.keys(oneApiTables)).toContain('tokens')
  expect(readOneApi(tables, 'new-api', now).keys[0]?.state).toEqual({
    ...{ is: 'off', why: 'it allows no model' },
  })
})

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
    const raised = secondRun(rows(), withCap(8n * usd))
    expect(raised.steps.changes).toEqual([])
    expect(raised.why).toContain('its cap was raised here')
  })

  test('leaves a cap alone whose window is another there, and says so.', () => {
    const { present } = firstRun(rows())
    const { steps, why } = secondRun(rows({ max_budget: 1, budget_duration: '1d' }), present)
    expect(steps.changes).toEqual([])
    expect(why).toContain('its cap is renewed otherwise there')
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

  test('refuses an owner that went to another account before.', () => {
    const { present } = firstRun(rows())
    const booked = [...present.booked].map(
      ([id, one]) => [id, { ...one, account: `0x${'b2'.repeat(20)}` }] as const,
    )
    const other = { ...present, booked: new Map(booked) }
    expect(() => secondRun(rows(), other)).toThrow('was moved to 0xb2b2')
  })
})

test('A key whose name is a secret comes over without it.', () => {
  const found = only(key(1, { key_alias: 'sk-live-0123456789abcdef', max_budget: 1 }))
  expect(firstRun(found).steps.creates.at(-1)?.name).toBe('sk-[redacted]')
})

test('A sum above what an account can hold is refused before anything is written.', () => {
  const user = (n: number) => ({ user_id: `u${n}`, max_budget: 5_000_000 })
  const found = litellm({ LiteLLM_UserTable: [user(1), user(2)], LiteLLM_VerificationToken: [] })
  expect(() => firstRun(found)).toThrow('an account holds at most 9,000,000')
  const one = litellm({ LiteLLM_UserTable: [user(1)], LiteLLM_VerificationToken: [] })
  const present = { ...nothing, balances: new Map([[account, 5_000_000n * usd]]) }
  expect(() => secondRun(one, present)).toThrow('at most 9,000,000')
})
