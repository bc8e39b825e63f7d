import { describe, expect, test } from 'bun:test'
import { secretRemover } from '../../../src/cli/move-in/found.ts'
import {
  account,
  firstRun,
  key,
  litellm,
  named,
  newApi,
  nothing,
  only,
  planOf,
  secondRun,
  usd,
} from './plans.ts'

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
      ['a', 'b'],
      ['b'],
      undefined,
      ['a', 'b'],
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

  test('A budget of a user that is renewed is what is left of it, and the report says so.', () => {
    const rows = { user_id: 'u', max_budget: 9, spend: 2, budget_duration: '30d' }
    const found = litellm({ LiteLLM_UserTable: [rows], LiteLLM_VerificationToken: [] })
    expect(planOf(found).owners[0]?.parent).toMatchObject({
      ...{ capLimit: 7n * usd, capWindow: 'lifetime' },
    })
    const why = 'its budget is renewed there; here it has what is left'
    expect(found.misfits.get(why)).toEqual(['user/u'])
  })
})

test('A token of new-api whose list of models is on and empty stays there.', () => {
  const token = { id: 1, user_id: 7, status: 1, expired_time: -1, remain_quota: 5 }
  const found = newApi({
    users: [{ id: 7, username: 'eve', status: 1, quota: 500_000, used_quota: 0 }],
    tokens: [{ ...token, model_limits_enabled: true, model_limits: '' }],
  })
  expect(found.keys[0]?.state).toEqual({
    ...{ is: 'off', why: 'it allows no model' },
  })
})

test('A key whose name is a secret comes over without it.', () => {
  const found = only(key(1, { key_alias: 'sk-live-0123456789abcdef', max_budget: 1 }))
  expect(firstRun(found).steps.creates.at(-1)?.name).toBe('sk-[redacted]')
})

test('A secret is taken out of a name and a text, as JSON writes it too.', () => {
  const found = only(key(1, { key_alias: 'of p"w\\d1', max_budget: 1 }))
  found.secrets.add('p"w\\d1').add('1')
  expect(firstRun(found).steps.creates.at(-1)?.name).toBe('of [redacted]')
  const clean = secretRemover(found)
  expect(clean(JSON.stringify({ a: 'p"w\\d1p"w\\d1, 1' }))).toBe('{"a":"[redacted][redacted], 1"}')
})

test('A sum above what an account can hold is refused before anything is written.', () => {
  const user = (n: number) => ({ user_id: `u${n}`, max_budget: 5_000_000 })
  const found = litellm({ LiteLLM_UserTable: [user(1), user(2)], LiteLLM_VerificationToken: [] })
  expect(() => firstRun(found)).toThrow('an account holds at most 9,000,000')
  const one = litellm({ LiteLLM_UserTable: [user(1)], LiteLLM_VerificationToken: [] })
  const present = { ...nothing, balances: new Map([[account, 5_000_000n * usd]]) }
  expect(() => secondRun(one, present)).toThrow('at most 9,000,000')
})
