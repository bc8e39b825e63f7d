/** Checks a value against a TypeBox shape, and names the first wrong field. */
import type { Static, TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { refuse } from '../../kernel/refusal.ts'

const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>()
const maxParamLength = 200

/**
 * The value as the schema's type. Objects with `additionalProperties: false` refuse unknown fields.
 * Nothing is coerced, defaulted or dropped, and no value is ever echoed.
 * @throws Refusal 'invalid_request' whose `param` is the dotted path of the first wrong field
 */
export function checkBody<T extends TSchema>(schema: T, value: unknown): Static<T> {
  const check = compiledOf(schema)
  if (check.Check(value)) return value as Static<T>
  const first = check.Errors(value).First()
  const path = toDottedPath(first?.path ?? '')
  refuse('invalid_request', {
    message: first
      ? `${path === '' ? 'The body' : `"${path}"`} is wrong: ${sentenceOf(first.message)}.`
      : 'The body does not fit this route.',
    ...(path === '' ? {} : { param: path }),
  })
}

function compiledOf<T extends TSchema>(schema: T): TypeCheck<TSchema> {
  const known = compiled.get(schema)
  if (known) return known
  const check = TypeCompiler.Compile<TSchema>(schema)
  compiled.set(schema, check)
  return check
}

/** A JSON pointer (RFC 6901) as people write it: `/cap/limit_nusd` is `cap.limit_nusd`. */
function toDottedPath(pointer: string): string {
  const path = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.')
  return path.length > maxParamLength ? `${path.slice(0, maxParamLength)}…` : path
}

const sentenceOf = (message: string): string =>
  message === 'Unexpected property'
    ? 'this route knows no such field'
    : message.charAt(0).toLowerCase() + message.slice(1)
