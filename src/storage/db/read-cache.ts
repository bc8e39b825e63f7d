import type { Db } from './db.ts'

/**
 * Reads by a name or an object, each done again only after something was written, and at once where
 * nothing was. What is given may be given again, so nobody changes it; what else a value depends on
 * is part of its name.
 */
export type ReadCache = <T>(name: string | object, read: () => Promise<T>) => T | Promise<T>

/** How many values are kept: of a few bytes or kilobytes each. */
const keptMax = 1000

export function makeReadCache({ version }: Pick<Db, 'version'>): ReadCache {
  const kept = new Map<string | object, unknown>()
  let seen: number | undefined
  return <T>(name: string | object, read: () => Promise<T>): T | Promise<T> => {
    if (!version) return read()
    const now = version()
    if (now !== seen || kept.size >= keptMax) kept.clear()
    seen = now
    const known = kept.get(name)
    if (known !== undefined) return known as T
    return read().then((value) => {
      // What was read before a write must not be kept after it.
      if (version() === now) kept.set(name, value)
      return value
    })
  }
}
