/** The limits that a key may set itself, each declared once for API, forms, page and audit. */
import type { Json } from '../../kernel/canonical.ts'
import { maxNusd, type Nusd, parseUsd, toJsonInteger, toUsd } from '../../kernel/money.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'

/** The columns of a key's limits. Null, or false of a flag: the key sets none itself. */
export type Limits = Pick<KeyRow, keyof typeof keyLimits | keyof typeof noBrake>

/** Limits that are given; the others are not named. */
export type LimitsChange = { [C in keyof Limits]?: Limits[C] | null | undefined }

type Field = {
  name: string
  label: string
  /** Beside the field on the page, and in the reference. */
  hint?: string
  about: string
  example: string
  inputmode?: 'decimal' | 'numeric'
  options?: readonly { value: string; label: string }[]
}

export type KeyLimit<V> = {
  /** Its name below `limits` in bodies, answers and the audit. */
  member: string
  /** Its shape in bodies and answers, with its words and an example. */
  kind: 'count' | 'amount' | 'flag'
  about: string
  example: number | boolean
  /** The value of a key that sets none. */
  unset: Json
  read(value: unknown): V
  show(value: V): Json
  /** The reason why it cannot have a value; undefined where it can. */
  fault(value: V): string | undefined
  field: Field
  /** @throws Refusal `invalid_request` that names the field */
  readField(text: string): V | null
  writeField(value: V): string
}

type NamedLimit = { member: string; about: string; field: Omit<Field, 'inputmode' | 'options'> }

function count({
  member,
  about,
  example,
  most,
  fault,
  field,
}: NamedLimit & Bound): KeyLimit<number> {
  return {
    member,
    ...{ kind: 'count', about, example },
    unset: null,
    read: Number,
    show: (value) => value,
    fault: (value) => (Number.isInteger(value) && value >= 1 && value <= most ? undefined : fault),
    field: { ...field, inputmode: 'numeric' },
    readField(text) {
      if (text.trim() === '') return null
      if (/^[1-9]\d{0,8}$/.test(text.trim())) return Number(text)
      return no(field.name, 'Enter a whole number, or leave it empty for no limit.')
    },
    writeField: String,
  }
}

type Bound = { example: number; most: number; fault: string }

const amount = ({ member, about, field }: NamedLimit): KeyLimit<Nusd> => ({
  member,
  ...{ kind: 'amount', about, example: 50_000_000 },
  unset: null,
  read: (value) => BigInt(value as number),
  show: toJsonInteger,
  fault: amountFault,
  field: { ...field, inputmode: 'decimal' },
  readField: (text) => (text.trim() === '' ? null : readUsd(field.name, text)),
  writeField: toUsd,
})

/** Unset is false. */
const flag = ({ member, about, field, no: off, yes }: NamedLimit & Choice): KeyLimit<boolean> => ({
  member,
  ...{ kind: 'flag', about, example: false },
  unset: false,
  read: Boolean,
  show: (value) => value,
  fault: () => undefined,
  field: {
    ...field,
    options: [
      { value: '', label: off },
      { value: 'true', label: yes },
    ],
  },
  readField(text) {
    if (text === 'true') return true
    return text === '' || text === 'false' ? false : no(field.name, 'Choose true or false.')
  },
  writeField: (value) => (value ? 'true' : ''),
})

type Choice = { no: string; yes: string }

/** By column. A limit may exceed the parent's: the lowest of the chain applies. */
export const keyLimits = {
  rpm: count({
    member: 'rpm',
    about: 'Requests a minute, to all routes.',
    ...{ example: 600, most: 10_000_000, fault: 'Send 1 to 10,000,000 requests a minute.' },
    field: {
      name: 'rpm',
      label: 'Requests per minute',
      hint: 'Empty: not limited.',
      ...{ about: 'Requests a minute; empty for no limit of its own.', example: '600' },
    },
  }),
  concurrency: count({
    member: 'concurrency',
    about: 'Runs in flight.',
    ...{ example: 16, most: 1_000_000, fault: 'Send 1 to 1,000,000 concurrent runs.' },
    field: {
      name: 'concurrency',
      label: 'Concurrent runs',
      ...{ about: 'Runs in flight; empty for no limit of its own.', example: '16' },
    },
  }),
  maxCostPerRun: amount({
    member: 'max_cost_per_run_nusd',
    about: 'The most one run may cost.',
    field: {
      name: 'max_cost_per_run',
      label: 'Max cost per run, USD',
      ...{ about: 'Decimal USD; empty for no limit of its own.', example: '0.05' },
    },
  }),
  fit: flag({
    member: 'fit',
    about: 'Whether runs without a `fit` of their own are lowered to what can be afforded.',
    ...{ no: 'Refuse the run', yes: 'Lower max_tokens' },
    field: {
      name: 'fit',
      label: 'When money is short',
      hint: 'A request can override this with fit.',
      about: '`true`: runs are lowered to what can be afforded; `false` or empty: not.',
      example: '',
    },
  }),
} as const

/** A brake is one member of bodies and three columns. */
const noBrake = { brakeMinute: null, brakeHour: null, brakeRunning: null }

type Column = keyof typeof keyLimits
/** Columns and their limits; each value is of the limit beside it. */
export const everyLimit = Object.entries(keyLimits) as [Column, KeyLimit<unknown>][]

export const noLimits = {
  ...Object.fromEntries(everyLimit.map(([column, { unset }]) => [column, unset])),
  ...noBrake,
} as Limits

export const limitColumns = Object.keys(noLimits) as (keyof Limits)[]

/**
 * The limits of `wish` over those of `before`.
 * @throws Refusal `invalid_request` with `param`
 */
export function withLimits(before: Limits, wish: LimitsChange): Limits {
  const limits = Object.fromEntries(
    limitColumns.map((column) => {
      const wished = wish[column]
      return [column, wished === undefined ? before[column] : (wished ?? noLimits[column])]
    }),
  ) as Limits
  for (const [column, { member, fault }] of everyLimit) {
    const why = limits[column] === null ? undefined : fault(limits[column])
    if (why) no(`limits.${member}`, why)
  }
  for (const [span, most] of [
    ['nusd_per_minute', limits.brakeMinute],
    ['nusd_per_hour', limits.brakeHour],
  ] as const) {
    const why = most === null ? undefined : amountFault(most)
    if (why) no(`limits.brake.${span}`, why)
  }
  return limits
}

function amountFault(value: Nusd): string | undefined {
  return value >= 1n && value <= maxNusd ? undefined : 'Send 1 to 9,000,000,000,000,000 nano-USD.'
}

/** @throws Refusal `invalid_request` that names the field */
export function readUsd(field: string, text: string): Nusd {
  const usd = parseUsd(text.trim().replace(/^\$/, ''))
  if (usd !== undefined && usd > 0n) return usd
  return no(field, 'Enter an amount in USD, such as 5.00.')
}

const no = (param: string, message: string): never => refuse('invalid_request', { param, message })
