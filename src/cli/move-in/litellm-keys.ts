/** Reads LiteLLM's keys, users and teams from a dump, from JSON or from CSV. */
import { addDecimals, type Decimal, isZero, parseDecimal } from '../../kernel/decimal.ts'
import { isExactObject, parseExactJson } from '../../kernel/exact-json.ts'
import type { CapWindow } from '../../ledger/window.ts'
import { addMisfit, type FoundKey, nothingFound, type SourceContents, toNusd } from './found.ts'
import {
  isSqlDump,
  isTrue,
  listOf,
  type Row,
  readCsvTable,
  readSqlDump,
  rowsIn,
  type Tables,
  textOf,
  timeOf,
} from './tables.ts'

const names = {
  keys: 'LiteLLM_VerificationToken',
  users: 'LiteLLM_UserTable',
  teams: 'LiteLLM_TeamTable',
  budgets: 'LiteLLM_BudgetTable',
  models: 'LiteLLM_ProxyModelTable',
} as const

/** @throws Error for a row that cannot be read */
export function readLitellmKeys(tables: Tables, now: number): SourceContents {
  const rows = (name: keyof typeof names) => tables.get(names[name]) ?? []
  const found = nothingFound()
  const budgets = new Map(rows('budgets').map((row) => [textOf(row, 'budget_id') ?? '', row]))
  const teams = ownersIn(found, rows('teams'), 'team')
  const users = ownersIn(found, rows('users'), 'user')
  for (const row of rows('keys')) addKey(found, row, { budgets, teams, users, now })
  for (const row of rows('models')) {
    const why = 'a model of the database is encrypted there: put it into config.yaml'
    addMisfit(found.misfits, why, textOf(row, 'model_name') ?? '?')
  }
  return found
}

/** @throws Error when it is another file, or a broken one */
export function readLitellmTables(text: string): Tables {
  const tables = tablesIn(text)
  if (Object.values(names).some((name) => tables.has(name))) return tables
  throw new Error('it has neither a model_list nor keys, users or teams')
}

function tablesIn(text: string): Tables {
  if (isSqlDump(text)) return readSqlDump(text)
  if (/^\s*[[{]/.test(text)) {
    const json = parseExactJson(text)
    if (!isExactObject(json)) return new Map([[names.keys, rowsIn(json)]])
    // GET /key/list, /user/list and /team/list name their lists so.
    const short = { keys: names.keys, users: names.users, teams: names.teams }
    const pairs = Object.entries({ ...short, ...reflexive() })
    return new Map(
      pairs.flatMap(([member, name]) =>
        json[member] === undefined ? [] : [[name, rowsIn(json[member])]],
      ),
    )
  }
  const { header, rows } = readCsvTable(text)
  const columns: [string, string][] = [
    ['token', names.keys],
    ['user_id', names.users],
    ['team_id', names.teams],
  ]
  const isTeams = header.includes('team_alias') && !header.includes('token')
  const name = isTeams ? names.teams : columns.find(([column]) => header.includes(column))?.[1]
  return new Map(name === undefined ? [] : [[name, rows]])
}

const reflexive = (): Record<string, string> =>
  Object.fromEntries(Object.values(names).map((name) => [name, name]))

type Owners = Map<string, { row: Row; hasBudget: boolean; id: string }>

function ownersIn(found: SourceContents, rows: readonly Row[], kind: 'user' | 'team'): Owners {
  const owners: Owners = new Map()
  for (const row of rows) {
    const own = textOf(row, `${kind}_id`)
    if (own === undefined) throw new Error(`a ${kind} has no ${kind}_id`)
    const id = `${kind}/${own}`
    const budget = amountIn(row, 'max_budget')
    const spent = amountIn(row, 'spend') ?? zero
    const also = [`${kind}_alias`, 'user_email'].flatMap((name) => textOf(row, name) ?? [])
    owners.set(own, { row, hasBudget: budget !== undefined, id })
    if (textOf(row, 'budget_duration') !== undefined && budget !== undefined) {
      addMisfit(found.misfits, 'its budget is renewed there, a balance here is not', id)
    }
    found.owners.push({
      ...{ id, names: [own, ...also], hasParent: true, createdAt: timeOf(row, 'created_at') },
      ...{ balance: toNusd(less(budget ?? zero, budget ? spent : zero)), spent: toNusd(spent) },
    })
  }
  return owners
}

type Context = { budgets: Map<string, Row>; teams: Owners; users: Owners; now: number }

/** A key of a team spends the budget of the team, not that of its user. */
function addKey(found: SourceContents, row: Row, { budgets, teams, users, now }: Context): void {
  const token = textOf(row, 'token')
  if (token === undefined) throw new Error('a key has no token')
  const alias = textOf(row, 'key_alias') ?? textOf(row, 'key_name')
  const name = alias ?? token.slice(0, 12)
  const [team, user] = [textOf(row, 'team_id'), textOf(row, 'user_id')]
  const expiresAt = timeOf(row, 'expires')
  if (team === 'litellm-dashboard') return
  const why = isTrue(row, 'blocked')
    ? 'it is blocked'
    : expiresAt !== undefined && expiresAt <= now
      ? 'it has expired'
      : undefined
  if (why !== undefined) {
    addMisfit(found.misfits, `a key: ${why}`, name)
    return
  }
  const limits = budgets.get(textOf(row, 'budget_id') ?? '') ?? row
  const budget = amountIn(row, 'max_budget') ?? amountIn(limits, 'max_budget')
  const duration = textOf(row, 'budget_duration') ?? textOf(limits, 'budget_duration')
  const window = windowOf(duration)
  const spent = amountIn(row, 'spend') ?? zero
  if (window === undefined) {
    addMisfit(found.misfits, `a cap renewed every ${duration} becomes one for its lifetime`, name)
  }
  const isLifetime = (window ?? 'lifetime') === 'lifetime'
  const cap = budget && toNusd(isLifetime ? less(budget, spent) : budget)
  const key: FoundKey = {
    ...{ id: `key/${token}`, name, owner: '', cap, window: window ?? 'lifetime' },
    ...{ spent: toNusd(spent), expiresAt, createdAt: timeOf(row, 'created_at') },
    ...{ models: modelsOf(row, teams.get(team ?? '')?.row), networks: [] },
    ...{ rpm: countIn(row, 'rpm_limit'), concurrency: countIn(row, 'max_parallel_requests') },
  }
  key.owner = ownerOf(
    found,
    key,
    team === undefined ? ['user', user, users] : ['team', team, teams],
  )
  noteRest(found, row, name)
  found.keys.push(key)
}

/** The id of the owner of a key, who is added if no table has it; its own id without one. */
function ownerOf(
  { owners, misfits }: SourceContents,
  key: FoundKey,
  [kind, own, known]: [string, string | undefined, Owners],
): string {
  const entry = own === undefined ? undefined : known.get(own)
  const id = own === undefined ? key.id : `${kind}/${own}`
  let owner = owners.find((one) => one.id === id)
  if (!owner) {
    const createdAt = own === undefined ? key.createdAt : undefined
    owner = { id, names: [own ?? key.name], balance: 0n, spent: 0n, createdAt, hasParent: !!own }
    if (own === undefined) owner.spent = key.spent
    owners.push(owner)
  }
  // Without a budget of its own, an owner has what its keys have left.
  if (!entry?.hasBudget && key.window === 'lifetime' && key.cap !== undefined) {
    owner.balance += key.cap
  } else if (!entry?.hasBudget) {
    addMisfit(misfits, 'neither its owner nor its lifetime has a budget: grant one', key.name)
  }
  return id
}

function noteRest({ misfits }: SourceContents, row: Row, name: string): void {
  for (const column of ['tpm_limit', 'soft_budget', 'organization_id', 'project_id'] as const) {
    if (textOf(row, column) !== undefined) addMisfit(misfits, `${column} of a key`, name)
  }
  for (const column of ['aliases', 'model_max_budget', 'permissions', 'config'] as const) {
    const isEmpty = /^(\{\}|null|)$/.test(textOf(row, column) ?? '')
    if (!isEmpty) addMisfit(misfits, `${column} of a key`, name)
  }
}

/** Words in lists of models that mean those of the team, or all. */
const words: ReadonlySet<string> = new Set(['all-team-models', 'all-proxy-models'])

function modelsOf(row: Row, team: Row | undefined): string[] {
  const own = listOf(row, 'models')
  if (own.includes('all-proxy-models')) return []
  if (own.length > 0 && !own.includes('all-team-models')) return own
  const above = team ? listOf(team, 'models') : []
  return above.some((name) => words.has(name)) ? [] : above
}

const windows: readonly [RegExp, CapWindow][] = [
  [/^(1d|24h|daily)$/, 'day'],
  [/^(7d|1w|weekly)$/, 'week'],
  [/^(28d|30d|31d|1mo|monthly)$/, 'month'],
]

const windowOf = (duration: string | undefined): CapWindow | undefined =>
  duration === undefined ? 'lifetime' : windows.find(([pattern]) => pattern.test(duration))?.[1]

const zero: Decimal = { digits: 0n, scale: 0 }

const less = (a: Decimal, b: Decimal): Decimal =>
  isZero(b) ? a : addDecimals(a, { ...b, digits: -b.digits })

/** @throws Error for something else than a decimal */
function amountIn(row: Row, name: string): Decimal | undefined {
  const text = textOf(row, name)
  const amount = text === undefined ? undefined : parseDecimal(text)
  if (text !== undefined && !amount) throw new Error(`"${text}" in ${name} is not an amount`)
  return amount
}

function countIn(row: Row, name: string): number | undefined {
  const text = textOf(row, name) ?? ''
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined
}
