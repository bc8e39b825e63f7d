import Ajv from 'ajv/dist/2020'
import { openApiOf } from '../../src/front/reference/document.ts'
import type { Schema } from '../../src/web/http/json-schema.ts'

/**
 * Checks values against schemas of the document, strictly: a member that no schema names is wrong
 * too, so that nothing is answered that is not described. Gives what is wrong, as lines.
 */
export function makeChecker(): (schema: Schema, value: unknown) => string[] {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
  const { components } = openApiOf({ baseUrl: 'https://gw.example', version: '0' })
  ajv.addSchema(strictly({ $id: 'https://gw.example/openapi', components }))
  return (schema, value) => {
    const check = ajv.compile(strictly(rebased(schema)))
    check(value)
    return (check.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${instancePath}: ${message} ${JSON.stringify(params)}`,
    )
  }
}

/** References lead into the one document. */
const rebased = (schema: Schema): Schema =>
  JSON.parse(
    JSON.stringify(schema).replaceAll('"#/components', '"https://gw.example/openapi#/components'),
  )

/** Objects whose members are listed have no other ones. */
function strictly<T>(node: T): T {
  if (Array.isArray(node)) return node.map(strictly) as T
  if (typeof node !== 'object' || node === null) return node
  const inner = Object.entries(node).map(([name, value]) => [name, strictly(value)])
  const copy = Object.fromEntries(inner)
  // A schema that is made of several knows only some of the members.
  if (copy.type === 'object' && copy.properties && !('additionalProperties' in copy)) {
    copy.additionalProperties = false
  }
  return copy
}
