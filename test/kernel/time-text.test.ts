import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseDate, parseTime } from '../../src/kernel/time-text.ts'
import { promise } from '../support/promise.ts'

promise`B24 H: A value that looks like another one is refused, never read as something else.`
describe('a time as text', () => {
  test.each([
    ['2027-01-01T00:00:00Z', Date.UTC(2027, 0, 1)],
    ['2027-01-01t23:59:59.5z', Date.UTC(2027, 0, 1, 23, 59, 59, 500)],
    ['2027-01-01T00:00:00.123456789+02:30', Date.UTC(2026, 11, 31, 21, 30, 0, 123)],
    ['2028-02-29T12:00:00-12:00', Date.UTC(2028, 2, 1)],
  ])('The text %s is read as a time.', (text, at) => expect(parseTime(text)).toBe(at))

  test.each([
    '2027-01-01T24:00:00Z',
    '2027-01-01T23:59:60Z',
    '2027-01-01T23:60:00Z',
    '2027-02-30T00:00:00Z',
    '2027-02-29T00:00:00Z',
    '2027-13-01T00:00:00Z',
    '2027-00-01T00:00:00Z',
    '2027-01-00T00:00:00Z',
    '2027-01-01T00:00:00',
    '2027-01-01T00:00Z',
    '2027-01-01 00:00:00Z',
    '2027-01-01',
    '2027-01-01T00:00:00+24:00',
    '2027-01-01T00:00:00+02:60',
    '2027-01-01T00:00:00+0200',
    '2027-01-01T00:00:00.Z',
    '1969-12-31T23:59:59Z',
    '+002027-01-01T00:00:00Z',
    ' 2027-01-01T00:00:00Z',
    'Fri, 01 Jan 2027 00:00:00 GMT',
    '1798761600000',
    '',
  ])('The text %p is not a time.', (text) => expect(parseTime(text)).toBeUndefined())

  test('every millisecond is read as it is written', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 253_402_300_799_999 }), (at) => {
        const text = new Date(at).toISOString()
        expect(parseTime(text)).toBe(at)
        expect(parseDate(text.slice(0, 10))).toBe(at - (at % 86_400_000))
      }),
    )
  })

  test.each(['2027-02-30', '2027-1-1', '2027-01-01T', '0000-01-01', ''])(
    'The text %p is not a date.',
    (text) => expect(parseDate(text)).toBeUndefined(),
  )
})
