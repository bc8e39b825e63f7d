import { describe, expect, test } from 'bun:test'
import { planMoves } from '../../../src/cli/move-in/plan-moves.ts'
import { readForeignPostgres } from '../../../src/storage/db/files/foreign-tables.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { litellmDump, openrouterKeys, tokenOf } from './fixtures.ts'
import { account, channel, now, usd } from './plans.ts'
import { budget, key, readTexts, team, user } from './texts.ts'

const litellm = (rows: Record<string, object[]>) => readTexts('litellm', rows)

const planOf = async (found: ReturnType<typeof litellm>) =>
  planMoves(await found, {
    isSeparate: false,
    newOwners: new Set(),
    ...{ as: 'litellm', accountOf: () => account, aliases: {}, now },
  })

describe('the tables that a list without a name is taken for', () => {
  test('Keys that were deleted are never read as living ones.', async () => {
    const deleted = key(1, { id: 'row', deleted_at: '2026-01-01', deleted_by: 'me' })
    const header = Object.keys(deleted).join(',')
    const csv = `${header}\n${Object.values(deleted).join(',')}\n`
    for (const text of [[deleted], csv]) {
      const { keys } = await readTexts('litellm', text)
      expect(keys.map(({ state }) => state.is)).toEqual(['gone'])
    }
    expect(await outcomeOf(readTexts('litellm', { keys: [deleted] }))).toThrow('deleted ones')
    expect(await outcomeOf(readTexts('litellm', [{ ...team('t'), deleted_at: null }]))).toThrow(
      'none of',
    )
  })

  test('Customers are no users, and organizations no budgets.', async () => {
    const customer = { user_id: 'c', alias: 'c', spend: 0, budget_id: null, blocked: true }
    const organization = { organization_id: 'o', budget_id: 'b', models: [], spend: 0 }
    for (const rows of [[customer], [organization]]) {
      expect(await outcomeOf(readTexts('litellm', rows))).toThrow('none of the tables')
    }
    const { owners } = await readTexts('litellm', [user('u', { max_budget: 3 })])
    expect(owners).toMatchObject([{ id: 'user/u', balance: 3n * usd }])
  })

  test('An export without a column that limits is refused, with the names of what it lacks.', async () => {
    const { blocked: _, budget_id: __, ...some } = key(1)
    const csv = `token,spend\n${tokenOf(1)},0\n`
    for (const text of [csv, [some], { LiteLLM_VerificationToken: [some] }]) {
      expect(await outcomeOf(readTexts('litellm', text))).toThrow(
        /lacks columns.*blocked.*budget_id/,
      )
    }
  })

  test('A dump whose user is named like the list of models is a dump.', async () => {
    const row = user('model_list: x', { max_budget: 4, models: '{}' })
    const copy = litellmDump({ LiteLLM_UserTable: [row] })
    const { owners } = await readTexts('litellm', copy)
    expect(owners).toMatchObject([{ id: 'user/model_list: x', balance: 4n * usd }])
  })

  test('An error about a key that stands there twice says no part of its id.', async () => {
    const rows = [1, 2].map((spend) => [key(1, { token: 'short-secret', spend })])
    const refused = await readTexts('litellm', ...rows).catch(String)
    expect(refused).toContain('a row of LiteLLM_VerificationToken stands there twice')
    expect(refused).not.toContain('short')
  })
})

describe('limits that another table holds', () => {
  test.each([
    ['team_id', { team_id: 't' }, 'LiteLLM_TeamTable'],
    ['budget_id', { budget_id: 'b' }, 'LiteLLM_BudgetTable'],
    ['user_id', { user_id: 'u' }, 'LiteLLM_UserTable'],
  ])('A key with a %s is refused without its table.', async (column, more, table) => {
    const refused = litellm({ LiteLLM_VerificationToken: [key(1, more)] })
    expect(await outcomeOf(refused)).toThrow(`${column} that no row of ${table} has`)
  })

  test('A word that is neither true nor false is refused.', async () => {
    const odd = litellm({ LiteLLM_VerificationToken: [key(1, { blocked: 'yes' })] })
    expect(await outcomeOf(odd)).toThrow('neither true nor false')
    const credits = { data: { total_credits: 5, total_usage: 1 } }
    const [one] = openrouterKeys()
    const keys = { data: [{ ...one, disabled: 'on' }] }
    expect(await outcomeOf(readTexts('openrouter', credits, keys))).toThrow('disabled of a row')
  })

  test('The budget of the whole proxy is granted to no account.', async () => {
    const found = await litellm({
      LiteLLM_UserTable: [user('litellm-proxy-budget', { max_budget: 5000 })],
    })
    expect(found.owners).toEqual([])
    expect(found.misfits.get('the budget of the whole proxy: not kept here')).toHaveLength(1)
  })

  test('The budget of a member of a team is given once to all keys of the member together.', async () => {
    const of = (n: number, more: object = {}) => key(n, { team_id: 't', user_id: 'u', ...more })
    const found = await litellm({
      LiteLLM_BudgetTable: [budget('m', { max_budget: 10, rpm_limit: 6 })],
      LiteLLM_TeamTable: [team('t', { max_budget: 100 })],
      LiteLLM_TeamMembership: [{ team_id: 't', user_id: 'u', budget_id: 'm', spend: 1 }],
      LiteLLM_VerificationToken: [of(1), of(2), of(3, { max_budget: 1 }), of(4, { blocked: true })],
    })
    const member = 'member/["t","u"]'
    expect(found.keys).toMatchObject([
      { id: member, isMember: true, cap: 9n * usd, rpm: 6, owner: 'team/t' },
      { member, cap: undefined },
      { member },
      { member, cap: usd },
      { member, state: { is: 'off' } },
    ])
    const { owners } = await planOf(Promise.resolve(found))
    const [above, ...keys] = owners[0]?.keys ?? []
    expect(above).toMatchObject({ parentId: owners[0]?.parent.id, capLimit: 9n * usd })
    expect(keys.map(({ parentId }) => parentId === above?.id)).toEqual([true, true, true, true])
  })

  test('A team may name the budget of its members, and a missing membership is no reason for more.', async () => {
    const rows = {
      LiteLLM_BudgetTable: [budget('m', { max_budget: 2 })],
      LiteLLM_TeamTable: [team('t', { max_budget: 100, metadata: { team_member_budget_id: 'm' } })],
      LiteLLM_VerificationToken: [key(1, { team_id: 't', user_id: 'u' })],
    }
    expect(await outcomeOf(litellm(rows))).toThrow('LiteLLM_TeamMembership')
    const member = { team_id: 't', user_id: 'u', budget_id: null, spend: 0.5 }
    const found = await litellm({ ...rows, LiteLLM_TeamMembership: [member] })
    expect(found.keys).toMatchObject([{ cap: 1_500_000_000n, isMember: true }, {}])
  })

  test('A renewed budget below one for ever is not renewed.', async () => {
    const { keys } = await litellm({
      LiteLLM_BudgetTable: [budget('b', { max_budget: 9 })],
      LiteLLM_VerificationToken: [
        key(1, { budget_id: 'b', max_budget: 5, budget_duration: '1d', spend: 1 }),
      ],
    })
    expect(keys).toMatchObject([{ cap: 5n * usd, window: 'lifetime' }])
  })
})

describe('money that keys of strangers would share', () => {
  test('Keys of the default user belong to no one, and uncapped keys of a team without a budget have no money.', async () => {
    const found = await litellm({
      LiteLLM_UserTable: [user('default_user_id')],
      LiteLLM_TeamTable: [team('t')],
      LiteLLM_VerificationToken: [
        key(1, { user_id: 'default_user_id', max_budget: 5 }),
        key(2, { user_id: 'default_user_id' }),
        key(3, { team_id: 't', max_budget: 5 }),
        key(4, { team_id: 't' }),
        key(5, { team_id: 't', max_budget: 3, budget_duration: '1d' }),
      ],
    })
    const { owners } = await planOf(Promise.resolve(found))
    const caps = owners.flatMap(({ keys }) => keys.map((one) => [one.owner, one.capLimit]))
    expect(caps).toEqual([
      ['team/t', 5n * usd],
      ['team/t', 1n],
      ['team/t', 1n],
      ['unowned/capped', 5n * usd],
      ['unowned/open', 1n],
    ])
  })

  test('A budget that is renewed every 90 days is what is left of it, in an account of its own too.', async () => {
    const rows = [user('u', { max_budget: 9, spend: 4, budget_duration: '90d' })]
    const plan = await planOf(litellm({ LiteLLM_UserTable: rows }))
    expect(plan.owners[0]?.parent).toMatchObject({ capLimit: 5n * usd, capWindow: 'lifetime' })
  })
})

const oneApiToken = {
  ...{ user_id: 7, status: 1, expired_time: -1, remain_quota: 5, unlimited_quota: false },
  ...{ models: '', subnet: '' },
}

describe('keys that call nothing there', () => {
  test('A key that may not chat there, or has no tokens a minute, stays there.', async () => {
    const { keys, misfits } = await litellm({
      LiteLLM_BudgetTable: [budget('b', { max_budget: 9, tpm_limit: 0 })],
      LiteLLM_VerificationToken: [
        key(1, { allowed_routes: ['management_routes', '/key/*'] }),
        key(2, { tpm_limit: 0 }),
        key(3, { budget_id: 'b' }),
        key(4, { allowed_routes: ['/v1/chat/completions'] }),
        key(5, { allowed_routes: [], tpm_limit: 5 }),
        key(6, { allowed_routes: ['/v1/embeddings', '/v1/messages/count_tokens'] }),
      ],
    })
    const states = ['off', 'off', 'off', 'on', 'on', 'off'] as const
    expect(keys.map(({ state }) => state.is)).toEqual([...states])
    expect(misfits.get('allowed_routes: not kept here')).toEqual(['k4'])
  })

  const tokens = (...list: object[]) =>
    readTexts('one-api', {
      users: [{ id: 7, username: 'eve', status: 1, quota: 500_000, group: 'default' }],
      tokens: list.map((one, at) => ({ ...oneApiToken, id: at + 1, ...one })),
      ...{ channels: [channel], options: [] },
    })

  test('A token of one-api that was used up stays off, also with more quota.', async () => {
    const { keys } = await tokens(
      { status: 4, remain_quota: 5 },
      { status: 4, unlimited_quota: true },
      { status: 4, remain_quota: 0 },
    )
    expect(keys.map(({ state }) => state.is)).toEqual(['off', 'off', 'on'])
  })

  test('An asterisk in the models of a token allows no other model.', async () => {
    const { keys } = await tokens({ models: '*' }, { models: 'a,b*' }, { models: '' })
    expect(keys.map(({ models, state }) => [models, state.is])).toEqual([
      [[], 'off'],
      [['a'], 'on'],
      [undefined, 'on'],
    ])
  })

  test('A time that is not a number is refused by the name of its column.', async () => {
    expect(await outcomeOf(tokens({ expired_time: 'never' }))).toThrow('expired_time of a row')
  })
})

test('An address keeps its sslmode: a server without TLS learns no name and no password.', async () => {
  const first: Buffer[] = []
  using server = Bun.listen({
    ...{ hostname: '127.0.0.1', port: 0 },
    socket: {
      data(socket, bytes) {
        if (first.push(bytes) === 1) socket.end('N')
      },
    },
  })
  const place = `postgres://me:word@127.0.0.1:${server.port}/db?sslmode=require&schema=public`
  expect(await outcomeOf(readForeignPostgres(place, ['users'], () => 'public'))).toThrow(
    'could not be read',
  )
  expect(first[0]?.toString('hex')).toBe('0000000804d2162f')
})
