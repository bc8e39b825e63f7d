/** Reads LiteLLM's keys with their budgets, and whom they belong to. */
import type { Decimal } from '../../kernel/decimal.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import { max, min, type Nusd } from '../../kernel/money.ts'
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
  less,
  limitsOf,
  modelsOf,
  noteLimits,
  type Owners,
  ownersIn,
  shutBy,
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
  const context: Context = {
    ...{ tables, budgets, members, teams, users, now },
    ...{ made: new Map(), counted: new Map() },
  }
  for (const row of rows('LiteLLM_VerificationToken')) addKey(found, row, context)
  const known = new Set(found.keys.map(({ id }) => id))
  for (const row of rows('LiteLLM_DeletedVerificationToken')) addGone(found, row, known)
  for (const row of rows('LiteLLM_ProxyModelTable')) {
    const why = 'a model of the database is encrypted there: put it into config.yaml'
    addMisfit(found.misfits, why, textOf(row, 'model_name') ?? '?')
  }
  return found
}

const memberOf = (row: Row): string =>
  `member/${JSON.stringify([textOf(row, 'team_id'), textOf(row, 'user_id')])}`

type Context = {
  tables: Tables
  budgets: ReadonlyMap<string, Row>
  members: ReadonlyMap<string, Row>
  /** Members of teams with limits of their own. */
  made: Map<string, FoundKey>
  /** What their keys have counted of their budgets. */
  counted: Map<string, Nusd>
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
  const shared = budgetNamed(textOf(row, 'budget_id'), context.budgets)
  const spent = amountIn(row, 'spend') ?? zero
  const budget = budgetOf([budgetIn(row, spent), budgetIn(shared, spent)])
  const own = { models: modelsOf(row), expiresAt: timeOf(row, 'expires') }
  const key: FoundKey = {
    ...{ id, name, owner: '', cap: budget?.cap, window: budget?.window ?? 'lifetime' },
    ...{ spent: toNusd(spent), ...own, networks: [], ...lower(limitsOf(row), limitsOf(shared)) },
    state: stateOf(row, { ...own, shut: shutBy(row) ?? shutBy(shared) }, context.now),
  }
  if (budget && !budget.isSame) {
    const why = 'a cap that is renewed in another rhythm there is renewed less often here'
    addMisfit(found.misfits, why, name)
  }
  if (key.state.is === 'on' && listOf(row, 'allowed_routes').length > 0) {
    addMisfit(found.misfits, 'allowed_routes: not kept here', name)
  }
  for (const one of [row, shared]) if (one) noteLimits(found, one, name)
  const member = memberIn(found, row, context)
  if (member?.state.is === 'off' && key.state.is === 'on') key.state = member.state
  key.owner = ownerOf(found, row, { key, member }, context)
  if (member) {
    key.member = member.id
    member.owner = key.owner
  }
  found.keys.push(key)
}

type RateLimits = Pick<FoundKey, 'rpm' | 'concurrency'>

const lower = (one: RateLimits, other: RateLimits): RateLimits => ({
  rpm: lowest([one.rpm, other.rpm]),
  concurrency: lowest([one.concurrency, other.concurrency]),
})

type KeyFacts = Pick<FoundKey, 'models' | 'expiresAt'> & { shut: string | undefined }

/** Groups and paths of routes that chat: a key of embeddings alone would get more here. */
const ofChat =
  /^(llm_api|openai|anthropic)_routes$|^(\/v1)?\/\*$|\/(completions|messages|responses)$/

function stateOf(row: Row, facts: KeyFacts, now: number): FoundState {
  if (isTrue(row, 'blocked')) return { is: 'off', why: 'it is blocked' }
  if (facts.expiresAt !== undefined && facts.expiresAt <= now) {
    return { is: 'off', why: 'it has expired' }
  }
  if (facts.models?.length === 0) return { is: 'off', why: 'it allows no model' }
  const routes = listOf(row, 'allowed_routes')
  if (routes.length > 0 && !routes.some((route) => ofChat.test(route))) {
    return { is: 'off', why: 'it may not chat' }
  }
  return facts.shut === undefined ? { is: 'on' } : { is: 'off', why: facts.shut }
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

/**
 * The user of a team's key, as a member of the team: all keys of a member share one budget, so they
 * stand below one key, which is added once. Undefined for a member without limits.
 */
function memberIn(found: SourceContents, row: Row, context: Context): FoundKey | undefined {
  const { tables, budgets, members, teams } = context
  const [team, user] = [textOf(row, 'team_id'), textOf(row, 'user_id')]
  if (team === undefined || user === undefined) return undefined
  if (!tables.has('LiteLLM_TeamMembership')) {
    throw new Error(missing('team_id', 'LiteLLM_TeamMembership'))
  }
  const id = memberOf(row)
  const known = context.made.get(id)
  if (known) return known
  const member = members.get(id)
  const usual = teams.get(team)?.memberBudget || undefined
  const shared = budgetNamed((member && textOf(member, 'budget_id')) ?? usual, budgets)
  if (!shared) return undefined
  const spent = (member && amountIn(member, 'spend')) ?? zero
  const budget = budgetOf([budgetIn(shared, spent)])
  const models = modelsOf(shared, 'allowed_models')
  const shut = shutBy(shared) ?? (models?.length === 0 ? 'it allows no model' : undefined)
  noteLimits(found, shared, id)
  const made: FoundKey = {
    ...{ id, isMember: true, owner: '', name: `${user} of ${team}`, models, networks: [] },
    ...{ cap: budget?.cap, window: budget?.window ?? 'lifetime', spent: toNusd(spent) },
    ...{ ...limitsOf(shared), expiresAt: undefined },
    state: shut === undefined ? { is: 'on' } : { is: 'off', why: `of its member: ${shut}` },
  }
  context.made.set(id, made)
  found.keys.push(made)
  return made
}

type Budget = { cap: Nusd; window: CapWindow; isSame: boolean }

/** The windows, the longest first. */
const byLength: readonly CapWindow[] = ['lifetime', 'month', 'week', 'day']

/** The lowest of several, renewed as seldom as the slowest, so that each of them holds. */
function budgetOf(some: readonly (Budget | undefined)[]): Budget | undefined {
  const all = some.flatMap((one) => one ?? [])
  const [lowestOf] = all.toSorted((a, b) => (a.cap < b.cap ? -1 : 1))
  const window = byLength.find((one) => all.some((budget) => budget.window === one))
  if (!lowestOf || !window) return undefined
  const isSame = all.every((one) => one.isSame && one.window === window)
  return { cap: lowestOf.cap, window, isSame }
}

/** The rest of a budget for ever, or all of one that is renewed. */
function budgetIn(row: Row | undefined, spent: Decimal): Budget | undefined {
  const budget = row && amountIn(row, 'max_budget')
  if (!row || !budget) return undefined
  const duration = textOf(row, 'budget_duration')
  const window = duration === undefined ? 'lifetime' : windowOf(duration)
  const left = window === 'lifetime' ? less(budget, spent) : budget
  return { cap: toNusd(left), window, isSame: duration === undefined || isSameWindow(duration) }
}

type KeyOf = { key: FoundKey; member: FoundKey | undefined }

/** The id of the owner of a key, who is added if no table has it. */
function ownerOf(found: SourceContents, row: Row, of: KeyOf, context: Context): string {
  const { key } = of
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
  if (own !== undefined && !known.has(own)) {
    if (key.state.is === 'on') key.state = { is: 'off', why: 'its user is not there' }
    return `${kind}/${own}`
  }
  const left = leftOf(of)
  // Keys without a budget would spend what the other keys without an owner have left.
  const pool = left === undefined ? 'open' : 'capped'
  const id = own === undefined ? `${unowned}${pool}` : `${kind}/${own}`
  let owner = found.owners.find((one) => one.id === id)
  if (!owner) {
    owner = emptyOwner(id, `keys without an owner${left === undefined ? ' or a budget' : ''}`)
    found.owners.push(owner)
  }
  if (own !== undefined && known.get(own)?.hasBudget) return id
  if (own === undefined) owner.spent += key.spent
  // Without a budget of its own, an owner has what its keys have left.
  if (left !== undefined && key.state.is === 'on') owner.balance += newly(left, of, context)
  if (left === undefined) {
    const why = 'a key that neither its owner nor its lifetime gives a budget: grant one'
    addMisfit(found.misfits, why, key.name)
    // With the balance as its cap it would spend what the other keys have left.
    key.isUnfunded = true
  }
  return id
}

/** What lifetime budgets of a key and of its member leave; undefined where neither has one. */
function leftOf({ key, member }: KeyOf): Nusd | undefined {
  const [one, other] = [key, member].flatMap((some) =>
    some?.cap === undefined || some.window !== 'lifetime' ? [] : [max(some.cap, 0n)],
  )
  return one === undefined || other === undefined ? one : min(one, other)
}

/** The part of `left` that other keys of its member have not counted yet. */
function newly(left: Nusd, { member }: KeyOf, { counted }: Context): Nusd {
  if (member?.cap === undefined || member.window !== 'lifetime') return left
  const before = counted.get(member.id) ?? 0n
  const after = min(before + left, max(member.cap, 0n))
  counted.set(member.id, after)
  return after - before
}

/** LiteLLM gives keys that its master key makes to one user, where that has no limits. */
function isOfStrangers(user: string | undefined, { users }: Context): boolean {
  if (user !== 'default_user_id') return false
  const { owner, hasBudget = false } = users.get(user) ?? {}
  if (!owner) return true
  const { models, rpm, concurrency, state } = owner
  return state.is === 'on' && !hasBudget && (models ?? rpm ?? concurrency) === undefined
}

const emptyOwner = (id: string, name: string): FoundOwner => ({
  ...{ id, name, balance: 0n, isOfKeys: true, spent: 0n, state: { is: 'on' } },
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
