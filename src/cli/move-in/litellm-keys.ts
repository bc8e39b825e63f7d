/** Reads LiteLLM's keys with their budgets, and whom they belong to. */
import { compareDecimals, type Decimal } from '../../kernel/decimal.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import { max, type Nusd } from '../../kernel/money.ts'
import type { CapWindow } from '../../ledger/window.ts'
import {
  addMisfit,
  type FoundKey,
  type FoundOwner,
  type FoundState,
  nothingFound,
  type SourceContents,
  toNusd,
  unowned,
} from './found.ts'
import {
  isSameWindow,
  isShut,
  less,
  limitsOf,
  modelsOf,
  noteLimits,
  type Owners,
  ownersIn,
  windowOf,
  zero,
} from './litellm-owners.ts'
import { amountIn, isTrue, type Row, type Tables, textOf, timeOf } from './tables.ts'

/** The tables that are read, each with the columns that make a row the same. */
export const litellmTables = {
  LiteLLM_VerificationToken: ['token'],
  LiteLLM_UserTable: ['user_id'],
  LiteLLM_TeamTable: ['team_id'],
  LiteLLM_BudgetTable: ['budget_id'],
  LiteLLM_TeamMembership: ['user_id', 'team_id'],
  LiteLLM_DeletedVerificationToken: ['token', 'id'],
  LiteLLM_ProxyModelTable: ['model_id'],
} as const

/** The table that has these columns; undefined for another. */
export function litellmTableOf(columns: ReadonlySet<string>): string | undefined {
  if (columns.has('token')) return 'LiteLLM_VerificationToken'
  if (columns.has('user_id') && columns.has('team_id') && columns.has('budget_id')) {
    return 'LiteLLM_TeamMembership'
  }
  if (columns.has('user_id')) return 'LiteLLM_UserTable'
  if (columns.has('team_id')) return 'LiteLLM_TeamTable'
  return columns.has('budget_id') ? 'LiteLLM_BudgetTable' : undefined
}

/** @throws Error for a row that cannot be read */
export function readLitellmKeys(tables: Tables, now: number): SourceContents {
  const rows = (name: keyof typeof litellmTables) => tables.get(name) ?? []
  const found = nothingFound()
  const budgets = new Map(
    rows('LiteLLM_BudgetTable').map((row) => [textOf(row, 'budget_id') ?? '', row]),
  )
  const members = new Map(rows('LiteLLM_TeamMembership').map((row) => [memberOf(row), row]))
  const teams = ownersIn(found, rows('LiteLLM_TeamTable'), 'team')
  const users = ownersIn(found, rows('LiteLLM_UserTable'), 'user')
  const context = { budgets, members, teams, users, now }
  for (const row of rows('LiteLLM_VerificationToken')) addKey(found, row, context)
  for (const row of rows('LiteLLM_DeletedVerificationToken')) addGone(found, row)
  for (const row of rows('LiteLLM_ProxyModelTable')) {
    const why = 'a model of the database is encrypted there: put it into config.yaml'
    addMisfit(found.misfits, why, textOf(row, 'model_name') ?? '?')
  }
  return found
}

const memberOf = (row: Row): string => `${textOf(row, 'team_id')} ${textOf(row, 'user_id')}`

type Context = {
  budgets: ReadonlyMap<string, Row>
  members: ReadonlyMap<string, Row>
  teams: Owners
  users: Owners
  now: number
}

/** The hash of its secret, which is all that LiteLLM knows a key by. */
function idOf({ secrets }: SourceContents, row: Row): string {
  const token = textOf(row, 'token')
  if (token === undefined) throw new Error('a key has no token')
  secrets.add(token)
  // Old versions kept some secrets as they are.
  return `key/${/^[0-9a-f]{64}$/.test(token) ? token : sha256Hex(token)}`
}

/** A key of a team spends the budget of the team, not that of its user. */
function addKey(found: SourceContents, row: Row, context: Context): void {
  const id = idOf(found, row)
  // A session of its admin pages.
  if (textOf(row, 'team_id') === 'litellm-dashboard') return
  const name = textOf(row, 'key_alias') ?? id.slice(0, 'key/'.length + 8)
  const budget = budgetOf(row, context)
  const expiresAt = timeOf(row, 'expires')
  const [own, shared] = [limitsOf(row), limitsIn(row, context)]
  const limits = {
    rpm: lower(own.rpm, shared?.rpm),
    concurrency: lower(own.concurrency, shared?.concurrency),
  }
  const models = modelsOf(row)
  const key: FoundKey = {
    ...{ id, name, owner: '', cap: budget?.cap, window: budget?.window ?? 'lifetime' },
    ...{ spent: toNusd(amountIn(row, 'spend') ?? zero), expiresAt, models, networks: [] },
    ...{ ...limits, state: stateOf(row, { ...limits, models, expiresAt }, context.now) },
  }
  if (budget && !budget.isSame) {
    const why = 'a cap that is renewed in another rhythm there is renewed less often here'
    addMisfit(found.misfits, why, name)
  }
  noteLimits(found, row, name)
  key.owner = ownerOf(found, row, key, context)
  found.keys.push(key)
}

type KeyFacts = Pick<FoundKey, 'rpm' | 'concurrency' | 'models' | 'expiresAt'>

function stateOf(row: Row, facts: KeyFacts, now: number): FoundState {
  if (isTrue(row, 'blocked')) return { is: 'off', why: 'it is blocked' }
  if (facts.expiresAt !== undefined && facts.expiresAt <= now) {
    return { is: 'off', why: 'it has expired' }
  }
  if (facts.models?.length === 0) return { is: 'off', why: 'it allows no model' }
  return isShut(facts) ? { is: 'off', why: 'it allows no request' } : { is: 'on' }
}

const lower = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)

const limitsIn = (row: Row, { budgets }: Context) => {
  const shared = budgets.get(textOf(row, 'budget_id') ?? '')
  return shared && limitsOf(shared)
}

type Budget = { cap: Nusd; window: CapWindow; isSame: boolean }

/** The lowest of its own budget, the one that it shares, and that of its user in the team. */
function budgetOf(row: Row, { budgets, members }: Context): Budget | undefined {
  const spent = amountIn(row, 'spend') ?? zero
  const member = members.get(memberOf(row))
  const ofMember = member && budgets.get(textOf(member, 'budget_id') ?? '')
  const all = [
    budgetIn(row, spent),
    budgetIn(budgets.get(textOf(row, 'budget_id') ?? ''), spent),
    budgetIn(ofMember, (member && amountIn(member, 'spend')) ?? zero),
  ]
  return all
    .flatMap((one) => one ?? [])
    .sort((a, b) => compareDecimals(a.left, b.left))
    .map(({ left, ...rest }) => ({ ...rest, cap: toNusd(left) }))[0]
}

/** The rest of a budget for ever, or all of one that is renewed. */
function budgetIn(row: Row | undefined, spent: Decimal) {
  const budget = row && amountIn(row, 'max_budget')
  if (!row || !budget) return undefined
  const duration = textOf(row, 'budget_duration')
  if (duration === undefined) {
    return { left: less(budget, spent), window: 'lifetime' as const, isSame: true }
  }
  const window = windowOf(duration)
  const left = window === 'lifetime' ? less(budget, spent) : budget
  return { left, window, isSame: isSameWindow(duration) }
}

/** The id of the owner of a key, who is added if no table has it. */
function ownerOf(found: SourceContents, row: Row, key: FoundKey, context: Context): string {
  const [team, user] = [textOf(row, 'team_id'), textOf(row, 'user_id')]
  const [kind, own, known] =
    team === undefined
      ? (['user', user, context.users] as const)
      : (['team', team, context.teams] as const)
  const isCapped = key.cap !== undefined && key.window === 'lifetime'
  // Keys without a budget would spend what the other keys without an owner have left.
  const id = own === undefined ? `${unowned}${isCapped ? 'capped' : 'open'}` : `${kind}/${own}`
  let owner = found.owners.find((one) => one.id === id)
  if (!owner) {
    const name = own ?? `keys without an owner${isCapped ? '' : ' or a budget'}`
    owner = emptyOwner(id, name)
    found.owners.push(owner)
  }
  if (own !== undefined && known.get(own)?.hasBudget) return id
  if (own === undefined) owner.spent += key.spent
  // Without a budget of its own, an owner has what its keys have left.
  if (isCapped && key.state.is === 'on') owner.balance += max(key.cap ?? 0n, 0n)
  if (!isCapped) {
    const why = 'a key that neither its owner nor its lifetime gives a budget: grant one'
    addMisfit(found.misfits, why, key.name)
  }
  return id
}

const emptyOwner = (id: string, name: string): FoundOwner => ({
  ...{ id, name, balance: 0n, spent: 0n, renewed: undefined, state: { is: 'on' } },
  ...{ models: undefined, rpm: undefined, concurrency: undefined },
})

/** A key that was deleted there ends here too. */
function addGone(found: SourceContents, row: Row): void {
  const id = idOf(found, row)
  if (found.keys.some((key) => key.id === id)) return
  found.keys.push({
    ...{ id, name: textOf(row, 'key_alias') ?? id.slice(0, 12), owner: '', cap: undefined },
    ...{ window: 'lifetime', spent: 0n, state: { is: 'gone', why: 'it is deleted' } },
    ...{ expiresAt: undefined, models: undefined, networks: [], rpm: undefined },
    concurrency: undefined,
  })
}
