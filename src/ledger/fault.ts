/**
 * A fault of a decision, or of a value that the database does not take (SQLSTATE classes 22 and
 * 23), as against a full disk or a lost connection. Drizzle wraps what the driver threw.
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
