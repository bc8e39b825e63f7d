import type { Clock } from '../../kernel/clock.ts'
import type { Health } from './health-port.ts'

/** How long a probe waits for the database, in ms: supervisors give up soon. */
export const probeMs = 1500

/** How long after an echo the notices of other nodes count as heard, in ms. */
const hearingMs = 10_000

/** Whether notices of other nodes get through to this one. */
export const isHearing = (
  { echoedAt }: Pick<Health, 'echoedAt'>,
  clock: Pick<Clock, 'monotonic'>,
): boolean => echoedAt !== null && clock.monotonic() - echoedAt < hearingMs

export const newHealth = (clock: Pick<Clock, 'monotonic'>): Health => ({
  startedAt: clock.monotonic(),
  ledger: 'checking',
  ledgerFaults: 0,
  log: 'unchecked',
  clock: 'ok',
  heads: 'unchecked',
  chain: { head: null, headAt: null, trouble: null },
  anchors: { trouble: null, balanceWei: null, isLow: false },
  deposits: { trouble: null, isChecked: false, cursor: null, doubts: [] },
  echoedAt: null,
  stopping: false,
})
