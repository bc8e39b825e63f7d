import { describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeSecrets } from '../../../src/cli/move-in/apply-moves.ts'
import { addMisfit, lineCleaner, nothingFound } from '../../../src/cli/move-in/found.ts'
import { litellmColumns } from '../../../src/cli/move-in/litellm-tables.ts'
import { oneApiColumns } from '../../../src/cli/move-in/one-api.ts'
import { oneOf } from '../../../src/cli/move-in/tables.ts'
import { readForeignPostgres } from '../../../src/storage/db/files/foreign-tables.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { litellmDump, openrouterKeys, sourceSecrets } from './fixtures.ts'
import { channel, firstRun, newApi, only, key as plainKey, secondRun, usd } from './plans.ts'
import { budget, key, readAs, readTexts, team, user } from './texts.ts'

const without = (row: object, column: string) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => name !== column))

const member = { user_id: 'u', team_id: 't', budget_id: 'b', spend: 0 }
const rows: Record<string, object> = {
  LiteLLM_VerificationToken: key(1),
  ...{ LiteLLM_UserTable: user('u'), LiteLLM_TeamTable: team('t') },
  ...{ LiteLLM_BudgetTable: budget('b', {}), LiteLLM_TeamMembership: member },
}

const token = {
  ...{ id: 1, user_id: 7, status: 1, expired_time: -1, remain_quota: 5, unlimited_quota: false },
  ...{ model_limits_enabled: false, model_limits: '', allow_ips: null, group: '' },
  ...{ deleted_at: null as string | null, models: '', subnet: '' },
}
const newApiUser = { id: 7, status: 1, quota: 500_000, group: 'default', deleted_at: null }
const others = { channels: [channel], options: [] }

describe('an export that lacks a column that limits', () => {
  test('Each column of LiteLLM is needed in each row, and named where it is not there.', async () => {
    for (const [name, columns] of Object.entries(litellmColumns)) {
      const row = rows[name]
      for (const column of row ? columns.slice(1) : []) {
        const refused = readTexts('litellm', { [name]: [row, without(row ?? {}, column)] })
        expect(await outcomeOf(refused)).toThrow(`its ${name} lacks columns that limit: ${column}.`)
      }
    }
  })

  test.each(['new-api', 'one-api'] as const)(
    'Each column of %s is needed in each row.',
    async (kind) => {
      const all = { tokens: token, users: newApiUser }
      const plain = kind === 'one-api' ? without(token, 'model_limits_enabled') : token
      for (const [name, row] of Object.entries({ ...all, tokens: plain })) {
        for (const column of oneApiColumns[kind][name]?.slice(1) ?? []) {
          const lists = { ...others, users: [newApiUser], tokens: [plain] }
          const refused = readTexts(kind, { ...lists, [name]: [row, without(row, column)] })
          expect(await outcomeOf(refused)).toThrow(
            `its ${name} lacks columns that limit: ${column}`,
          )
        }
      }
    },
  )

  test('Each member of a key of OpenRouter that limits is needed.', async () => {
    const credits = { data: { total_credits: 5, total_usage: 1 } }
    const [one = {}] = openrouterKeys()
    for (const column of ['disabled', 'limit', 'limit_remaining', 'limit_reset', 'expires_at']) {
      const refused = readTexts('openrouter', credits, { data: [without(one, column)] })
      expect(await outcomeOf(refused)).toThrow(`lacks columns that limit: ${column}`)
    }
  })

  test('Users and tokens are refused without the tables that say what they mean.', async () => {
    const lists = { ...others, users: [newApiUser], tokens: [token] }
    for (const name of ['users', 'channels', 'options']) {
      const refused = readTexts('new-api', without(lists, name))
      expect(await outcomeOf(refused)).toThrow(`it lacks ${name}`)
    }
    expect(await outcomeOf(readTexts('one-api', lists))).toThrow('its tokens are of new-api')
  })

  test('A CSV of which rows or columns may be lost is refused.', async () => {
    const header = Object.keys(key(1)).join(',')
    const line = Object.values(key(1)).join(',')
    const open = `${header}\n${line.replace(/,[^,]*$/, ',"')}\n${line}\n`
    expect(await outcomeOf(readTexts('litellm', open))).toThrow('a quote is not closed')
    expect(await outcomeOf(readTexts('litellm', `${header},blocked\n${line},false\n`))).toThrow(
      'two of its columns have one name',
    )
  })
})

describe('the form of an export', () => {
  const dump = litellmDump({ LiteLLM_UserTable: [user('u', { max_budget: 4, models: '{}' })] })
  const tables = dump.replace(/^-- .*$/gm, '')
  const both = `${dump}${tables.replaceAll('public.', 'eu.').replace('u\t', 'v\t')}`

  test('A dump with two schemas is refused by their names, and one of them can be chosen.', async () => {
    expect(await outcomeOf(readTexts('litellm', both))).toThrow('several schemas (eu, public)')
    const { owners } = await readAs({ gateway: 'litellm', schema: 'eu' }, both)
    expect(owners.map(({ id }) => id)).toEqual(['user/v'])
    expect(await outcomeOf(readAs({ gateway: 'litellm', schema: 'no' }, both))).toThrow('none of')
  })

  const server = process.env['TEST_DATABASE_URL'] ?? ''

  test.skipIf(server === '')('So are two schemas of a PostgreSQL database.', async () => {
    const [one, other] = ['one', 'other'].map((name) => `move_in_${name}_${process.pid}`)
    const table = `made_up_${process.pid}`
    const readWith = (place: string, schema?: string) =>
      readForeignPostgres(place, [table], (some) => oneOf(some, schema))
    await using sql = new Bun.SQL(server)
    try {
      for (const name of [one, other]) {
        await sql.unsafe(`create schema ${name}`)
        await sql.unsafe(`create table ${name}.${table} as select '${name}' as id`)
      }
      expect(await outcomeOf(readWith(server))).toThrow(`(${one}, ${other})`)
      const id = (name = '') => [[table, [`{"id":"${name}"}`]]]
      expect([...(await readWith(server, other))]).toEqual(id(other) as never)
      expect([...(await readWith(`${server}?schema=${one}`))]).toEqual(id(one) as never)
    } finally {
      for (const name of [one, other]) await sql.unsafe(`drop schema if exists ${name} cascade`)
    }
  })

  test('A dump with INSERT statements is refused: a text in it could pose as rows.', async () => {
    const posing = `-- PostgreSQL database dump\nINSERT INTO t VALUES ('\n${dump}');\n`
    expect(await outcomeOf(readTexts('litellm', posing))).toThrow('dump them as COPY')
  })

  test('JSON is a configuration by its model_list and tables by their names, never both.', async () => {
    const params = { model: 'openai/gpt-4o', api_key: 'sk-inline-upstream-secret' }
    const config = { model_list: [{ model_name: 'm', litellm_params: params }] }
    for (const text of [JSON.stringify(config), JSON.stringify(config, null, 2)]) {
      expect((await readTexts('litellm', text)).models.map(({ id }) => id)).toEqual(['m'])
    }
    const users = [
      { ...user('u'), note: '\nmodel_list: x' },
      { ...user('v'), model_list: 1 },
    ]
    const pretty = JSON.stringify({ LiteLLM_UserTable: users }, null, 1)
    const { owners } = await readTexts('litellm', pretty)
    expect(owners.map(({ id }) => id)).toEqual(['user/u', 'user/v'])
    const mixed = { ...config, LiteLLM_UserTable: [user('u')] }
    expect(await outcomeOf(readTexts('litellm', mixed))).toThrow('both a model_list and tables')
    const row = { ...user('u'), models: '{}', model_max_budget: '{}', note: '"\nmodel_list: x"' }
    const csv = `${Object.keys(row).join(',')}\n${Object.values(row).join(',')}\n`
    const read = await readTexts('litellm', csv)
    expect(read.owners.map(({ id }) => id)).toEqual(['user/u'])
  })

  test('Two lists of the same table are read together.', async () => {
    const lists = { keys: [key(1)], LiteLLM_VerificationToken: [key(2)] }
    expect((await readTexts('litellm', lists)).keys).toHaveLength(2)
  })
})

describe('what is stopped there', () => {
  test('A token of new-api lives where deleted_at is null, and is gone where it is a time.', async () => {
    const list = [token, { ...token, id: 2, deleted_at: '2026-01-01 00:00:00' }]
    const lists = { ...others, users: [newApiUser], tokens: list }
    const { keys } = await readTexts('new-api', lists)
    expect(keys.map(({ state }) => state.is)).toEqual(['on', 'gone'])
  })

  test('A token whose user is not there any more is stopped here.', () => {
    const users = [newApiUser]
    const { present } = firstRun(newApi({ users, tokens: [token] }))
    const { steps } = secondRun(newApi({ users: [], tokens: [token] }), present)
    expect(steps.stops).toMatchObject([{ does: 'pause', why: 'its user is not there' }])
  })

  test('The group of a user and that of a token bound their models.', async () => {
    const channel = { id: 1, type: 1, status: 1, models: 'a,b', group: 'default,vip' }
    const dear = { ...channel, id: 2, models: 'dear', group: 'vip' }
    const off = { ...channel, id: 3, models: 'dear', group: 'default', status: 2 }
    const found = await readTexts('new-api', {
      ...{ options: [], channels: [channel, dear, off] },
      users: [
        newApiUser,
        { ...newApiUser, id: 8, group: 'vip' },
        { ...newApiUser, id: 9, group: 'x' },
      ],
      tokens: [token, { ...token, id: 2, user_id: 8, group: 'default' }],
    })
    expect(found.owners.map(({ models }) => models)).toEqual([['a', 'b'], undefined, []])
    expect(found.owners[2]?.state.is).toBe('off')
    expect(found.keys.map(({ models }) => models)).toEqual([undefined, ['a', 'b']])
  })

  test('The default user without tokens a minute is off, and so are its keys.', async () => {
    const found = await readTexts('litellm', {
      LiteLLM_UserTable: [user('default_user_id', { tpm_limit: 0 })],
      LiteLLM_VerificationToken: [key(1, { user_id: 'default_user_id', max_budget: 5 })],
    })
    const { steps } = firstRun(found)
    expect([steps.creates, steps.grants]).toEqual([[], []])
  })

  test.each([
    ['organization_id', 'o'],
    ['model_max_budget', { a: 1 }],
    ['budget_limits', [{ max_budget: 1 }]],
  ])('A key whose %s cannot be kept stays there.', async (column, value) => {
    const { keys } = await readTexts('litellm', [key(1, { max_budget: 5, [column]: value })])
    expect(keys[0]?.state).toEqual({ is: 'off', why: `its ${column} cannot be kept here` })
  })

  test('A key of a team allows no more than its member may use there.', async () => {
    const found = await readTexts('litellm', {
      LiteLLM_BudgetTable: [budget('b', { allowed_models: ['a'] })],
      LiteLLM_TeamTable: [team('t', { max_budget: 9 })],
      LiteLLM_TeamMembership: [member],
      LiteLLM_VerificationToken: [key(1, { team_id: 't', user_id: 'u' })],
    })
    const { creates } = firstRun(found).steps
    expect(creates.map(({ models }) => models)).toEqual([[], ['a'], ['a']])
  })

  test('Models and networks that are others there stop a key here; narrower ones are taken.', () => {
    const read = (models: string, allow_ips: string) =>
      newApi({
        users: [newApiUser],
        tokens: [{ ...token, model_limits_enabled: true, model_limits: models, allow_ips }],
      })
    const { present } = firstRun(read('a,b', '10.0.0.0/8'))
    const [change] = secondRun(read('a', '10.1.0.0/16'), present).steps.changes
    expect(change?.change).toEqual({ models: ['a'], ipCidrs: ['10.1.0.0/16'] })
    for (const other of [read('c', '10.0.0.0/8'), read('a', '11.0.0.0/8')]) {
      expect(secondRun(other, present).steps.stops).toMatchObject([{ does: 'pause' }])
    }
    const wider = secondRun(read('a,b,c', '10.0.0.0/8'), present)
    expect([wider.steps.changes, wider.steps.stops]).toEqual([[], []])
    expect(wider.why).toContain('it may do more there than here')
  })
})

describe('secrets of an import', () => {
  test('A known secret goes before what looks like one: no part of it is left.', () => {
    const found = nothingFound()
    const secret = 'left sk-0123456789abcdef01 right'
    found.secrets.add(secret)
    addMisfit(found.misfits, 'a reason', `of ${secret}`)
    const [[name = ''] = []] = [...found.misfits.values()]
    expect(lineCleaner(found)(name)).toBe('of [redacted]')
    const lines = nothingFound()
    lines.secrets.add('first\nsecond')
    expect(lineCleaner(lines)('of first\nsecond')).toBe('of [redacted]')
  })

  test('Every secret of a configuration is known, also of servers that do not come over.', async () => {
    const text = `model_list:
  - model_name: m
    litellm_params: { model: bedrock/x, aws_secret_access_key: made-up-token-1, api_key: sk-upstream-a }
general_settings: { master_key: sk-upstream-b }
`
    const { secrets } = await readTexts('litellm', text)
    const known = ['made-up-token-1', 'sk-upstream-a', 'sk-upstream-b']
    expect([...secrets].sort()).toEqual(known)
    expect(known.every((one) => sourceSecrets.some((some) => one.startsWith(some)))).toBe(true)
  })

  test('The file of secrets keeps those of keys that were made, as a whole and for its owner alone.', () => {
    const folder = mkdtempSync(join(tmpdir(), 'move-in-'))
    try {
      const { steps } = firstRun(
        only(plainKey(1, { max_budget: 5 }), plainKey(2, { max_budget: 1 })),
      )
      const file = join(folder, 'secrets.csv')
      const office = { random: { bytes: (size: number) => new Uint8Array(size) }, shard: undefined }
      const clean = (text: string) => text
      const secrets = storeSecrets(office as never, steps, { file, clean })
      expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(4)
      secrets.keep(new Set(secrets.made.filter(({ wish }) => wish.name !== 'k2')))
      const kept = readFileSync(file, 'utf8')
      expect(kept.trim().split('\n')).toHaveLength(3)
      expect(kept).not.toContain('k2')
      expect(statSync(file).mode & 0o777).toBe(0o600)
      secrets.keep(new Set())
      expect(existsSync(file)).toBe(false)
      expect(sum(steps.grants)).toBe(6n * usd)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

const sum = (grants: readonly { amount: bigint }[]): bigint =>
  grants.reduce((all, { amount }) => all + amount, 0n)
