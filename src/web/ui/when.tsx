/** Moments on a page. */
import {
  bothTimes,
  dateText,
  exactTime,
  relativeMinute,
  relativeTime,
} from '../../kernel/moment.ts'
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

/** The day of a moment: like {@link ExactTime}, in the zone of the reader. */
export const DayOf = ({ at }: At) => (
  <time datetime={new Date(at).toISOString()} data-date="">
    {dateText(at)}
  </time>
)

const drawn = new RegExp(
  '<time datetime="([^"]+)"(?: data-now="(\\d+)"( data-minute)?| data-(exact|date))' +
    '(?: title="[^"]*")?>[^<]*</time>',
  'g',
)

/** HTML of a live message, which no page is drawn around. */
export const renderIn = (zone: ZoneName | undefined, child: Child): string =>
  zone === undefined || zone === utcZone ? renderChild(child) : timesIn(zone, renderChild(child))

/** Parts of pages say UTC; this puts the zone of the reader in its place, with UTC to hover. */
export const timesIn = (zone: ZoneName, html: string): string =>
  html.replace(drawn, (_, iso: string, now?: string, minute?: string, kind?: string) => {
    const at = Date.parse(iso)
    const titles = kind === 'exact' ? exactTime(at) : bothTimes(at, zone)
    const kept = kind === undefined ? ` data-now="${now}"${minute ?? ''}` : ` data-${kind}`
    return `<time datetime="${iso}"${kept} title="${titles}">${saidOf()}</time>`

    function saidOf(): string {
      if (kind === 'exact') return exactTime(at, zone)
      if (kind === 'date') return dateText(at, zone)
      return words(at, Number(now), minute !== undefined, zone)
    }
  })

const words = (at: number, now: number, isMinute: boolean, zone: ZoneName): string =>
  isMinute ? relativeMinute(at, now, zone) : relativeTime(at, now, zone)

/** The hour and minute of a moment, in UTC: `14:00 UTC`. */
export const Hour = ({ at }: At) => (
  <time datetime={new Date(at).toISOString()}>{hourText(at)}</time>
)

/** The same as text. */
export const hourText = (at: number): string => `${new Date(at).toISOString().slice(11, 16)} UTC`
