import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { canonical } from '../../src/kernel/canonical.ts'
import { sha256Hex } from '../../src/kernel/hash.ts'
import { belowCost, belowCostWords } from '../../src/models/below-cost.ts'
import { makeCatalogue, toModelView } from '../../src/models/catalogue.ts'
import { days, type Hours, minuteOfWeek } from '../../src/models/hours.ts'
import type { Model } from '../../src/models/model.ts'
import { faultsOf, type HoursConfig, type ModelConfig } from '../../src/models/model-config.ts'
import { priceText, rateSections } from '../../src/models/pages/shown-rates.ts'
import { modelAt, modelsByHour } from '../../src/models/price-hours.ts'
import { dearestPrices } from '../../src/models/step-prices.ts'
import { promise } from '../support/promise.ts'

const base: ModelConfig = {
  id: 'acme/large',
  kind: 'chat',
  context_tokens: 1000,
  max_output_tokens: 100,
  input_pusd: 1000,
  output_pusd: 2000,
  route: ['local:a'],
}
const upstreamIds = ['local', 'far']
const night = { from: '16:30', to: '00:30', input_pusd: 500, output_pusd: 3000 }
const withHours = (...hours: HoursConfig[]): ModelConfig => ({ ...base, hours })
function modelOf(config: ModelConfig): Model {
  const found = makeCatalogue({ models: [config], upstreamIds }).get(config.id)
  if (!found) throw new Error('no such model')
  return found
}
const inputAt = (model: Model, at: string): bigint =>
  modelAt(model, Date.parse(at)).prices.inputPusd
const faults = (...hours: HoursConfig[]) =>
  faultsOf({ models: [withHours(...hours)], upstreamIds }).map((one) =>
    one.replace('"acme/large" ', ''),
  )

/** The clocks of a zone as the runtime itself writes them. */
function written(zone: string, at: number): { day: number; time: string } {
  const of = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...options }).format(at)
  const day = days.indexOf(of({ weekday: 'short' }).toLowerCase() as (typeof days)[number])
  return { day, time: of({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }) }
}

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe']
const anyMoment = fc.oneof(
  fc.integer({ min: 1_500_000_000_000, max: 2_000_000_000_000 }),
  // Around the changes of the clocks of 2026 in Berlin, New York and on Lord Howe Island.
  fc
    .constantFrom(
      '2026-03-29T01:00Z',
      '2026-10-25T01:00Z',
      '2026-03-08T07:00Z',
      '2026-11-01T06:00Z',
    )
    .chain((near) =>
      fc.integer({ min: -7_200_000, max: 7_200_000 }).map((ms) => Date.parse(near) + ms),
    ),
)
const time = fc
  .nat(1439)
  .map((at) => [Math.floor(at / 60), at % 60].map((one) => String(one).padStart(2, '0')).join(':'))

test('The minute of the week is the one that the clocks of the zone show.', () => {
  fc.assert(
    fc.property(fc.constantFrom(...zones), anyMoment, (zone, at) => {
      const { day, time: shown } = written(zone, at)
      const minute = day * 1440 + Number(shown.slice(0, 2)) * 60 + Number(shown.slice(3))
      expect(minuteOfWeek(zone, at)).toBe(minute)
    }),
    { numRuns: 1000 },
  )
})

promise`D63 C: A run costs the prices of the hour in which its hold was made, by the clocks of the zone that
  the configuration names, also over midnight and when the clocks change.`
test('A moment has the prices of the hours that it is in, else the usual ones.', () => {
  const anyHours = fc.record({
    zone: fc.constantFrom(...zones),
    hours: fc.array(
      fc.record({ from: time, to: time, days: fc.subarray([...days], { minLength: 1 }) }),
      { minLength: 1, maxLength: 3 },
    ),
  })
  /** By the text of the clocks alone. */
  const isOn = (
    { from, to, days: on = days }: Hours,
    { day, time: at }: ReturnType<typeof written>,
  ) =>
    from < to
      ? on.includes(days[day] ?? 'mon') && at >= from && at < to
      : (on.includes(days[day] ?? 'mon') && at >= from) ||
        (on.includes(days[(day + 6) % 7] ?? 'mon') && at < to)
  let accepted = 0
  fc.assert(
    fc.property(anyHours, fc.array(anyMoment, { minLength: 5 }), ({ zone, hours }, moments) => {
      const priced = hours.map((one, at) => ({
        ...one,
        zone,
        input_pusd: at,
        output_pusd: 1,
      }))
      const shown = moments.map((at) => written(zone, at))
      const on = shown.map((now) => priced.filter((one) => isOn(one, now)))
      if (faults(...priced).length > 0) return
      accepted++
      const model = modelOf(withHours(...priced))
      moments.forEach((at, i) => {
        const found = on[i] ?? []
        expect(found.length).toBeLessThan(2)
        const [one] = found
        expect(modelAt(model, at).prices.inputPusd).toBe(one ? BigInt(one.input_pusd) : 1000n)
      })
    }),
    { numRuns: 500 },
  )
  expect(accepted).toBeGreaterThan(50)
})

describe('hours with prices of their own', () => {
  test('begin with their first minute and end before their last, over midnight too', () => {
    const model = modelOf(withHours(night))
    const prices = ['16:29:59.999', '16:30:00.000', '23:59:59.999'].map((at) =>
      inputAt(model, `2026-06-01T${at}Z`),
    )
    expect(prices).toEqual([1000n, 500n, 500n])
    expect(inputAt(model, '2026-06-02T00:29:59.999Z')).toBe(500n)
    expect(inputAt(model, '2026-06-02T00:30:00.000Z')).toBe(1000n)
  })

  test('are of the day on which they begin', () => {
    const model = modelOf(withHours({ ...night, days: ['sun'] }))
    // 2026-06-01 is a Monday.
    expect(inputAt(model, '2026-06-01T00:10Z')).toBe(500n)
    expect(inputAt(model, '2026-06-01T17:00Z')).toBe(1000n)
    expect(inputAt(model, '2026-06-07T17:00Z')).toBe(500n)
    expect(inputAt(model, '2026-05-31T00:10Z')).toBe(1000n)
  })

  test('follow the clocks of their zone through the change of the hour', () => {
    const model = modelOf(
      withHours({ ...night, from: '02:00', to: '03:00', zone: 'Europe/Berlin' }),
    )
    // In spring that hour is left out; in autumn it comes twice.
    expect(inputAt(model, '2026-03-29T00:59Z')).toBe(1000n)
    expect(inputAt(model, '2026-03-29T01:01Z')).toBe(1000n)
    expect(inputAt(model, '2026-10-25T00:30Z')).toBe(500n)
    expect(inputAt(model, '2026-10-25T01:30Z')).toBe(500n)
    expect(inputAt(model, '2026-10-25T02:00Z')).toBe(1000n)
  })

  test('take nothing away from a model without them', () => {
    const plain = modelOf(base)
    expect(modelAt(plain, 0)).toBe(plain)
    expect(plain).not.toHaveProperty('hours')
  })

  test('stand in the public list with their times, and in its digest', () => {
    const { list, priceList, get } = makeCatalogue({ models: [withHours(night)], upstreamIds })
    const model = get('acme/large')
    expect(model && toModelView(model).prices).toEqual({
      input_pusd: 1000,
      output_pusd: 2000,
      request_nusd: 0,
      hours: [
        {
          from: '16:30',
          to: '00:30',
          days: [...days],
          zone: 'UTC',
          input_pusd: 500,
          output_pusd: 3000,
          request_nusd: 0,
        },
      ],
    })
    const listed = list()
      .map((one) => toModelView(one))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map(({ id, prices }) => ({ id, ...prices }))
    expect(priceList.digest).toBe(sha256Hex(canonical(listed)))
  })

  test('are shown with their times; a price in a line is the dearest of any hour', () => {
    const model = modelOf(withHours({ ...night, days: ['sat', 'sun'] }))
    expect(priceText(model, 'per 1M')).toBe('up to $0.001 in, $0.003 out per 1M')
    expect(rateSections(model).map(({ when }) => when)).toEqual([
      undefined,
      'From 16:30 to 00:30 UTC on sat, sun',
    ])
    expect(
      modelsByHour(model)
        .map(dearestPrices)
        .map(({ inputPusd }) => inputPusd),
    ).toEqual([1000n, 500n])
  })

  test('leave steps with prices of their own as they are', () => {
    const prices = { input_pusd: 700, output_pusd: 700 }
    const model = modelOf({ ...withHours(night), route: ['local:a', { to: 'far:b', prices }] })
    const [, then] = modelsByHour(model)
    expect(then?.varied?.lists.map(({ inputPusd }) => inputPusd)).toEqual([500n, 700n])
    expect(dearestPrices(model)).toMatchObject({ inputPusd: 1000n, outputPusd: 3000n })
  })

  test('are below cost by their own prices, and named', () => {
    const cost = { input_pusd: 600, output_pusd: 600 }
    const found = belowCost([modelOf({ ...withHours(night), route: [{ to: 'far:b', cost }] })])
    expect(found.map(belowCostWords)).toEqual([
      'acme/large sells input at $0.0005 (16:30 to 00:30 UTC), far:b costs $0.0006 per 1M tokens',
    ])
  })

  test('are refused where they overlap, or do not have what the model has', () => {
    expect(faults(night, { ...night, from: '00:30', to: '16:30' })).toEqual([])
    expect(faults(night, { ...night, from: '00:29', to: '02:00' })).toEqual([
      'hours: those from 00:29 to 02:00 overlap with others',
    ])
    const [sunday, monday] = [['sun' as const], ['mon' as const]]
    expect(
      faults({ ...night, days: sunday }, { ...night, from: '00:00', to: '01:00', days: monday }),
    ).toEqual(['hours: those from 00:00 to 01:00 overlap with others'])
    expect(
      faults({ ...night, days: monday }, { ...night, from: '00:00', to: '01:00', days: monday }),
    ).toEqual([])
    expect(faults({ ...night, to: '16:30' })).toContain(
      'hours: from 16:30 to 16:30 is empty; a day ends at 24:00',
    )
    expect(faults({ ...night, zone: 'Mars/Olympus' })).toEqual([
      'hours: there is not a time zone "Mars/Olympus"',
    ])
    expect(
      faults({ ...night, days: sunday }, { ...night, days: monday, zone: 'Europe/Berlin' }),
    ).toEqual(['hours: all of a model have one zone'])
    expect(faults({ from: '01:00', to: '02:00', output_pusd: 1 })).toEqual([
      'hours from 01:00 to 02:00: needs input_pusd (0 when it is free)',
    ])
    expect(faults({ ...night, web_search_nusd: 5 })).toEqual([
      'hours from 16:30 to 00:30: has web_search_nusd, which the model has not',
    ])
  })
})
