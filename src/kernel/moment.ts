/** Words for moments and durations, the same on the server and in the browser. */

const dayMs = 86_400_000

/** Whole units, rounded down; beyond 30 days either way it is the date. */
export function relativeTime(at: number, now: number): string {
  const distance = Math.abs(now - at)
  if (distance < 5000) return 'just now'
  if (distance >= 30 * dayMs) return formatDate(at)
  const words = durationText(distance)
  return at < now ? `${words} ago` : `in ${words}`
}

/** A moment of which only the minute is known. */
export function relativeMinute(minute: number, now: number): string {
  const thisMinute = now - (now % 60_000)
  return minute >= thisMinute ? 'this minute' : relativeTime(minute, thisMinute)
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

/** A moment to the second, in UTC. */
export const exactTime = (at: number): string => `${formatExactly(at)} UTC`

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
