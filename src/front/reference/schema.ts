import type { Json } from '../../kernel/canonical.ts'

/** A JSON Schema (2020-12), which is what OpenAPI 3.1 describes bodies with. */
export type Schema = { [keyword: string]: Json }

/** The schemas of a document by their names. */
export type Schemas = Readonly<Record<string, Schema>>

export const text = (about: string, example: string, more: Schema = {}): Schema => ({
  type: 'string',
  description: about,
  examples: [example],
  ...more,
})

export const integer = (about: string, example: number, more: Schema = {}): Schema => ({
  type: 'integer',
  description: about,
  examples: [example],
  ...more,
})

export const flag = (about: string, example: boolean): Schema => ({
  type: 'boolean',
  description: about,
  examples: [example],
})

/** Money that fits a balance or a cap. */
export const nusd = (about: string, example: number): Schema =>
  integer(`${about} Nano-USD: 1 USD is 1,000,000,000.`, example, { minimum: 0, maximum: maxNusd })

/** What one unit costs. */
export const pusd = (about: string, example: number): Schema =>
  integer(`${about} Pico-USD a unit, the same as micro-USD a million units.`, example, {
    minimum: 0,
  })

/** 9,000,000 USD in nano-USD: the largest balance, cap and amount. */
const maxNusd = 9_000_000_000_000_000

export const time = (about: string): Schema =>
  text(`${about} RFC 3339, UTC, with milliseconds.`, '2026-08-01T12:00:00.000Z', {
    format: 'date-time',
  })

/** An id of ours: the prefix and 26 characters of base32. */
export const id = (prefix: keyof typeof sampleIds, about: string): Schema =>
  text(about, sampleIds[prefix], { pattern: `^${prefix}_[0-9a-hjkmnp-tv-z]{26}$` })

/** Ids that stand in examples. They are well formed and name nothing. */
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
} as const

/** 32 bytes as hex. */
export const hash = (about: string): Schema =>
  text(about, `0x${'5c'.repeat(32)}`, { pattern: '^0x[0-9a-f]{64}$' })

export const address = (about: string): Schema =>
  text(`${about} With its EIP-55 checksum.`, '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', {
    pattern: '^0x[0-9a-fA-F]{40}$',
  })

/** An integer that may pass 2^53, as decimal text. */
export const decimal = (about: string, example: string): Schema =>
  text(about, example, { pattern: '^(0|[1-9][0-9]*)$' })

/** One of a few words; the first one is the example. */
export const oneOf = (about: string, words: readonly string[]): Schema => ({
  type: 'string',
  description: about,
  enum: [...words],
})

export const only = (word: string): Schema => ({ type: 'string', const: word })

/** Whatever JSON there is. */
export const anything = (about: string, example: Json): Schema => ({
  description: about,
  examples: [example],
})

export const list = (of: Schema, about: string, more: Schema = {}): Schema => ({
  type: 'array',
  description: about,
  items: of,
  ...more,
})

/** Names of the caller's own choice, and their values. */
export const map = (of: Schema, about: string, example: Json = {}): Schema => ({
  type: 'object',
  description: about,
  additionalProperties: of,
  examples: [example],
})

/** The schema, or null; the example is that of the schema unless null is the usual case. */
export const orNull = (schema: Schema): Schema =>
  typeof schema['type'] === 'string' && !('enum' in schema)
    ? { ...schema, type: [schema['type'], 'null'] }
    : { ...about(schema), anyOf: [schema, { type: 'null' }] }

export const usuallyNull = (schema: Schema): Schema => ({ ...orNull(schema), examples: [null] })

const about = ({ description }: Schema): Schema =>
  description === undefined ? {} : { description }

/** A schema of the document, by its name. */
export const ref = (name: string, about?: string): Schema => ({
  $ref: `#/components/schemas/${name}`,
  ...(about === undefined ? {} : { description: about }),
})

/** An object whose members are all there, but for those whose name ends in `?`. */
export function object(about: string, members: Record<string, Schema>, more: Schema = {}): Schema {
  const properties: Record<string, Schema> = {}
  const required: string[] = []
  for (const [written, schema] of Object.entries(members)) {
    const name = written.replace(/\?$/, '')
    properties[name] = schema
    if (name === written) required.push(name)
  }
  return {
    type: 'object',
    ...(about === '' ? {} : { description: about }),
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...more,
  }
}

/** A body that refuses members it does not know. */
export const closed = { additionalProperties: false } as const

/** The envelope of a list whose items have that schema; `more` are members beside it. */
export const page = (about: string, item: string, more: Record<string, Schema> = {}): Schema =>
  object(about, {
    object: only('list'),
    data: list(ref(item), 'Newest first.'),
    has_more: flag('Whether `after` the last id finds more.', false),
    first_id: orNull(text('Id of the first item.', '…')),
    last_id: orNull(text('Id of the last item: the next `after`.', '…')),
    ...more,
  })
