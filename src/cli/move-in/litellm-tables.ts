/** Names LiteLLM's tables, and tells those of a list without a name by their columns. */

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

/** Columns that limit: in an export without one, a limit that is there would be lost. */
const needed: Readonly<Record<string, readonly string[]>> = {
  LiteLLM_VerificationToken: [
    ...['token', 'spend', 'blocked', 'models', 'expires', 'max_budget'],
    ...['user_id', 'team_id', 'budget_id'],
  ],
  LiteLLM_UserTable: ['user_id', 'spend', 'max_budget', 'models'],
  LiteLLM_TeamTable: ['team_id', 'spend', 'max_budget', 'models', 'blocked'],
  LiteLLM_BudgetTable: ['budget_id', 'max_budget'],
  LiteLLM_TeamMembership: ['user_id', 'team_id', 'budget_id', 'spend'],
}

type Columns = ReadonlySet<string>

/** The table that has these columns; undefined for another. */
export function litellmTableOf(columns: Columns): string | undefined {
  const hasAll = (...names: string[]) => names.every((name) => columns.has(name))
  if (isOfDeleted(columns)) return columns.has('token') ? deletedKeys : undefined
  if (hasAll('token', 'spend')) return 'LiteLLM_VerificationToken'
  // Customers, organizations and projects have ids of these too, and no budget of their own.
  if (hasAll('max_budget', 'spend', 'user_id')) return 'LiteLLM_UserTable'
  if (hasAll('max_budget', 'spend', 'team_id')) return 'LiteLLM_TeamTable'
  if (hasAll('user_id', 'team_id', 'budget_id')) return 'LiteLLM_TeamMembership'
  return hasAll('budget_id', 'max_budget') ? 'LiteLLM_BudgetTable' : undefined
}

const isOfDeleted = (columns: Columns): boolean =>
  columns.has('deleted_at') || columns.has('deleted_by')

/** @throws Error for a list that lacks what its table limits, or whose rows are deleted */
export function assertColumns(name: string, columns: Columns): void {
  if (name !== deletedKeys && isOfDeleted(columns)) {
    throw new Error(`its rows of ${name} are deleted ones: only keys are, as ${deletedKeys}`)
  }
  const missing = (needed[name] ?? []).filter((column) => !columns.has(column))
  if (missing.length === 0) return
  throw new Error(`its ${name} lacks columns that limit: ${missing.join(', ')}. Export it whole`)
}
