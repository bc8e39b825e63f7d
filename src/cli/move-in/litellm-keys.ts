/** Reads LiteLLM's keys with their budgets, and whom they belong to. */
import type { Decimal } from '../../kernel/decimal.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import { max, type Nusd } from '../../kernel/money.ts'
import type { CapWindow } from '../../ledger/window.ts'
import {
  addMisfit,
  type FoundKey,
  type FoundOwner,
  type FoundState,
  floorDiv,
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
import type { litellmTables } from './litellm-tables.ts'
import { amountIn, isTrue, listOf, type Row, type Tables, textOf, timeOf } from './tables.ts'

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
  const keys = rows('LiteLLM_VerificationToken')
  const isOver = (row: Row) => isTrue(row, 'blocked') || (timeOf(row, 'expires') ?? now + 1) <= now
  const sharing = Map.groupBy(
    keys.filter((row) => !isOver(row)),
    memberOf,
  )
  const context = { tables, budgets, members, sharing, teams, users, now }
  for (const row of keys) addKey(found, row, context)
  const known = new Set(found.keys.map(({ id }) => id))
  for (const row of rows('LiteLLM_DeletedVerificationToken')) addGone(found, row, known)
  for (const row of rows('LiteLLM_ProxyModelTable')) {
    const why = 'a model of the database is encrypted there: put it into config.yaml'
    addMisfit(found.misfits, why, textOf(row, 'model_name') ?? '?')
  }
  return found
}

const memberOf = (row: Row): string => `${textOf(row, 'team_id')} ${textOf(row, 'user_id')}`

type Context = {
  tables: Tables
  budgets: ReadonlyMap<string, Row>
  members: ReadonlyMap<string, Row>
  /** The living keys of each member of a team. */
  sharing: ReadonlyMap<string, readonly Row[]>
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
  const member = memberIn(row, context)
  const shared = budgetNamed(textOf(row, 'budget_id'), context.budgets)
  const budget = budgetOf(row, shared, member)
  const expiresAt = timeOf(row, 'expires')
  const all = [limitsOf(row), limitsOf(shared), member?.limits ?? limitsOf()]
  const limits = {
    rpm: lowest(all.map(({ rpm }) => rpm)),
    concurrency: lowest(all.map(({ concurrency }) => concurrency)),
  }
  const models = modelsOf(row)
  const isShutThere = isShut([row, shared, member?.budget])
  const key: FoundKey = {
    ...{ id, name, owner: '', cap: budget?.cap, window: budget?.window ?? 'lifetime' },
    ...{ spent: toNusd(amountIn(row, 'spend') ?? zero), expiresAt, models, networks: [] },
    ...{ ...limits, state: stateOf(row, { models, expiresAt, isShutThere }, context.now) },
  }
  if (budget && !budget.isSame) {
    const why = 'a cap that is renewed in another rhythm there is renewed less often here'
    addMisfit(found.misfits, why, name)
  }
  if (member?.budget && member.keys > 1) {
    addMisfit(found.misfits, "its part of the budget of a team's member: as much as others", name)
  }
  if (key.state.is === 'on' && listOf(row, 'allowed_routes').length > 0) {
    addMisfit(found.misfits, 'allowed_routes: not kept here', name)
  }
  noteLimits(found, row, name)
  key.owner = ownerOf(found, row, key, context)
  found.keys.push(key)
}

type KeyFacts = Pick<FoundKey, 'models' | 'expiresAt'> & { isShutThere: boolean }

/** Groups and paths of routes that call models. */
const ofModels =
  /^(llm_api|openai|anthropic)_routes$|^(\/v1)?\/\*$|(completion|response|embedding|message)s/

function stateOf(row: Row, facts: KeyFacts, now: number): FoundState {
  if (isTrue(row, 'blocked')) return { is: 'off', why: 'it is blocked' }
  if (facts.expiresAt !== undefined && facts.expiresAt <= now) {
    return { is: 'off', why: 'it has expired' }
  }
  if (facts.models?.length === 0) return { is: 'off', why: 'it allows no model' }
  const routes = listOf(row, 'allowed_routes')
  if (routes.length > 0 && !routes.some((route) => ofModels.test(route))) {
    return { is: 'off', why: 'it may call no model' }
  }
  return facts.isShutThere ? { is: 'off', why: 'it allows no request' } : { is: 'on' }
}

function lowest(limits: readonly (number | undefined)[]): number | undefined {
  const known = limits.filter((one) => one !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** @throws Error for a budget that no table has */
function budgetNamed(id: string | undefined, budgets: ReadonlyMap<string, Row>): Row | undefined {
  if (id === undefined) return undefined
  const budget = budgets.get(id)
  if (!budget) throw new Error(missing('budget_id', 'LiteLLM_BudgetTable'))
  return budget
}

/** Says which table is needed: without it a limit would be lost. */
const missing = (column: string, table: keyof typeof litellmTables): string =>
  `a key has a ${column} that no row of ${table} has: hand over the whole of that table too`

type Member = {
  budget: Row | undefined
  spent: Decimal
  /** How many keys share its budget. */
  keys: number
  limits: ReturnType<typeof limitsOf>
}

/** The user of a team's key, as a member of the team; all keys of a member share one budget. */
function memberIn(row: Row, context: Context): Member | undefined {
  const { tables, budgets, members, sharing, teams } = context
  const team = textOf(row, 'team_id')
  if (team === undefined || textOf(row, 'user_id') === undefined) return undefined
  if (!tables.has('LiteLLM_TeamMembership')) {
    throw new Error(missing('team_id', 'LiteLLM_TeamMembership'))
  }
  const member = members.get(memberOf(row))
  const usual = teams.get(team)?.memberBudget || undefined
  const budget = budgetNamed((member && textOf(member, 'budget_id')) ?? usual, budgets)
  const keys = Math.max(sharing.get(memberOf(row))?.length ?? 0, 1)
  const part = (limit: number | undefined) => limit && Math.max(Math.floor(limit / keys), 1)
  const { rpm, concurrency } = limitsOf(budget)
  const spent = (member && amountIn(member, 'spend')) ?? zero
  return { budget, spent, keys, limits: { rpm: part(rpm), concurrency: part(concurrency) } }
}

type Budget = { cap: Nusd; window: CapWindow; isSame: boolean }

/** The windows, the longest first. */
const byLength: readonly CapWindow[] = ['lifetime', 'month', 'week', 'day']

/**
 * The lowest of its own budget, the one that it shares, and its part of that of its user in the
 * team, renewed as seldom as the slowest, so that each of them holds.
 */
function budgetOf(row: Row, shared: Row | undefined, member: Member | undefined) {
  const spent = amountIn(row, 'spend') ?? zero
  const ofMember = budgetIn(member?.budget, member?.spent ?? zero, member?.keys)
  const all = [budgetIn(row, spent), budgetIn(shared, spent), ofMember].flatMap((one) => one ?? [])
  const [lowestOf] = all.sort((a, b) => (a.cap < b.cap ? -1 : 1))
  const window = byLength.find((one) => all.some((budget) => budget.window === one))
  if (!lowestOf || !window) return undefined
  const isSame = all.every((one) => one.isSame && one.window === window)
  return { cap: lowestOf.cap, window, isSame }
}

/** The rest of a budget for ever, or all of one that is renewed, for each of its keys. */
function budgetIn(row: Row | undefined, spent: Decimal, keys = 1): Budget | undefined {
  const budget = row && amountIn(row, 'max_budget')
  if (!row || !budget) return undefined
  const duration = textOf(row, 'budget_duration')
  const window = duration === undefined ? 'lifetime' : windowOf(duration)
  const left = window === 'lifetime' ? less(budget, spent) : budget
  const isSame = duration === undefined || isSameWindow(duration)
  return { cap: floorDiv(toNusd(left), BigInt(keys)), window, isSame }
}

/** The id of the owner of a key, who is added if no table has it. */
function ownerOf(found: SourceContents, row: Row, key: FoundKey, context: Context): string {
  const [team, named] = [textOf(row, 'team_id'), textOf(row, 'user_id')]
  if (team !== undefined && !context.teams.has(team)) {
    throw new Error(missing('team_id', 'LiteLLM_TeamTable'))
  }
  if (team === undefined && named !== undefined && !context.tables.has('LiteLLM_UserTable')) {
    throw new Error(missing('user_id', 'LiteLLM_UserTable'))
  }
  const user = isOfStrangers(named, context) ? undefined : named
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
    // With the balance as its cap it would spend what the other keys have left.
    if (own !== undefined) key.cap = 1n
  }
  return id
}

/** LiteLLM gives keys that its master key makes to one user, where that has no limits. */
function isOfStrangers(user: string | undefined, { users }: Context): boolean {
  if (user !== 'default_user_id') return false
  const { owner, hasBudget = false } = users.get(user) ?? {}
  const isPlain =
    owner?.models === undefined && lowest([owner?.rpm, owner?.concurrency]) === undefined
  return isPlain && !hasBudget
}

const emptyOwner = (id: string, name: string): FoundOwner => ({
  ...{ id, name, balance: 0n, spent: 0n, renewed: undefined, state: { is: 'on' } },
  ...{ models: undefined, rpm: undefined, concurrency: undefined },
})

/** A key that was deleted there ends here too. */
function addGone(found: SourceContents, row: Row, known: Set<string>): void {
  const id = idOf(found, row)
  if (known.has(id)) return
  known.add(id)
  found.keys.push({
    ...{ id, name: textOf(row, 'key_alias') ?? id.slice(0, 12), owner: '', cap: undefined },
    ...{ window: 'lifetime', spent: 0n, state: { is: 'gone', why: 'it is deleted' } },
    ...{ expiresAt: undefined, models: undefined, networks: [], rpm: undefined },
    concurrency: undefined,
  })
}
