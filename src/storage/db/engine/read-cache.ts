/** Repeats a read until the database changes. */
import type { Db } from './db.ts'

/**
 * Returns the cached value of `name` until the next write, synchronously. All callers share the
 * value: never change it. Whatever the value depends on besides the database is part of its name.
 */
export type ReadCache = <T>(name: string | object, read: () => Promise<T>) => T | Promise<T>

/** The most values kept, of a few kilobytes each. */
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
      // A value read before a write must not be cached after it.
      if (version() === now) kept.set(name, value)
      return value
    })
  }
}
