/** Gives the rows that a command must have named. */

/** @throws Error for rows that were not loaded: a bug of ours */
export function loaded<T>(rows: T | undefined, what: string): T {
  if (rows === undefined) throw new Error(`${what} were not loaded`)
  return rows
}
