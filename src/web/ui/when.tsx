/** Moments on a page. */
import { bothTimes, exactTime, relativeMinute, relativeTime } from '../../kernel/moment.ts'
import { utcZone, type ZoneName } from '../../kernel/zone.ts'
import { type Child, renderChild } from './jsx-runtime.ts'

export { dateText, dateWords, dayText, durationText, relativeTime } from '../../kernel/moment.ts'

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

/** The zone of the times and days of a list, said once beside it. */
export const ZoneNote = ({ zone }: { zone: ZoneName }) => <small>Times in {zone}</small>

/** A moment to the second. */
export const ExactTime = ({ at }: At) => (
  <time datetime={new Date(at).toISOString()} data-exact="">
    {exactTime(at)}
  </time>
)

const drawn = new RegExp(
  '<time datetime="([^"]+)"(?: data-now="(\\d+)"( data-minute)?| data-exact)' +
    '(?: title="[^"]*")?>[^<]*</time>',
  'g',
)

/** HTML of a live message, which no page is drawn around. */
export const renderIn = (zone: ZoneName | undefined, child: Child): string =>
  zone === undefined || zone === utcZone ? renderChild(child) : timesIn(zone, renderChild(child))

/** Parts of pages say UTC; this puts the zone of the reader in its place, with UTC to hover. */
export const timesIn = (zone: ZoneName, html: string): string =>
  html.replace(drawn, (_, iso: string, now: string | undefined, minute: string | undefined) => {
    const at = Date.parse(iso)
    const titles = now === undefined ? exactTime(at) : bothTimes(at, zone)
    const isMinute = minute !== undefined
    const kept = now === undefined ? ' data-exact' : ` data-now="${now}"${minute ?? ''}`
    const said = now === undefined ? exactTime(at, zone) : words(at, Number(now), isMinute, zone)
    return `<time datetime="${iso}"${kept} title="${titles}">${said}</time>`
  })

const words = (at: number, now: number, isMinute: boolean, zone: ZoneName): string =>
  isMinute ? relativeMinute(at, now, zone) : relativeTime(at, now, zone)

/** The hour and minute of a moment, in UTC: `14:00 UTC`. */
export const Hour = ({ at }: At) => (
  <time datetime={new Date(at).toISOString()}>{hourText(at)}</time>
)

/** The same as text. */
export const hourText = (at: number): string => `${new Date(at).toISOString().slice(11, 16)} UTC`
