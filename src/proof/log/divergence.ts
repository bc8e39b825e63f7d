/** Tells from the health whether the log contradicts what was signed or anchored. */
import type { HeadsHealth, Health } from '../../front/status/health-port.ts'

/** Whether nothing may be issued because the log contradicts a signed or anchored head. */
export const isDiverged = ({ log, heads }: Pick<Health, 'log' | 'heads'>): boolean =>
  log === 'diverged' || heads === 'diverged'

/** The state of the log by chain and known heads; without a chain by the heads alone. */
export const logState = (health: Pick<Health, 'log' | 'heads'>): HeadsHealth =>
  isDiverged(health) ? 'diverged' : health.heads
