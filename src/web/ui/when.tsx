/** Milliseconds since 1970. */
type At = { at: number }

/** A moment in words that need no clock in the browser: "2 min ago", "in 3 days", or the date. */
export const When = ({ at, now }: At & { now: number }) => (
  <time datetime={new Date(at).toISOString()} title={exactTime(at)}>
    {relativeTime(at, now)}
  </time>
)

/** A moment to the second, in UTC. */
export const ExactTime = ({ at }: At) => (
  <time datetime={new Date(at).toISOString()}>{exactTime(at)}</time>
)

const dayMs = 86_400_000

/** Whole units, rounded down; beyond 30 days either way it is the date. */
export function relativeTime(at: number, now: number): string {
  const distance = Math.abs(now - at)
  if (distance < 5000) return 'just now'
  if (distance >= 30 * dayMs) return formatDate(at)
  const words = durationText(distance)
  return at < now ? `${words} ago` : `in ${words}`
}

/** A duration in its largest unit: "42 s", "5 min", "3 h", "2 days". */
export function durationText(ms: number): string {
  if (ms < 60_000) return `${Math.floor(ms / 1000)} s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`
  if (ms < dayMs) return `${Math.floor(ms / 3_600_000)} h`
  const days = Math.floor(ms / dayMs)
  return days === 1 ? '1 day' : `${days} days`
}

export const dateText = (at: number): string => formatDate(at)

const exactTime = (at: number): string => `${formatExactly(at)} UTC`

const utc = { timeZone: 'UTC', month: 'short', day: 'numeric', year: 'numeric' } as const

/** Says moments in English. Its format is made when a page needs it: it takes milliseconds. */
export const dateWords = (options: Intl.DateTimeFormatOptions) => {
  let made: Intl.DateTimeFormat | undefined
  return (at: number): string => {
    made ??= new Intl.DateTimeFormat('en-US', options)
    return made.format(at)
  }
}

const formatDate = dateWords(utc)
const formatExactly = dateWords({
  ...utc,
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
