import { describe, expect, test } from 'bun:test'
import {
  dateIn,
  dayAway,
  dayOfDate,
  dayStart,
  daysBetween,
  timeIn,
  weekStart,
  zoneNamed,
} from '../../src/kernel/zone.ts'

const hour = 3_600_000
const at = (text: string): number => Date.parse(text)

describe('a time zone', () => {
  test.each(['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/Argentina/Ushuaia'])(
    '%s is known by its name',
    (name) => expect(zoneNamed(name)).toBe(name),
  )

  test.each(['', 'Berlin/Europe', '+05:30', 'UTC ', 'Europe/Berlin\n', `A${'a'.repeat(80)}`])(
    '%j is not the name of one',
    (name) => expect(zoneNamed(name)).toBeUndefined(),
  )

  const starts: [zone: string, moment: string, start: string][] = [
    ['UTC', '2026-11-21T00:00:00Z', '2026-11-21T00:00:00Z'],
    ['Europe/Berlin', '2026-11-21T22:59:59Z', '2026-11-20T23:00:00Z'],
    ['Europe/Berlin', '2026-11-21T23:00:00Z', '2026-11-21T23:00:00Z'],
    ['Asia/Kathmandu', '2026-11-21T18:15:00Z', '2026-11-21T18:15:00Z'],
    ['America/Los_Angeles', '2026-11-21T07:59:00Z', '2026-11-20T08:00:00Z'],
    ['Pacific/Kiritimati', '2026-11-21T12:00:00Z', '2026-11-21T10:00:00Z'],
    // The clocks go forward at midnight: the day begins at one.
    ['Africa/Cairo', '2026-04-24T12:00:00Z', '2026-04-23T22:00:00Z'],
    // They go back to midnight: the earlier of two is the beginning.
    ['America/Havana', '2026-11-01T20:00:00Z', '2026-11-01T04:00:00Z'],
  ]
  test.each(starts)('of %s at %s begins its day at %s', (zone, moment, start) => {
    expect(new Date(dayStart(zone, at(moment))).toISOString()).toBe(
      new Date(at(start)).toISOString(),
    )
  })

  test('counts days of 23 and 25 hours as one', () => {
    const spring = dayOfDate('Europe/Berlin', at('2026-03-29'))
    const autumn = dayOfDate('Europe/Berlin', at('2026-10-25'))
    expect(dayAway('Europe/Berlin', spring, 1) - spring).toBe(23 * hour)
    expect(dayAway('Europe/Berlin', autumn, 1) - autumn).toBe(25 * hour)
    expect(dayAway('Europe/Berlin', autumn + 24.5 * hour, -1)).toBe(autumn - 24 * hour)
    expect(daysBetween('Europe/Berlin', spring, autumn)).toBe(210)
  })

  test('names dates, hours and Mondays as its clocks show them', () => {
    const moment = at('2026-11-22T23:30:00Z')
    expect([dateIn('UTC', moment), timeIn('UTC', moment)]).toEqual(['2026-11-22', '23:30'])
    expect([dateIn('Asia/Kolkata', moment), timeIn('Asia/Kolkata', moment)]).toEqual([
      '2026-11-23',
      '05:00',
    ])
    expect(dateIn('UTC', weekStart('UTC', moment))).toBe('2026-11-16')
    expect(dateIn('Asia/Kolkata', weekStart('Asia/Kolkata', moment))).toBe('2026-11-23')
  })
})
