/** Builds the TypeBox shapes of bodies and answers, each member with its words and example. */
import {
  type ObjectOptions,
  type TArray,
  type TBoolean,
  type TInteger,
  type TLiteral,
  type TNull,
  type TNumber,
  type TObject,
  type TOptional,
  type TRecord,
  type TSchema,
  type TString,
  type TUnion,
  type TUnsafe,
  Type,
} from '@sinclair/typebox'
import type { Json } from '../../kernel/canonical.ts'

export type { Static, TSchema } from '@sinclair/typebox'

/** Keywords of JSON Schema that are checked as well as shown. */
type Keywords = { readonly [keyword: string]: unknown }

/** Keywords that the reference shows and no door checks: a command refuses in its own words. */
export const told = (keywords: { readonly [keyword: string]: Json }) => ({ told: keywords })

export const text = (about: string, example: string, more?: Keywords): TString =>
  Type.String({ description: about, examples: [example], ...more })

export const integer = (about: string, example: number, more?: Keywords): TInteger =>
  Type.Integer({ description: about, examples: [example], ...more })

/** An integer of at least 0. */
export const count = (about: string, example: number): TInteger =>
  integer(about, example, told({ minimum: 0 }))

export const flag = (about: string, example: boolean): TBoolean =>
  Type.Boolean({ description: about, examples: [example] })

/** Money that fits a balance or a cap: at most 9,000,000 USD. */
export const nusd = (about: string, example: number): TInteger =>
  integer(
    `${about} Nano-USD: 1 USD is 1,000,000,000.`,
    example,
    told({ minimum: 0, maximum: 9_000_000_000_000_000 }),
  )

/** The price of one unit. */
export const pusd = (about: string, example: number): TInteger =>
  count(`${about} Pico-USD a unit, the same as micro-USD a million units.`, example)

export const time = (about: string): TString =>
  text(
    `${about} RFC 3339, UTC, with milliseconds.`,
    '2026-08-01T12:00:00.000Z',
    told({ format: 'date-time' }),
  )

/** An id of this service: the prefix and 26 characters of base32. */
export const id = (prefix: keyof typeof sampleIds, about: string): TString =>
  text(about, sampleIds[prefix], told({ pattern: `^${prefix}_[0-9a-hjkmnp-tv-z]{26}$` }))

/** Ids for examples: well formed, and naming nothing. */
export const sampleIds = {
  key: 'key_01k1j8dq00v5x3c7n9m2p4r6t8',
  run: 'run_01k1j8dq00b4d6f8h1k3m5p7r9',
  rcpt: 'rcpt_01k1j8dq00b4d6f8h1k3m5p7r9',
  anc: 'anc_01k1j8dq00c2e4g6j8m1n3q5s7',
  dep: 'dep_01k1j8dq00a1b2c3d4e5f6g7h8',
  sub: 'sub_01k1j8dq00z9y8x7w6v5t4s3r2',
  psp: 'psp_01k1j8dq00s3r5t7v9x2z4b6d8',
  sess: 'sess_01k1j8dq00t2v4x6z8a1c3e5g7',
  req: 'req_01k1j8dq00n2q4s6v8x1z3b5d7',
  evt: 'evt_01k1j8dq00e2g4j6k8m1n3p5q7',
  whk: 'whk_01k1j8dq00w2x4y6z8a1b3c5d7',
  dlv: 'dlv_01k1j8dq00d2e4f6g8h1j3k5m7',
  quote: 'quote_01k1j8dq00q2s4v6x8z1b3d5f7',
  inv: 'inv_01k1j8dq00p4r6t8w1y3a5c7e9',
} as const

/** 32 bytes as hex. */
export const hash = (about: string): TString =>
  text(about, `0x${'5c'.repeat(32)}`, told({ pattern: '^0x[0-9a-f]{64}$' }))

export const sampleWallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

export const address = (about: string): TString =>
  text(`${about} With its EIP-55 checksum.`, sampleWallet, told({ pattern: '^0x[0-9a-fA-F]{40}$' }))

/** An integer that may pass 2^53, as decimal text. */
export const decimal = (about: string, example: string): TString =>
  text(about, example, told({ pattern: '^(0|[1-9][0-9]*)$' }))

/** One of a few words; the first one is the example. */
export const oneOf = <const T extends string>(about: string, words: readonly T[]) =>
  Type.Union(
    words.map((word) => Type.Literal(word)),
    { description: about },
  ) as TSchema as TUnion<TLiteral<T>[]>

/** A word of a body. The reference shows the choices; the command refuses other words itself. */
export const word = (about: string, words: readonly string[]): TString =>
  Type.String({ description: about, ...told({ enum: [...words] }) })

export const only = <const T extends string>(value: T): TLiteral<T> => Type.Literal(value)

/** A number that need not be whole. */
export const real = (about: string, example: number): TNumber =>
  Type.Number({ description: about, examples: [example] })

/** Any JSON. */
export const anything = <T = unknown>(about: string, example: Json): TUnsafe<T> =>
  Type.Unknown({ description: about, examples: [example] }) as TSchema as TUnsafe<T>

export const list = <T extends TSchema>(of: T, about: string, more?: Keywords): TArray<T> =>
  Type.Array(of, { description: about, ...more })

/** Names of the caller's own choice, and their values. */
export const map = <T extends TSchema>(
  of: T,
  about: string,
  example: Json,
  more?: Keywords,
): TRecord<TString, T> =>
  Type.Record(Type.String(), of, { description: about, examples: [example], ...more })

/** The shape, or null; the example is that of the shape. */
export const orNull = <T extends TSchema>(
  shape: T,
  about = shape.$id === undefined ? shape.description : undefined,
): TUnion<[T, TNull]> =>
  Type.Union([shape, Type.Null()], about === undefined ? {} : { description: about })

/** The shape, or null; the example is null. */
export const usuallyNull = <T extends TSchema>(shape: T, about?: string): TUnion<[T, TNull]> => ({
  ...orNull(shape, about),
  examples: [null],
})

/** One of several forms; the first one is the example. */
export const either = <T extends TSchema[]>(about: string, shapes: [...T], more?: Keywords) =>
  Type.Union(shapes, { ...(about === '' ? {} : { description: about }), ...more })

/** {@link either} under a name in the reference. */
export const choice = <T extends TSchema[]>(name: string, about: string, shapes: [...T]) =>
  either(about, shapes, { $id: name })

/** Null alone. */
export const nothing: TNull = Type.Null()

type Members = Readonly<Record<string, TSchema>>
type Optional<T> = T extends TSchema ? TOptional<T> : never
/** Members whose name ends in `?` may be left out. */
type Properties<M> = {
  [K in keyof M as K extends `${infer Name}?` ? Name : K]: K extends `${string}?`
    ? Optional<M[K]>
    : M[K]
}
type Shape<M> = Properties<M> extends infer P extends Record<string, TSchema> ? TObject<P> : never

/** Makes all members optional. */
export const optional = <M extends Members>(members: M) =>
  Object.fromEntries(
    Object.entries(members).map(([name, shape]) => [`${name}?`, shape]),
  ) as unknown as { [K in keyof M as `${K & string}?`]: M[K] }

/** An object whose members are all there, but for those whose name ends in `?`. */
export function object<M extends Members>(about: string, members: M, more?: ObjectOptions) {
  const properties: Record<string, TSchema> = {}
  for (const [written, shape] of Object.entries(members)) {
    const isOptional = written.endsWith('?')
    properties[isOptional ? written.slice(0, -1) : written] = isOptional
      ? Type.Optional(shape)
      : shape
  }
  const options = { ...(about === '' ? {} : { description: about }), ...more }
  return Type.Object(properties, options) as TSchema as Shape<M>
}

/** An object that refuses members it does not know. */
export const closed = <M extends Members>(about: string, members: M, more?: ObjectOptions) =>
  object(about, members, { additionalProperties: false, ...more })

/** An object of an answer, under its name in the reference. */
export const answer = <M extends Members>(
  name: string,
  about: string,
  members: M,
  more?: ObjectOptions,
) => object(about, members, { $id: name, ...more })

/** The object of a body, under its name in the reference: it refuses members it does not know. */
export const body = <M extends Members>(
  name: string,
  about: string,
  members: M,
  more?: ObjectOptions,
) => closed(about, members, { $id: name, ...more })

/** The envelope of a list; `more` are members beside it. */
export const page = <T extends TSchema, M extends Members = Record<never, never>>(
  name: string,
  about: string,
  item: T,
  more?: M,
) =>
  answer(name, about, {
    object: only('list'),
    data: list(item, 'Newest first.'),
    has_more: flag('Whether `after` the last id finds more.', false),
    first_id: orNull(text('Id of the first item.', '…')),
    last_id: orNull(text('Id of the last item: the next `after`.', '…')),
    ...(more as M),
  })
