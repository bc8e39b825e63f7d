import { Database } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'

/** Made-up data in the formats of other gateways: 50 models, 200 keys of ten users. */
export const users = Array.from({ length: 10 }, (_, i) => i + 1)
const keys = Array.from({ length: 200 }, (_, i) => i + 1)
export const modelIds = Array.from({ length: 50 }, (_, i) => `team-model-${i + 1}`)

/** Secrets that stand in the sources; no output may have one of them. */
export const sourceSecrets = [
  'sk-inline-upstream-secret',
  'sk-upstream-a',
  'sk-upstream-b',
  'sk-second-of-b',
  'made-up-token-',
  'hash-of-a-password',
  'access-token-of-a-user',
  'sk-...cut7',
  'sk-or-v1-0ab...c9d',
]

/** A `config.yaml` whose first model has two servers at different prices. */
export function writeLitellmConfig(file: string): void {
  const entry = (id: string, more = '', cost = '0.00000015') => `
  - model_name: ${id}
    litellm_params:
      model: openai/${id}
      api_key: os.environ/OPENAI_API_KEY
      input_cost_per_token: ${cost}
      output_cost_per_token: 6e-07${more}
    model_info:
      mode: chat
      max_input_tokens: 100000
      max_output_tokens: 4096`
  const second = entry('team-model-1', '\n      api_base: http://127.0.0.1:9/v1', '0.0000002')
  writeFileSync(
    file,
    `# what they run
model_list:${modelIds.map((id) => entry(id)).join('')}${second}${entry('gratis', '', '0')}
  - model_name: inline
    litellm_params: &inline
      model: openai/inline-model
      api_key: sk-inline-upstream-secret
      api_base: http://127.0.0.1:9/v2
      input_cost_per_token: 1.0e-06
      output_cost_per_token: 2.0e-06
    model_info: { mode: chat, max_input_tokens: 8000, max_output_tokens: 4096 }
  - model_name: "anything/*"
    litellm_params: { model: "openai/*" }
  - model_name: cloud
    litellm_params: { model: bedrock/anthropic.claude-v2 }
router_settings:
  model_group_alias: { gpt-4: team-model-2, lost: not-there }
litellm_settings:
  fallbacks: [{ team-model-1: [team-model-2] }]
`,
  )
}

/** Dollars with every digit that a nano-dollar has, of user `n`. */
export const budgetOf = (n: number): string => `${100 + n}.00000000${n % 10}`
export const spentOf = (n: number): string => `${n}.12345678${n % 10}`

export const tokenOf = (n: number): string =>
  createHash('sha256').update(`sk-made-up-${n}`).digest('hex')

/** Columns that each table of keys, users, teams and budgets has, without a limit. */
export const unlimited = {
  ...{ max_budget: null, budget_duration: null, model_max_budget: {}, tpm_limit: null },
  ...{ rpm_limit: null, max_parallel_requests: null, organization_id: null },
}

/** The users and keys of LiteLLM's database, as rows in JSON. */
export function litellmRows() {
  return {
    LiteLLM_UserTable: users.map((n) => ({
      ...unlimited,
      ...{ user_id: `user-${n}`, user_email: `u${n}@a.example`, models: [] as string[] },
      ...{ max_budget: Number(budgetOf(n)), spend: Number(spentOf(n)) },
      ...{ password: 'hash-of-a-password' },
      user_alias: null as string | null,
    })),
    LiteLLM_VerificationToken: keys.map((n) => ({
      ...{ ...unlimited, allowed_routes: [] as string[] },
      ...{ token: tokenOf(n), key_name: 'sk-...cut7', key_alias: `agent ${n}` },
      ...{ user_id: `user-${(n % 10) + 1}` as string | null, team_id: null as string | null },
      ...{ spend: 0.25, max_budget: n % 3 === 0 ? null : 5.5, models: ['gpt-4'] },
      ...{ budget_duration: n % 5 === 0 ? '30d' : null, expires: null as string | null },
      ...{ blocked: false, budget_id: null as string | null, tpm_limit: null as number | null },
      created_at: '2026-03-04T05:06:07.000Z',
      rpm_limit: (n % 2 === 0 ? '60.0' : null) as string | number | null,
    })),
  }
}

/** The same rows as `pg_dump` writes them. */
export function litellmDump(rows: object = litellmRows()): string {
  const field = (value: unknown): string => {
    if (value === null) return '\\N'
    if (Array.isArray(value)) return `{${value.join(',')}}`
    if (typeof value === 'boolean') return value ? 't' : 'f'
    if (typeof value === 'object') return JSON.stringify(value)
    return String(value)
      .replace(/Z$/, '')
      .replace(/(\d)T(\d)/, '$1 $2')
  }
  const copies = Object.entries(rows).map(([name, list]) => {
    const columns = Object.keys(list[0] ?? {})
    const lines = list.map((row: object) => Object.values(row).map(field).join('\t'))
    return `COPY public."${name}" (${columns.join(', ')}) FROM stdin;\n${lines.join('\n')}\n\\.\n`
  })
  return `--\n-- PostgreSQL database dump\n--\n\n${copies.join('\n')}`
}

/** Quota units of user `n`: 500,000 are a dollar. */
export const quotaOf = (n: number): number => 1_234_567 * n

/** A database of new-api or one-api; user 10 owes, token 200 is disabled. */
export function writeOneApi(file: string, kind: 'new-api' | 'one-api' = 'new-api'): void {
  const db = new Database(file, { create: true })
  const isNew = kind === 'new-api'
  db.run(`CREATE TABLE channels (id integer primary key, type integer, key text, status integer,
    name text, weight integer, base_url text, models text, "group" text, model_mapping text,
    priority integer)`)
  db.run(`CREATE TABLE users (id integer primary key, username text, display_name text,
    status integer, email text, quota integer, used_quota integer, "group" text,
    password text, access_token text${isNew ? ', deleted_at text' : ''})`)
  db.run(`CREATE TABLE tokens (id integer primary key, user_id integer, key text, status integer,
    name text, created_time integer, expired_time integer, remain_quota integer,
    unlimited_quota numeric, used_quota integer, ${
      isNew
        ? 'model_limits_enabled numeric, model_limits text, allow_ips text, "group" text, deleted_at text'
        : 'models text, subnet text'
    })`)
  db.run(`CREATE TABLE abilities ("group" text, model text, channel_id integer, enabled numeric,
    priority integer, weight integer)`)
  db.run('CREATE TABLE options (key text primary key, value text)')
  const half = modelIds.slice(0, 25).join(',')
  const channel = db.query('INSERT INTO channels VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)')
  const mapping = '{"team-model-1":"large-2026"}'
  channel.run(
    1,
    1,
    'sk-upstream-a',
    'first',
    0,
    '',
    `${modelIds.join(',')},gratis`,
    'default',
    mapping,
    5,
  )
  channel.run(
    2,
    8,
    'sk-upstream-b\nsk-second-of-b',
    'second',
    3,
    'http://127.0.0.1:9',
    half,
    'default',
    '',
    9,
  )
  const user = db.query(
    `INSERT INTO users (id, username, status, quota, used_quota, password, access_token)
      VALUES (?, ?, 1, ?, ?, 'hash-of-a-password', ?)`,
  )
  for (const n of users) {
    const quota = n === 10 ? -777 : quotaOf(n)
    user.run(n, `name-${n}`, quota, 500_000 * n, `access-token-of-a-user-${n}`)
  }
  const limits = isNew ? 'model_limits_enabled, model_limits' : 'models'
  const token = db.query(
    `INSERT INTO tokens (id, user_id, key, status, name, created_time, expired_time, remain_quota,
      unlimited_quota, used_quota, ${limits}) VALUES (?, ?, ?, ?, ?, 1767225600, -1, ?, ?, 250000, ${
        isNew ? '?, ?' : '?'
      })`,
  )
  for (const n of keys) {
    const models = n % 2 === 0 ? 'team-model-1,team-model-2' : ''
    token.run(
      ...[n, (n % 10) + 1, `made-up-token-${n}`, n === 200 ? 2 : 1, `token ${n}`],
      ...[500_001, n % 4 === 0 ? 1 : 0, ...(isNew ? [models === '' ? 0 : 1, models] : [models])],
    )
  }
  const table = (value: number) =>
    JSON.stringify(Object.fromEntries([...modelIds.map((id) => [id, value]), ['gratis', 0]]))
  const option = db.query('INSERT INTO options VALUES (?, ?)')
  option.run('ModelRatio', table(0.075))
  option.run('CompletionRatio', table(4))
  option.run('GroupRatio', '{"default":1,"vip":0.8}')
  db.close()
}

/** OpenRouter's keys as its API lists them: 200 keys of a made-up account. */
export const openrouterKeys = () =>
  keys.map((n) => ({
    hash: createHash('sha256').update(`or-${n}`).digest('hex'),
    name: `key ${n}`,
    label: 'sk-or-v1-0ab...c9d',
    disabled: n === 200,
    limit: n % 4 === 0 ? null : 100,
    limit_remaining: n % 4 === 0 ? null : 74.5,
    limit_reset: n % 3 === 0 ? 'daily' : null,
    usage: 25.5,
    expires_at: null as string | null,
    created_at: '2026-02-03T04:05:06Z',
  }))
