/** The prices of a model at a moment, where they depend on the hour. */
import type { Millis } from '../kernel/clock.ts'
import { utcZone, zoneNamed } from '../kernel/zone.ts'
import { isWithin, minuteOfWeek } from './hours.ts'
import type { Model } from './model.ts'
import type { HoursConfig } from './model-config.ts'
import { toPrices } from './prices.ts'
import type { Prices } from './rates.ts'
import { dearestOf, dearestPrices, variedPrices, withRoute } from './step-prices.ts'

/**
 * The model at the prices of a moment: the very model where these do not depend on it. One whose
 * route was narrowed for a request keeps the steps that it has.
 */
export function modelAt(model: Model, at: Millis): Model {
  const { hours } = model
  if (!hours) return model
  const minute = minuteOfWeek(hours.zone, at)
  const then = hours.windows.find(({ of }) => isWithin(of, minute))?.model ?? hours.usual
  return then.route === model.route ? then : withRoute(then, model.route)
}

/** A model at all its prices by the hour, the usual ones first. */
export const modelsByHour = (model: Model): readonly Model[] =>
  model.hours ? [model.hours.usual, ...model.hours.windows.map((one) => one.model)] : [model]

/** The model with other prices in some hours. Steps with prices of their own keep these. */
export function withHours(usual: Model, hours: readonly HoursConfig[]): Model {
  const [first] = hours
  if (!first) return usual
  const zone = zoneNamed(first.zone ?? utcZone) ?? utcZone
  const windows = hours.map(({ from, to, days, ...rates }) => ({
    of: { from, to, days, zone },
    model: atPrices(usual, toPrices(rates)),
  }))
  const dearest = dearestOf([usual, ...windows.map(({ model }) => model)].map(dearestPrices))
  return { ...usual, hours: { zone, windows, usual, dearest } }
}

function atPrices(usual: Model, prices: Prices): Model {
  const { varied: _, ...model } = usual
  const varied = variedPrices(prices, usual.route)
  return { ...model, prices, ...(varied && { varied }) }
}
