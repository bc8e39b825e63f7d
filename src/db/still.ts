import type { Db } from './db.ts'

/**
 * Reads by name, each done again only after something was written. What is given may be given
 * again, so nobody changes it; what else a value depends on is part of its name.
 */
export type Still = <T>(name: string, read: () => Promise<T>) => Promise<T>

/** How many values are kept: of a few bytes or kilobytes each. */
const keptMax = 1000

export function stillReads({ version }: Pick<Db, 'version'>): Still {
  const kept = new Map<string, Promise<unknown>>()
  let seen: number | undefined
  return async <T>(name: string, read: () => Promise<T>): Promise<T> => {
    const now = version?.()
    if (now === undefined) return read()
    if (now !== seen || kept.size >= keptMax) kept.clear()
    seen = now
    const known = kept.get(name)
    if (known) return known as Promise<T>
    const reading = read()
    kept.set(name, reading)
    // What could not be read is asked for again.
    reading.catch(() => kept.delete(name))
    return reading
  }
}
