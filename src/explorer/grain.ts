import type { Millis } from '../kernel/clock.ts'

/** What the explorer's sums are kept of. */
export type Grain = 'hour' | 'day'

export const hourMs = 3_600_000
export const dayMs = 86_400_000

const lengths: Record<Grain, Millis> = { hour: hourMs, day: dayMs }

/** When the hour or the day (UTC) of a moment began. */
export const grainStart = (grain: Grain, at: Millis): Millis => at - (at % lengths[grain])
