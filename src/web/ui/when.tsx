/** Moments on a page. */
import { exactTime, relativeMinute, relativeTime } from '../../kernel/moment.ts'

export { dateText, dateWords, durationText, relativeTime } from '../../kernel/moment.ts'

/** Milliseconds since 1970. */
type At = { at: number }

type WhenProps = At & {
  now: number
  /** Only the minute is known. */
  isMinute?: boolean
}

/**
 * A moment in words: "2 min ago", "in 3 days", or the date. A script keeps them true by the clock
 * of the server, `data-now`; without one they are as old as the page.
 */
export const When = ({ at, now, isMinute }: WhenProps) => (
  <time
    datetime={new Date(at).toISOString()}
    data-now={String(now)}
    data-minute={isMinute ? '' : undefined}
    title={exactTime(at)}
  >
    {isMinute ? relativeMinute(at, now) : relativeTime(at, now)}
  </time>
)

/** A moment to the second, in UTC. */
export const ExactTime = ({ at }: At) => (
  <time datetime={new Date(at).toISOString()}>{exactTime(at)}</time>
)

/** The hour and minute of a moment, in UTC: `14:00 UTC`. */
export const Hour = ({ at }: At) => (
  <time datetime={new Date(at).toISOString()}>{hourText(at)}</time>
)

/** The same as text. */
export const hourText = (at: number): string => `${new Date(at).toISOString().slice(11, 16)} UTC`
