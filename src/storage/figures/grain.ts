import type { Millis } from '../../kernel/clock.ts'

/** What sums of receipts are kept of: an hour, a day (UTC), all time. */
export type Grain = 'hour' | 'day' | 'all'

export const hourMs = 3_600_000
export const dayMs = 86_400_000

/** When the hour or the day of a moment began; all time begins at 0. */
export function grainStart(grain: Grain, at: Millis): Millis {
  if (grain === 'all') return 0
  return at - (at % (grain === 'hour' ? hourMs : dayMs))
}
