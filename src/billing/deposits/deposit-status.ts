import type { Deps } from '../../app/deps-port.ts'

/** How deposits are, as this process found them last: nothing pretends. */
export function depositStatus({ depositPolicy, health }: Pick<Deps, 'depositPolicy' | 'health'>) {
  const { isChecked, cursor, doubts } = health.deposits
  // One that is only behind comes along.
  const doubt = doubts.find((one) => one !== 'second_behind')
  const trouble = health.deposits.trouble ?? doubt ?? null
  if (!depositPolicy) return { status: 'disabled' as const }
  const status = trouble !== null ? 'degraded' : isChecked ? 'ok' : 'unchecked'
  return { status, reason: trouble, block: cursor } as const
}
