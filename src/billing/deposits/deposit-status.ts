/** Reports the state of the deposit watcher. */
import type { Deps } from '../../app/deps-port.ts'

/** The state of the deposit watcher, as this process last saw it. */
export function depositStatus({ depositPolicy, health }: Pick<Deps, 'depositPolicy' | 'health'>) {
  const { isChecked, cursor, doubts } = health.deposits
  // A lagging server catches up by itself.
  const doubt = doubts.find((one) => one !== 'second_behind')
  const trouble = health.deposits.trouble ?? doubt ?? null
  if (!depositPolicy) return { status: 'disabled' as const }
  const status = trouble !== null ? 'degraded' : isChecked ? 'ok' : 'unchecked'
  return { status, reason: trouble, block: cursor } as const
}
