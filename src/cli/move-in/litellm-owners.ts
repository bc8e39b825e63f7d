/** Reads LiteLLM's users and teams, and the budgets that are renewed. */
import { addDecimals, type Decimal } from '../../kernel/decimal.ts'
import { isExactObject } from '../../kernel/exact-json.ts'
import type { CapWindow } from '../../ledger/window.ts'
import {
  addMisfit,
  type FoundOwner,
  type FoundState,
  type SourceContents,
  toNusd,
} from './found.ts'
import { amountIn, isTrue, jsonIn, limitIn, listOf, type Row, textOf } from './tables.ts'

const kinds = { user: 'user_id', team: 'team_id' } as const

/** Users or teams by their ids; `hasBudget` is false where their keys say what they have. */
export type Owners = Map<string, { owner: FoundOwner; hasBudget: boolean; memberBudget: string }>

/** The row that counts the spending of all: no key spends its budget alone. */
const wholeProxy = 'litellm-proxy-budget'

/** @throws Error for a row without an id */
export function ownersIn(
  found: SourceContents,
  rows: readonly Row[],
  kind: keyof typeof kinds,
): Owners {
  const owners: Owners = new Map()
  for (const row of rows) {
    const own = textOf(row, kinds[kind])
    if (own === undefined) throw new Error(`a ${kind} has no ${kinds[kind]}`)
    if (kind === 'user' && own === wholeProxy) {
      addMisfit(found.misfits, 'the budget of the whole proxy: not kept here', own)
      continue
    }
    const password = textOf(row, 'password')
    if (password !== undefined) found.secrets.add(password)
    const id = `${kind}/${own}`
    const budget = amountIn(row, 'max_budget')
    const spent = amountIn(row, 'spend') ?? zero
    const owner: FoundOwner = {
      ...{ id, name: textOf(row, `${kind}_alias`) ?? own, spent: toNusd(spent) },
      ...(budget ? { balance: toNusd(less(budget, spent)) } : { balance: 0n, isOfKeys: true }),
      ...{ models: modelsOf(row), ...limitsOf(row), state: stateOf(row, kind) },
    }
    if (budget && textOf(row, 'budget_duration') !== undefined) {
      addMisfit(found.misfits, 'its budget is renewed there; here it has what is left', id)
    }
    noteLimits(found, row, id)
    const memberBudget = kind === 'team' ? memberBudgetIn(row) : ''
    owners.set(own, { owner, hasBudget: budget !== undefined, memberBudget })
    found.owners.push(owner)
  }
  return owners
}

/** The id of the budget of each member of a team without one of its own; empty for none. */
function memberBudgetIn(row: Row): string {
  const metadata = jsonIn(row, 'metadata')
  const id = isExactObject(metadata) ? metadata['team_member_budget_id'] : undefined
  return typeof id === 'string' ? id : ''
}

type RateLimits = Pick<FoundOwner, 'rpm' | 'concurrency'>

export const limitsOf = (row: Row = new Map()): RateLimits => ({
  rpm: limitIn(row, 'rpm_limit', 10_000_000),
  concurrency: limitIn(row, 'max_parallel_requests', 1_000_000),
})

/** Limits of money and models that have no counterpart: a key without them would allow more. */
const unreadable = [
  ...['model_max_budget', 'budget_limits'],
  ...['organization_id', 'project_id', 'object_permission_id'],
]

/** Why a row lets no request through here; undefined where it lets some. */
export function shutBy(row: Row | undefined): string | undefined {
  const limits = ['rpm_limit', 'tpm_limit', 'max_parallel_requests']
  if (!row) return undefined
  if (limits.some((name) => limitIn(row, name, 1) === 0)) return 'it allows no request'
  const unread = unreadable.find((name) => !isEmpty(row, name))
  return unread && `its ${unread} cannot be kept here`
}

const isEmpty = (row: Row, name: string): boolean => {
  const value = row.get(name) ?? ''
  return typeof value === 'string' ? /^(\{\}|\[\]|null|)$/.test(value) : value.length === 0
}

function stateOf(row: Row, kind: keyof typeof kinds): FoundState {
  if (isTrue(row, 'blocked')) return { is: 'off', why: `its ${kind} is blocked` }
  if (modelsOf(row)?.length === 0) return { is: 'off', why: `its ${kind} may use no model` }
  const why = shutBy(row)
  return why === undefined ? { is: 'on' } : { is: 'off', why: `of its ${kind}: ${why}` }
}

/** Names limits that have no counterpart, and do not keep a key from coming over. */
export function noteLimits({ misfits }: SourceContents, row: Row, id: string): void {
  for (const column of ['tpm_limit', 'soft_budget', 'permissions', 'config'] as const) {
    if (!isEmpty(row, column)) addMisfit(misfits, `${column}: not kept here`, id)
  }
  const metadata = jsonIn(row, 'metadata')
  for (const name of isExactObject(metadata) ? Object.keys(metadata) : []) {
    if (/_limit$/.test(name)) addMisfit(misfits, `${name}: not kept here`, id)
  }
}

/** Names in a list of models that mean all of them, or those of the team. */
const everyModel: ReadonlySet<string> = new Set(['all-team-models', 'all-proxy-models', '*'])

/** Undefined for all; no model at all for a list that names none. */
export function modelsOf(row: Row, column = 'models'): string[] | undefined {
  const own = listOf(row, column)
  if (own.length === 0 || own.some((name) => everyModel.has(name))) return undefined
  return own.filter((name) => name !== 'no-default-models')
}

const unitDays: Record<string, number> = {
  ...{ s: 1 / 86_400, m: 1 / 1440, h: 1 / 24, d: 1, w: 7, mo: 31, y: 366 },
}

const wordDays: Record<string, number> = { hourly: 1, daily: 1, weekly: 7, monthly: 31 }

/** The days of a duration; undefined for one that is none. */
export function daysOf(duration: string): number | undefined {
  const [, count, unit = 's'] = /^(\d{1,9})(s|m|h|d|w|mo|y)?$/.exec(duration) ?? []
  return count === undefined ? wordDays[duration] : Number(count) * (unitDays[unit] ?? 1)
}

/** The shortest window that is as long, so that no more can be spent than there. */
export function windowOf(duration: string): CapWindow {
  const days = daysOf(duration) ?? Infinity
  if (days <= 1) return 'day'
  if (days <= 7) return 'week'
  return days <= 31 ? 'month' : 'lifetime'
}

/** Whether a window here is as long as the duration there. */
export const isSameWindow = (duration: string): boolean =>
  [1, 7, 28, 30, 31].includes(daysOf(duration) ?? 0)

export const zero: Decimal = { digits: 0n, scale: 0 }

export const less = (a: Decimal, b: Decimal): Decimal => addDecimals(a, { ...b, digits: -b.digits })
