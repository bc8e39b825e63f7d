/** The state of this machine's clock, for the status and the service log. */
import type { Deps } from '../../app/deps-port.ts'
import { skewAdvice, skewOf } from '../../kernel/skew.ts'

/** This machine's clock against the database server's; a positive offset means ahead. */
export function clockStatus({ leaseClock }: Pick<Deps, 'leaseClock'>) {
  const aheadMs = leaseClock.aheadMs()
  return { status: skewOf(aheadMs), offset_ms: aheadMs === null ? null : Math.round(aheadMs) }
}

/** Whether work that depends on the time of day must wait until the clock is right. */
export const isClockWrong = ({ leaseClock }: Pick<Deps, 'leaseClock'>): boolean =>
  skewOf(leaseClock.aheadMs()) === 'wrong'

/** Logs each change of the clock's state once. */
export function tellSkew({
  leaseClock,
  clock,
  health,
  log,
}: Pick<Deps, 'leaseClock' | 'clock' | 'health' | 'log'>): void {
  const aheadMs = leaseClock.aheadMs() ?? 0
  const skew = skewOf(aheadMs)
  if (skew === health.clock) return
  health.clock = skew
  const fields = { offset_ms: Math.round(aheadMs) }
  const advice = skewAdvice(aheadMs, clock.now())
  if (skew === 'ok') log.info('clock.right', fields)
  else if (skew === 'skewed') log.warn('clock.skewed', { ...fields, advice })
  else log.error('clock.wrong', new Error(advice), fields)
}
