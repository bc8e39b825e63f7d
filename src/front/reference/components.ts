/** Shared parts of the OpenAPI document, each written once and referred to by its name. */
import type { Json } from '../../kernel/canonical.ts'
import type { Schema } from '../../web/http/json-schema.ts'
import { spellShapes } from '../../web/http/json-schema.ts'
import type { TSchema } from '../../web/http/shape.ts'

/** The members of `components` that are found while the paths are written. */
export type ComponentSet = {
  schemas: Record<string, Schema>
  responses: Record<string, Json>
  examples: Record<string, Json>
  headers: Record<string, Json>
  parameters: Record<string, Json>
}

/** The reference to a component, which is made where it is named first. */
export function refer(
  found: ComponentSet,
  kind: keyof ComponentSet,
  name: string,
  make: () => Json,
): Json {
  const made: Record<string, Json> = found[kind]
  made[name] ??= make()
  return { $ref: `#/components/${kind}/${name}` }
}

/** A shape as JSON Schema, in which shapes with a name are references; one that is, as it is. */
export const spelled = (found: ComponentSet, shape: TSchema | Schema): Schema =>
  spellShapes(shape, found.schemas) as Schema

/** The part of a document that some of its operations need: those alone, and what they refer to. */
export function partOf<D extends WholeDocument>(document: D, isWanted: (tag: string) => boolean) {
  const { paths: every, components, tags, ...rest } = document
  const paths = Object.fromEntries(
    Object.entries(every).flatMap(([path, methods]) => {
      const wanted = Object.entries(methods).filter(([, one]) => isWanted(tagOf(one)))
      return wanted.length === 0 ? [] : [[path, Object.fromEntries(wanted)] as const]
    }),
  )
  const text = JSON.stringify(paths)
  const schemes = Object.entries(components['securitySchemes'] ?? {})
  const securitySchemes = Object.fromEntries(
    schemes.filter(([name]) => text.includes(`{"${name}":[]}`)),
  )
  return {
    ...rest,
    tags: tags.filter(({ name }) => isWanted(name)),
    paths,
    components: { ...brief(referred(components, paths)), securitySchemes },
  }
}

/** Schemas without their examples: a sample of each answer stands among the components. */
const brief = ({ schemas = {}, ...rest }: Components): Components => ({
  ...rest,
  schemas: withoutExamples(schemas) as Record<string, Json>,
})

function withoutExamples(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutExamples)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => name !== 'examples' || !Array.isArray(inner))
      .map(([name, inner]) => [name, withoutExamples(inner)]),
  )
}

/** The components that a value refers to, and those that these refer to. */
function referred(components: Components, from: Json): Components {
  const needed: Components = {}
  const open: Json[] = [from]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    for (const [, kind = '', name = ''] of JSON.stringify(value).matchAll(reference)) {
      const component = components[kind]?.[name]
      if (component === undefined || needed[kind]?.[name] !== undefined) continue
      needed[kind] = { ...needed[kind], [name]: component }
      open.push(component)
    }
  }
  return needed
}

const reference = /"\$ref":"#\/components\/(\w+)\/([^"]+)"/g

const tagOf = (operation: Json): string => String((operation as { tags: Json[] }).tags[0])

type Components = Record<string, Record<string, Json>>
type WholeDocument = {
  info: { title: string }
  tags: { name: string }[]
  paths: Record<string, Record<string, Json>>
  components: Components
}
