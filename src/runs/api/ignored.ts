/** Tells which members of a request had no effect. */
import type { LiveRun } from '../live-run.ts'

/**
 * The header, if there are any. Ask after the model server was asked: before, it is not known.
 */
export function ignoredHeader({
  ignored,
}: LiveRun): { 'x-counterfoil-ignored': string } | undefined {
  if (ignored.length === 0) return undefined
  // Names come from the request: only what a header may hold goes into one.
  const names = [...new Set(ignored)].filter((name) => /^[\w .-]{1,80}$/.test(name)).slice(0, 32)
  return names.length > 0 ? { 'x-counterfoil-ignored': names.join(', ') } : undefined
}
