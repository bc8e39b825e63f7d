/** Spells shapes as JSON Schema: those with a name become components of the document. */
import { Kind } from '@sinclair/typebox'
import type { Json } from '../../kernel/canonical.ts'

/** A JSON Schema (2020-12), which is what OpenAPI 3.1 and MCP describe values with. */
export type Schema = { [keyword: string]: Json }

/** The schemas of a document by their names. */
export type Schemas = Readonly<Record<string, Schema>>

/** A copy of the value with all shapes in it as JSON Schema; named ones are put into `found`. */
export function spellShapes(value: unknown, found: Record<string, Schema>): Json {
  if (Array.isArray(value)) return value.map((item) => spellShapes(item, found))
  if (typeof value !== 'object' || value === null) return value as Json
  if (!(Kind in value)) return spellMembers(value, found)
  const { $id, ...own } = value as { $id?: string }
  if ($id === undefined) return spell(own, found)
  found[$id] ??= spell(own, found)
  return { $ref: `#/components/schemas/${$id}` }
}

const spellMembers = (value: object, found: Record<string, Schema>): Schema =>
  Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, spellShapes(inner, found)]),
  )

/** Without a description or an example that is empty. */
function saying({ description, examples, ...rest }: Schema): Schema {
  const isEmpty = Array.isArray(examples) && examples.length === 1 && examples[0] === ''
  return {
    ...(description === undefined || description === '' ? {} : { description }),
    ...(examples === undefined || isEmpty ? {} : { examples }),
    ...rest,
  }
}

/** Spells maps, enumerations and null in one keyword each; TypeBox spells them in several. */
function spell(shape: object, found: Record<string, Schema>): Schema {
  const { told, patternProperties, anyOf, ...rest } = spellMembers(shape, found)
  const whole = saying({ ...rest, ...(told as Schema | undefined) })
  if (patternProperties) {
    return { ...whole, additionalProperties: Object.values(patternProperties)[0] ?? true }
  }
  if (!Array.isArray(anyOf)) return whole
  const forms = anyOf as Schema[]
  if (forms.every((form) => typeof form['const'] === 'string')) {
    return { type: 'string', ...whole, enum: forms.map((form) => form['const'] ?? null) }
  }
  const [first = {}, second, ...others] = forms
  const isPlain = typeof first['type'] === 'string' && !('enum' in first) && !('const' in first)
  if (isPlain && second?.['type'] === 'null' && others.length === 0) {
    return { ...first, ...whole, type: [first['type'] ?? null, 'null'] }
  }
  return { ...whole, anyOf: forms }
}
