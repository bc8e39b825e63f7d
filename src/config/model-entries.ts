/** Reads the models of the configuration: their bands and tiers, their routes and their costs. */
import { days } from '../models/hours.ts'
import type { HoursConfig, ModelConfig } from '../models/model-config.ts'
import type { PricesConfig } from '../models/rate-fields.ts'
import { lists, modelTables, words } from './entries.ts'
import { readList } from './read-list.ts'
import { isTable, needed, optional, readTable, set } from './setting.ts'
import { clockTime, listOf, oneOf } from './values.ts'

/** Models as written; what a model needs and lacks is the catalogue's to say. */
export function readModels(raw: unknown, problems: string[]): ModelConfig[] {
  return readList('models', raw, problems, (entry, where) => {
    const { bands, tiers, route, hours, ...rest } = isTable(entry) ? entry : {}
    const model = readTable(lists.models, isTable(entry) ? rest : entry, where, problems)
    const more = {
      ...readSteps({ bands, tiers }, where, problems),
      route: readRoute(route, `${where}.route`, problems),
      hours: readHours(hours, `${where}.hours`, problems),
    }
    return model && { ...model, ...more }
  })
}

/** Hours of the week, the usual prices of a model at all others. */
export const hoursFields = {
  from: needed(clockTime('23:59'), 'When they begin: 16:30.'),
  to: needed(clockTime('24:00'), 'When they end; on the next day if that is earlier.'),
  days: optional(listOf(oneOf(...days)), 'Days on which they begin. Default: all.'),
  zone: set(words, 'UTC', 'Time zone whose clocks count, one for all hours of a model.'),
  ...modelTables.cost,
  input_pusd: optional(
    modelTables.cost.input_pusd.reader,
    'Price of an input token of a run that begins then; all prices of these hours stand here.',
  ),
}

function readHours(raw: unknown, where: string, problems: string[]): HoursConfig[] | undefined {
  if (raw === undefined) return undefined
  return readList(where, raw, problems, (entry, at) => {
    const { bands, tiers, ...rest } = isTable(entry) ? entry : {}
    const read = readTable(hoursFields, isTable(entry) ? rest : entry, at, problems)
    return read && { ...read, ...readSteps({ bands, tiers }, at, problems) }
  })
}

/** The bands and tiers of a model or of a cost. */
function readSteps(
  { bands, tiers }: { bands?: unknown; tiers?: unknown },
  where: string,
  problems: string[],
) {
  const readEach = <S>(name: string, of: unknown, settings: S) =>
    readList(`${where}.${name}`, of, problems, (one, at) => readTable(settings, one, at, problems))
  return {
    bands: readEach('bands', bands, modelTables.bands),
    tiers: readEach('tiers', tiers, modelTables.tiers),
  }
}

/** Each step is `upstream:model`, or a table with its prices and what it costs the operator. */
function readRoute(raw: unknown, where: string, problems: string[]): ModelConfig['route'] {
  if (raw === undefined) return undefined
  if (!Array.isArray(raw)) {
    problems.push(
      `${where} must be a list; each item upstream:model or ` +
        '{ to = …, weight = …, input = …, cost = { … } }',
    )
    return undefined
  }
  return raw.map((step: unknown, index) => {
    const at = `${where}[${index + 1}]`
    const checked = words.check(step)
    if ('value' in checked) return checked.value
    const { cost, bands, tiers, ...rest } = isTable(step) ? step : {}
    const read = readTable(stepFields, isTable(step) ? rest : step, at, problems)
    const { to = '', weight, ...rates } = read ?? {}
    const prices = { ...rates, ...readSteps({ bands, tiers }, at, problems) }
    return {
      to,
      ...(weight === undefined ? {} : { weight }),
      ...(hasPrice(prices) ? { prices } : {}),
      ...(cost === undefined ? {} : { cost: readCost(cost, `${at}.cost`, problems) }),
    }
  })
}

/** A step has the prices of its model unless it names one itself. */
export const stepFields = {
  ...modelTables.step,
  ...modelTables.cost,
  input_pusd: optional(
    modelTables.cost.input_pusd.reader,
    'Price of an input token in the runs that this step answers. A step that names a price has ' +
      'all its own, those of the model apart. Default: the prices of the model.',
  ),
}

const hasPrice = (prices: PricesConfig): boolean =>
  Object.values(prices).some((one) => (Array.isArray(one) ? one.length > 0 : one !== undefined))

function readCost(raw: unknown, where: string, problems: string[]): PricesConfig | undefined {
  const { bands, tiers, ...rest } = isTable(raw) ? raw : {}
  const cost = readTable(modelTables.cost, isTable(raw) ? rest : raw, where, problems)
  return cost && { ...cost, ...readSteps({ bands, tiers }, where, problems) }
}
