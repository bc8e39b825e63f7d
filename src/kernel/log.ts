/** The log of events, one structured line each. Values are redacted before they are written. */
export type Log = {
  debug(event: string, fields?: Record<string, unknown>): void
  info(event: string, fields?: Record<string, unknown>): void
  warn(event: string, fields?: Record<string, unknown>): void
  /** `error` is a fault of ours; expected refusals are not logged as errors. */
  error(event: string, error: unknown, fields?: Record<string, unknown>): void
}
