/** Tells which members of a request had no effect. */
import type { LiveRun } from '../live-run.ts'

/** Sets the header. Call it after the model server was asked: before, it is not known. */
export function sayIgnored(
  { set }: { set: { headers: Record<string, string | number> } },
  { ignored }: LiveRun,
): void {
  // Names come from the request: only what a header may hold goes into one.
  const names = [...new Set(ignored)].filter((name) => /^[\w .-]{1,80}$/.test(name)).slice(0, 32)
  if (names.length > 0) set.headers['x-counterfoil-ignored'] = names.join(', ')
}
