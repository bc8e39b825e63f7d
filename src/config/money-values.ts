/** Money settings: exact integers, and the same amounts as people write them. */
import { maxNusd, parsePrice, parseUsd, toPrice, toUsd } from '../kernel/money.ts'
import type { TomlTable, TomlValue } from '../models/price-files/price-entry.ts'
import { costFields } from '../models/rate-fields.ts'
import { group, type Reader, wholeFromText } from './values.ts'

/** The units of money settings: of an amount, and of a price of a token. */
export type MoneyUnit = 'nUSD' | 'pUSD'

/** How each unit is written for people. */
const examples = { nUSD: '"$20"', pUSD: '"$0.15/M"' } as const

/** Money or a price, 0…9e15, exact: an integer of `unit`, or dollars as in {@link examples}. */
export const amount = (unit: MoneyUnit): Reader<bigint> => ({
  unit,
  fromText: wholeFromText,
  check(raw) {
    const value = typeof raw === 'string' ? fromDollars(raw, unit) : raw
    if (typeof value === 'bigint' && value >= 0n && value <= maxNusd) return { value }
    return { must: `a whole number of ${unit} from 0 to ${group(maxNusd)}, or ${wordsOf(unit)}` }
  },
  show: group,
})

/** Reads an amount under its name without a unit, where it must be written in dollars. */
const dollars = (unit: MoneyUnit): Pick<Reader<bigint>, 'check'> => ({
  check(raw) {
    const value = typeof raw === 'string' ? fromDollars(raw, unit) : undefined
    return value === undefined ? { must: wordsOf(unit) } : { value }
  },
})

const wordsOf = (unit: MoneyUnit): string =>
  unit === 'nUSD'
    ? `dollars as text, such as ${examples.nUSD}, with at most nine decimals`
    : `dollars a million tokens as text, such as ${examples.pUSD}, with at most six decimals`

const fromDollars = (text: string, unit: MoneyUnit): bigint | undefined =>
  text.startsWith('$')
    ? unit === 'nUSD'
      ? parseUsd(text.slice(1))
      : parsePrice(text.slice(1))
    : undefined

/** An amount as the readable form of its setting. */
export const toDollars = (value: bigint, unit: MoneyUnit): string =>
  unit === 'nUSD' ? `$${toUsd(value)}` : `$${toPrice(value)}`

const suffix = /_([np])usd(?=_|$)/

/** The name of a money setting without its unit, `input` of `input_pusd`, and that unit. */
export function readableOf(name: string): { name: string; unit: MoneyUnit } | undefined {
  const found = suffix.exec(name)
  if (!found) return undefined
  return { name: name.replace(suffix, ''), unit: found[1] === 'n' ? 'nUSD' : 'pUSD' }
}

/** The names under which a table may have a setting. */
export function namesOf(name: string): string[] {
  const readable = readableOf(name)
  return readable ? [name, readable.name] : [name]
}

/** Names of the exact money settings of a model, by their readable ones. */
const exactNames = new Map(
  Object.keys(costFields).map((name): [string, string] => [readableOf(name)?.name ?? name, name]),
)

/** An entry of a model with its prices under their exact names, also those of its tables. */
export function exactEntry<T extends TomlTable>(entry: T): T {
  const pairs = Object.entries(entry).map(([name, value]): [string, TomlValue] => {
    const exact = exactNames.get(name)
    const unit = exact === undefined ? undefined : readableOf(exact)?.unit
    if (exact === undefined || unit === undefined) return [name, exactValue(value)]
    const price = typeof value === 'string' ? fromDollars(value, unit) : undefined
    return price === undefined ? [name, value] : [exact, price]
  })
  return Object.fromEntries(pairs) as T
}

function exactValue(value: TomlValue): TomlValue {
  if (Array.isArray(value)) return (value as TomlValue[]).map(exactValue)
  return typeof value === 'object' ? exactEntry(value as TomlTable) : value
}

/**
 * Returns the value of a setting in a table, under either of its names; `label` is that name. Both
 * names at once, or something else than dollars under the readable one, go to `problems`.
 */
export function rawIn(
  table: Record<string, unknown>,
  name: string,
  where: string,
  problems: string[],
): { raw: unknown; label: string } {
  const readable = readableOf(name)
  const [own, text] = [table[name], readable && table[readable.name]]
  if (readable === undefined || text === undefined) return { raw: own, label: `${where}${name}` }
  const label = `${where}${readable.name}`
  if (own !== undefined) problems.push(`${label}: set it or ${where}${name}, not both`)
  const checked = dollars(readable.unit).check(text)
  if ('value' in checked) return { raw: checked.value, label }
  problems.push(`${label} must be ${checked.must}`)
  return { raw: own ?? 0n, label }
}

/** Converts each amount of a table to dollars, under its name without a unit. */
export function inDollars<T extends TomlTable>(table: T): T {
  const pairs = Object.entries(table).map(([name, value]): [string, TomlValue] => {
    const readable = readableOf(name)
    if (readable && typeof value === 'bigint') {
      return [readable.name, toDollars(value, readable.unit)]
    }
    return [name, dollarsInside(value)]
  })
  return Object.fromEntries(pairs) as T
}

function dollarsInside(value: TomlValue): TomlValue {
  if (typeof value !== 'object') return value
  return Array.isArray(value)
    ? (value as readonly TomlValue[]).map(dollarsInside)
    : inDollars(value as TomlTable)
}
