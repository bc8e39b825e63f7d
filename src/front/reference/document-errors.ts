/** Lists the errors of a route for the OpenAPI document. */
import type { Json } from '../../kernel/canonical.ts'
import { Refusal, type RefusalType, refusals, toErrorBody } from '../../kernel/refusal.ts'
import { messagesError } from '../../models/protocols/messages/write-error.ts'
import type { Schema, Schemas } from '../../web/http/json-schema.ts'
import { retryAdvice } from '../../web/http/refusal-headers.ts'
import * as t from '../../web/http/shape.ts'
import {
  anywhere,
  isForBrowsers,
  type Operation,
  pathOf,
  refusalsOf,
} from '../../web/reference/operation.ts'
import { type ComponentSet, refer, spelled } from './components.ts'
import { headersOf, noRetry } from './document-headers.ts'
import { errorShape, messagesErrorShape, metadataShapes, requestIdShape } from './error-shapes.ts'
import { sampleOf } from './sample.ts'

/** Every status that the route may refuse with, and which types of errors it then is. */
export function errorsOf(operation: Operation, found: ComponentSet): Record<string, Json> {
  const byStatus = new Map<number, RefusalType[]>()
  for (const type of new Set([...refusalsOf(operation), ...anywhere])) {
    const [status] = refusals[type]
    byStatus.set(status, [...(byStatus.get(status) ?? []), type])
  }
  const dialect = dialectOf(operation)
  // Anthropic's own status for a model server that is overloaded.
  const isRun = byStatus.get(502)?.includes('upstream_error')
  if (isRun && dialect.name.includes('messages')) byStatus.set(529, ['unavailable'])
  return Object.fromEntries(
    [...byStatus].map(([status, types]) => [
      String(status),
      refer(found, 'responses', [...types.toSorted(), ...dialect.name].join('.'), () => ({
        description: types.map((type) => `\`${type}\``).join(', '),
        headers: headersOf(found, { ...adviceOf(operation, status), ...refusalHeaders[status] }),
        content: {
          'application/json': dialect.contentOf(found, types),
          ...(isForBrowsers(operation) ? htmlError : {}),
        },
      })),
    ]),
  )
}

/** The routes of Anthropic's API refuse in its own shape, those of browsers also in HTML. */
function dialectOf(operation: Operation): Dialect {
  if (pathOf(operation).startsWith('/v1/messages')) {
    return { name: ['messages'], contentOf: messagesErrors }
  }
  return { name: isForBrowsers(operation) ? ['page'] : [], contentOf: ourErrors }
}

type Dialect = {
  name: readonly string[]
  contentOf(found: ComponentSet, types: readonly RefusalType[]): Json
}

const ourErrors: Dialect['contentOf'] = (found, types) =>
  contentOf(types, (type) => ({
    schema: errorOf(found, type),
    example: () =>
      refer(found, 'examples', type, () => ({
        value: toErrorBody(refusalOf(found, type), t.sampleIds.req) as Json,
      })),
  }))

const messagesErrors: Dialect['contentOf'] = (found, types) =>
  contentOf(types, (type) => ({
    schema: messagesErrorOf(found, type),
    example: () =>
      refer(found, 'examples', `messages.${type}`, () => ({
        value: messagesError(refusalOf(found, type), t.sampleIds.req),
      })),
  }))

/** Only types that always tell something have an example: the schema says all of the others. */
function contentOf(
  types: readonly RefusalType[],
  make: (type: RefusalType) => { schema: Json; example: () => Json },
): Json {
  const made = types.map((type) => ({ type, ...make(type) }))
  const schemas = made.map(({ schema }) => schema)
  const shown = made.filter(({ type }) => alwaysTold.includes(type))
  return {
    schema: schemas.length === 1 ? (schemas[0] ?? null) : { anyOf: schemas },
    ...(shown.length === 0
      ? {}
      : { examples: Object.fromEntries(shown.map(({ type, example }) => [type, example()])) }),
  }
}

/** The error body of one type: its `type` alone says what `metadata` holds. */
function errorOf(found: ComponentSet, type: RefusalType): Json {
  const shape = metadataShapes[type]
  return refer(found, 'schemas', `${pascal(type)}Error`, () => ({
    type: 'object',
    description: refusals[type][1],
    required: ['error'],
    properties: {
      error: {
        allOf: [spelled(found, errorShape)],
        properties: {
          type: { const: type },
          code: { const: type },
          ...(shape ? { metadata: spelled(found, shape) } : {}),
        },
        ...(alwaysTold.includes(type) ? { required: ['metadata'] } : {}),
      },
    },
  }))
}

/** Types whose `metadata` is always there. */
const alwaysTold: readonly RefusalType[] = [
  'insufficient_balance',
  'cap_exceeded',
  'payload_too_large',
]

/** The same in Anthropic's shape, in which the members of `metadata` stand among `details`. */
function messagesErrorOf(found: ComponentSet, type: RefusalType): Json {
  const shape = metadataShapes[type]
  const { properties = {} } = shape ? (spelled(found, shape) as { properties?: Schemas }) : {}
  const error = messagesError(new Refusal(type), '')['error'] as Schema
  const details = {
    allOf: [{ $ref: '#/components/schemas/MessagesErrorDetails' }],
    properties: { type: { const: type }, code: { const: type }, ...properties },
  }
  return refer(found, 'schemas', `Messages${pascal(type)}Error`, () => ({
    type: 'object',
    description: refusals[type][1],
    required: ['type', 'error', 'request_id'],
    properties: {
      type: { const: 'error' },
      error: {
        allOf: [spelled(found, messagesErrorShape)],
        properties: { type: { const: error['type'] ?? null }, details },
      },
      request_id: spelled(found, requestIdShape),
    },
  }))
}

/** `upstream_error` is `Upstream`, so that no name ends in ErrorError. */
const pascal = (type: RefusalType): string =>
  type
    .replace(/_error$/, '')
    .replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The answer for browsers and htmx in place of the JSON. */
const htmlError: Record<string, Json> = { 'text/html': { schema: { type: 'string' } } }

const retryAfter = t.integer('How long to wait. Seconds.', 1)
const refusalHeaders: Readonly<Record<number, Record<string, t.TSchema>>> = {
  401: { 'WWW-Authenticate': t.text('How to authenticate.', 'Bearer') },
  402: {
    'X-Should-Retry': t.text(
      'Whether trying again can help: `true`, with Retry-After, while runs of the key go on.',
      'false',
    ),
  },
  429: {
    'Retry-After': retryAfter,
    'Retry-After-Ms': t.integer('The same in milliseconds.', 1000),
  },
}

const adviceOf = (operation: Operation, status: number): Record<string, t.TSchema> =>
  !isForBrowsers(operation) && 'x-should-retry' in retryAdvice(status)
    ? { 'X-Should-Retry': noRetry }
    : {}

/** A refusal with all that its type always tells. */
function refusalOf(found: ComponentSet, type: RefusalType): Refusal {
  const shape = metadataShapes[type]
  if (!shape) return new Refusal(type)
  const metadata = sampleOf(spelled(found, shape), found.schemas)
  return new Refusal(type, { metadata: metadata as Record<string, Json> })
}
