/** Health of a new process, and the limits that probes use. */
import type { Clock } from '../../kernel/clock.ts'
import type { Health } from './health-port.ts'

/** Time a probe waits for the database, in ms; supervisors time out soon. */
export const probeMs = 1500

/** Time after an echo during which notices of other nodes count as arriving, in ms. */
const hearingMs = 10_000

/** Whether notices of other nodes reach this one. */
export const isHearing = (
  { echoedAt }: Pick<Health, 'echoedAt'>,
  clock: Pick<Clock, 'monotonic'>,
): boolean => echoedAt !== null && clock.monotonic() - echoedAt < hearingMs

export const newHealth = (clock: Pick<Clock, 'monotonic'>): Health => ({
  startedAt: clock.monotonic(),
  ledger: 'checking',
  ledgerFaults: 0,
  log: 'unchecked',
  logDamage: null,
  clock: 'ok',
  heads: 'unchecked',
  schema: 'ok',
  configs: new Map(),
  connections: 'enough',
  stalledMoves: [],
  chain: { head: null, headAt: null, trouble: null },
  anchors: { trouble: null, balanceWei: null, isLow: false },
  deposits: { trouble: null, isChecked: false, cursor: null, doubts: [], symbol: null },
  echoedAt: null,
  stopping: false,
})
