/** Lists the members of a schema as lines of the reference. */
import type { Schema, Schemas } from '../../web/http/json-schema.ts'

/** A member of a body, as a line of the reference. */
export type Field = {
  /** With the way to it: `cap.limit_nusd`, `data[].id`. */
  name: string
  /** In words: `integer or null`. */
  type: string
  /** The schema that it is, where that has a name. */
  refersTo: string | undefined
  about: string
  isOptional: boolean
}

/** All members of a schema, also the inner ones, but not those of schemas with a name. */
export function fieldsOf(schema: Schema, prefix = ''): Field[] {
  const whole = variantOf(schema)
  const required = Array.isArray(whole['required']) ? whole['required'] : []
  return Object.entries((whole['properties'] ?? {}) as Schemas).flatMap(([member, inner]) => {
    const name = prefix + member
    const field: Field = {
      name,
      type: typeOf(inner),
      refersTo: refersTo(inner),
      about: String(inner['description'] ?? ''),
      isOptional: !required.includes(member),
    }
    const { suffix, item } = itemOf(inner)
    return [field, ...fieldsOf(item, `${name}${suffix}.`)]
  })
}

/** Of several forms the first, which is the one with the most members. */
function variantOf(schema: Schema): Schema {
  const { anyOf } = schema
  return Array.isArray(anyOf) ? (anyOf[0] as Schema) : schema
}

function itemOf(schema: Schema): { suffix: string; item: Schema } {
  const of = variantOf(schema)
  if (of['$ref'] !== undefined) return { suffix: '', item: {} }
  if (!isSchema(of['items'])) return { suffix: '', item: of }
  return { suffix: '[]', item: of['items'] }
}

function refersTo(schema: Schema): string | undefined {
  const of = variantOf(schema)
  const { $ref } = isSchema(of['items']) ? variantOf(of['items']) : of
  return typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : undefined
}

/** The kind of value, in words. */
export function typeOf(schema: Schema): string {
  const { anyOf, items, type, $ref } = schema
  const words = schema['enum']
  if (Array.isArray(anyOf))
    return [...new Set(anyOf.map((one) => typeOf(one as Schema)))].join(' or ')
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1)
  if (schema['const'] !== undefined) return JSON.stringify(schema['const'])
  if (Array.isArray(words)) return words.join(' | ')
  if (isSchema(items)) {
    const list = `list of ${typeOf(items)}`
    return Array.isArray(type) ? `${list} or null` : list
  }
  if (type === 'array') return 'list of anything'
  if (Array.isArray(type)) return type.join(' or ')
  return typeof type === 'string' ? type : 'anything'
}

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null
