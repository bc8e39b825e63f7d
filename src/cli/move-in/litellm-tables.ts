/** Names LiteLLM's tables, and tells those of a list without a name by their columns. */
import type { Columns } from './tables.ts'

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

const deletedKeys = 'LiteLLM_DeletedVerificationToken'

/** Columns of keys, users, teams and budgets alike. */
const ofAll = [
  ...['max_budget', 'budget_duration', 'model_max_budget'],
  ...['tpm_limit', 'rpm_limit', 'max_parallel_requests'],
]

/** Columns that limit. Those that only its newest versions have are read where they are. */
export const litellmColumns: Columns = {
  LiteLLM_VerificationToken: [
    ...['token', 'spend', 'blocked', 'models', 'expires', ...ofAll, 'allowed_routes'],
    ...['user_id', 'team_id', 'budget_id', 'organization_id'],
  ],
  LiteLLM_UserTable: ['user_id', 'spend', 'models', ...ofAll, 'organization_id'],
  LiteLLM_TeamTable: [
    ...['team_id', 'spend', 'blocked', 'models', ...ofAll, 'organization_id', 'metadata'],
  ],
  LiteLLM_BudgetTable: ['budget_id', ...ofAll],
  LiteLLM_TeamMembership: ['user_id', 'team_id', 'budget_id', 'spend'],
  LiteLLM_DeletedVerificationToken: ['token', 'deleted_at'],
}

/** The table that has these columns; undefined for another. */
export function litellmTableOf(columns: ReadonlySet<string>): string | undefined {
  const hasAll = (...names: string[]) => names.every((name) => columns.has(name))
  if (isOfDeleted(columns)) return columns.has('token') ? deletedKeys : undefined
  if (hasAll('token', 'spend')) return 'LiteLLM_VerificationToken'
  // Customers, organizations and projects have ids of these too, and no budget of their own.
  if (hasAll('max_budget', 'spend', 'user_id')) return 'LiteLLM_UserTable'
  if (hasAll('max_budget', 'spend', 'team_id')) return 'LiteLLM_TeamTable'
  if (hasAll('user_id', 'team_id', 'budget_id')) return 'LiteLLM_TeamMembership'
  return hasAll('budget_id', 'max_budget') ? 'LiteLLM_BudgetTable' : undefined
}

const isOfDeleted = (columns: ReadonlySet<string>): boolean =>
  columns.has('deleted_at') || columns.has('deleted_by')

/** @throws Error for a table of LiteLLM whose rows are deleted */
export function assertLiving(name: string, columns: ReadonlySet<string>): void {
  if (!name.startsWith('LiteLLM_') || name === deletedKeys || !isOfDeleted(columns)) return
  throw new Error(`its rows of ${name} are deleted ones: only keys are, as ${deletedKeys}`)
}
