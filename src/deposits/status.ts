import type { Deps } from '../deps.ts'

/** How deposits are, as this process found them last: nothing pretends. */
export function depositStatus({ depositPolicy, health }: Pick<Deps, 'depositPolicy' | 'health'>) {
  const { trouble, isChecked, cursor } = health.deposits
  if (!depositPolicy) return { status: 'disabled' as const }
  const status = trouble !== null ? 'degraded' : isChecked ? 'ok' : 'unchecked'
  return { status, reason: trouble, block: cursor } as const
}
