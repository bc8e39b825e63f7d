/** Declares a query once: its reader, its part of the reference and its form follow from it. */
import type { Millis } from '../../kernel/clock.ts'
import { readIdPart } from '../../kernel/id-part.ts'
import { defaultPageLimit, maxPageLimit, pageRows } from '../../kernel/pagination.ts'
import { type RangeTexts, readPeriod } from '../../kernel/period.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { ZoneName } from '../../kernel/zone.ts'
import { readAfter, readChoice, readInteger, readLimit, readText, withoutEmpty } from './query.ts'
import * as t from './shape.ts'

/** How the form of a page draws a field. */
export type Chip = {
  label: string
  /** Words of its choices; without them, and without a page's own choices, it is a text. */
  words?: Readonly<Record<string, string>>
  /** The choice of a field that is left empty; default: "Any". */
  first?: string
  placeholder?: string
  isDay?: boolean
  /** Seldom used, behind "More". */
  isMore?: boolean
}

/** A parameter: what the reference shows of it, how it is read, and how a form draws it. */
export type QueryField<V = unknown> = {
  shape: t.TSchema
  chip: Chip | undefined
  /** @throws Refusal 'invalid_request' */
  read: (query: URLSearchParams, name: string) => V
}

type Fields = Readonly<Record<string, QueryField>>
export type Values<F extends Fields> = {
  [K in keyof F]: F[K] extends QueryField<infer V> ? V : never
}

export type Query<F extends Fields = Fields> = {
  fields: F
  /** The parameters that the reference shows. */
  parameters: { [K in keyof F]: t.TSchema }
  /** Reads all of them, in their order. @throws Refusal 'invalid_request' */
  read: (query: URLSearchParams) => Values<F>
  /** Reads a form, which sends every field: an empty one counts as absent. */
  readForm: (query: URLSearchParams) => Values<F>
}

export function declareQuery<const F extends Fields>(fields: F): Query<F> {
  const each = Object.entries(fields)
  const read = (query: URLSearchParams) =>
    Object.fromEntries(each.map(([name, field]) => [name, field.read(query, name)])) as Values<F>
  return {
    fields,
    parameters: Object.fromEntries(
      each.map(([name, { shape }]) => [name, shape]),
    ) as Query<F>['parameters'],
    read,
    readForm: (query) => read(withoutEmpty(query)),
  }
}

/** The filter of an address as the query of another one: its filled fields, and nothing else. */
export const filterQuery = (asked: URLSearchParams, { fields }: Query): URLSearchParams =>
  new URLSearchParams([...withoutEmpty(asked)].filter(([name]) => fields[name]?.chip !== undefined))

/** One of a few words, or of the words of its form. */
export const choice = <const T extends string>(
  about: string,
  of: readonly T[],
  chip?: Chip,
): QueryField<T | undefined> => ({
  shape: t.oneOf(about, of),
  chip,
  read: (query, name) => readChoice(query, name, of),
})

/** On or absent: `?name=1`. */
export const yes = (about: string, chip?: Omit<Chip, 'words'>): QueryField<true | undefined> => ({
  shape: t.oneOf(about, ['1']),
  chip: chip && { ...chip, words: { 1: 'Yes' } },
  read: (query, name) => (readChoice(query, name, ['1']) === undefined ? undefined : true),
})

export const whole = (
  about: string,
  example: number,
  bounds: { minimum: number; maximum?: number },
  chip?: Chip,
): QueryField<number | undefined> => ({
  shape: t.integer(about, example, bounds),
  chip,
  read: (query, name) =>
    readInteger(query, name, {
      min: bounds.minimum,
      max: bounds.maximum ?? Number.MAX_SAFE_INTEGER,
    }),
})

export const text = (about: string, example: string, chip?: Chip): QueryField<string | undefined> =>
  parsed(about, example, (typed) => typed, chip)

/** A text that stands for something else, or is refused. */
export const parsed = <V>(
  about: string,
  example: string,
  parse: (typed: string, name: string) => V,
  chip?: Chip,
): QueryField<V | undefined> => ({
  shape: t.text(about, example),
  chip,
  read: (query, name) => {
    const typed = readText(query, name)
    return typed === undefined ? undefined : parse(typed, name)
  },
})

/** The beginning of a page of a list, and its length. */
export const pageFields = (after: string) => ({
  limit: {
    shape: t.integer('How many, 20 if absent.', 20, { minimum: 1, maximum: maxPageLimit }),
    chip: { label: 'Show', first: String(pageRows), words: { 50: '50', 100: '100' }, isMore: true },
    read: (query: URLSearchParams) => readLimit(query) ?? defaultPageLimit,
  },
  after: {
    shape: t.text('`last_id` of the page before.', after),
    chip: undefined,
    read: readAfter,
  },
})

const spanHours = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24 } as const

/** The filters and orders that all lists of runs and of receipts share. */
export const rowFields = (sample: string) => ({
  last: choice('Only those of this time up to now; `from` goes before it.', ['24h', '7d', '30d'], {
    label: 'When',
    first: 'Any time',
    words: { '24h': 'Last 24 h', '7d': 'Last 7 days', '30d': 'Last 30 days' },
  }),
  id: parsed(
    'By the id of a run or of its receipt: whole, its beginning, or both ends as pages show ' +
      'them, `rcpt_01m8…r6tk83`.',
    sample,
    (typed, param) => readIdPart(typed) ?? refuse('invalid_request', { param, message: noId }),
    { label: 'Id', placeholder: 'run_… or rcpt_…' },
  ),
  sort: choice(
    '`costliest`: those that match among the 10,000 newest, in one page.',
    ['newest', 'costliest'],
    { label: 'Sort', first: 'Newest first', words: { costliest: 'Costliest first' } },
  ),
  from: text('A date (UTC) or an RFC 3339 time.', '2026-08-01', {
    label: 'From',
    isDay: true,
    isMore: true,
  }),
  to: text('A date, which is included, or a time.', '2026-08-31', {
    label: 'To',
    isDay: true,
    isMore: true,
  }),
})

const noId =
  'That is not the id of a run or a receipt. Enter it whole (run_… or rcpt_… and 26 ' +
  'characters), its beginning, or both ends as a list shows them: rcpt_01ab…x9y8z7.'

type Times = RangeTexts & { last?: keyof typeof spanHours | undefined }

/**
 * The time from `from` on and before `to`, whose dates are days of the zone (default: UTC). `last`
 * is a time that ends now; `from` goes before it.
 * @throws Refusal 'invalid_request'
 */
export function timesOf(
  asked: Times,
  now: Millis,
  zone?: ZoneName,
): { from: Millis | undefined; to: Millis | undefined } {
  const { from, to } = readPeriod({ from: asked.from, to: asked.to }, zone)
  return {
    from: from ?? (asked.last && now - spanHours[asked.last] * 3_600_000),
    to: Number.isFinite(to) ? to : undefined,
  }
}
