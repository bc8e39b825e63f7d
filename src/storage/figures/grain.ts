/** The periods that public figures are kept for. */
import type { Millis } from '../../kernel/clock.ts'

/** An hour, a day (UTC) or all time. */
export type Grain = 'hour' | 'day' | 'all'

export const hourMs = 3_600_000
export const dayMs = 86_400_000

/** When the hour or day that contains `at` began; 0 for all time. */
export function grainStart(grain: Grain, at: Millis): Millis {
  if (grain === 'all') return 0
  return at - (at % (grain === 'hour' ? hourMs : dayMs))
}
