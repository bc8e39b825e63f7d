import type { HeadsHealth, Health } from '../../front/status/health-port.ts'

/** Whether the log is no longer what was signed or anchored of it: nothing may be issued. */
export const isDiverged = ({ log, heads }: Pick<Health, 'log' | 'heads'>): boolean =>
  log === 'diverged' || heads === 'diverged'

/** The log as this node found it: without a chain, by the heads that it knows. */
export const logStanding = (health: Pick<Health, 'log' | 'heads'>): HeadsHealth =>
  isDiverged(health) ? 'diverged' : health.heads
