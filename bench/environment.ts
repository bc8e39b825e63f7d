import { resolve } from 'node:path'

const own = ['COUNTERFOIL_BINARY', 'BENCH_DATABASE_URL', 'TEST_DATABASE_URL']

/** The build that is measured. */
export const binary = (): string => resolve(process.env['COUNTERFOIL_BINARY'] ?? 'dist/counterfoil')

/** The PostgreSQL server to measure with, if there is one. */
export const postgresServer = (): string | undefined =>
  process.env['BENCH_DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']

/**
 * The environment of the measured process, with `more`. It leaves out the variables of the
 * measurements themselves, because the gateway refuses to start with one that it does not know.
 */
export function environment(more: Record<string, string> = {}): Record<string, string | undefined> {
  const given = Object.entries(process.env).filter(([name]) => !own.includes(name))
  return { ...Object.fromEntries(given), ...more }
}
