/** Makes an example value of a schema. */
import type { Json } from '../../kernel/canonical.ts'
import type { Schema, Schemas } from '../../web/http/json-schema.ts'

/** A value that a schema describes, made of the examples in it. */
export function sampleOf(schema: Schema, schemas: Schemas): Json {
  const { $ref, examples, anyOf, type } = schema
  const words = schema['enum']
  if (Array.isArray(examples) && examples[0] !== undefined) return examples[0]
  if (typeof $ref === 'string') return sampleOf(named($ref, schemas), schemas)
  if (schema['const'] !== undefined) return schema['const']
  if (Array.isArray(words)) return words[0] ?? null
  if (Array.isArray(anyOf)) return sampleOf(anyOf[0] as Schema, schemas)
  if (is(type, 'array')) return [sampleOf(schema['items'] as Schema, schemas)]
  if (is(type, 'string')) return ''
  const members = Object.entries((schema['properties'] ?? {}) as Schemas)
  return Object.fromEntries(members.map(([name, of]) => [name, sampleOf(of, schemas)]))
}

/** Whether values may be of a type, `null` or not. */
const is = (type: Json | undefined, name: string): boolean =>
  type === name || (Array.isArray(type) && type.includes(name))

/** @throws Error for a reference to nothing: the document would be wrong. */
export function named($ref: string, schemas: Schemas): Schema {
  const found = schemas[$ref.slice('#/components/schemas/'.length)]
  if (!found) throw new Error(`${$ref} names no schema`)
  return found
}
