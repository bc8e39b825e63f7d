/** Tells errors of one command from errors of the whole batch, by their SQL codes. */

/**
 * Whether one command caused an error: it threw, or the database rejected a value (SQLSTATE classes
 * 22 and 23). A full disk or a lost connection concerns all. Drizzle wraps the driver's error.
 */
export function isOneCommandsFault(error: unknown): boolean {
  const codes = codesOf(error)
  if (codes.length === 0) return true
  return codes.some((code) => /^(SQLITE_CONSTRAINT|2[23]...$)/.test(code))
}

/** Whether a unique index refused what a command would have written. */
export const isRepeat = (error: unknown): boolean =>
  codesOf(error).some((code) => /^(SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)|23505)$/.test(code))

function codesOf(error: unknown): string[] {
  const codes: string[] = []
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, errno } = at as { code?: unknown; errno?: unknown }
    codes.push(...[code, errno].filter((one) => typeof one === 'string'))
  }
  return codes
}
