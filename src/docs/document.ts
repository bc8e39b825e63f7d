import type { Json } from '../kernel/canonical.ts'
import { type RefusalType, refusals } from '../kernel/refusal.ts'
import { areas, schemas } from './areas.ts'
import { type Answer, anywhere, methodOf, type Operation, pathOf, refusalsOf } from './operation.ts'
import { sampleOf } from './sample.ts'
import {
  anything,
  id,
  integer,
  object,
  orNull,
  ref,
  type Schema,
  sampleIds,
  text,
} from './schema.ts'

/** The OpenAPI 3.1 document of a service at that origin. */
export function openApiOf({ baseUrl, version }: { baseUrl: string; version: string }) {
  const paths: Record<string, Record<string, Json>> = {}
  for (const area of areas) {
    for (const operation of area.operations) {
      const path = pathOf(operation).replace(/:(\w+)/g, '{$1}')
      paths[path] ??= {}
      paths[path][methodOf(operation).toLowerCase()] = operationOf(operation, area.title)
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Counterfoil', version, description: about, license },
    servers: [{ url: baseUrl }],
    tags: areas.map(({ title, about: description }) => ({ name: title, description })),
    paths,
    components: {
      schemas: { ...schemas, Error: errorSchema },
      examples: errorExamples(),
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'sk-service-…',
          description:
            'An API key: `sk-service-` and 49 characters. Whoever has it can spend up to its cap.',
        },
      },
    },
  }
}

const license = { name: 'MIT', identifier: 'MIT' }

const about = [
  'A prepaid, verifiable gateway to AI models.',
  'Money is integer nano-USD (`_nusd`), prices are integer pico-USD a unit (`_pusd`), times are ' +
    "RFC 3339 UTC with milliseconds, except in OpenAI's shapes (Unix seconds) and in receipts.",
  'Every error has the body of `Error`; every answer has `X-Request-Id`. Answers to keys carry ' +
    '`RateLimit`, `RateLimit-Policy` and `x-ratelimit-*-requests`.',
  'New members may be added to answers at any time; types of errors are never renamed.',
  'The same as MCP tools: `POST /mcp`. In short: `/llms.txt`.',
].join('\n\n')

function operationOf(operation: Operation, tag: string): Json {
  const { key, title, about: description } = operation
  const parameters = [
    ...parametersOf(operation, 'path'),
    ...parametersOf(operation, 'query'),
    ...(operation.isIdempotent ? [idempotencyKey] : []),
  ]
  const scope = key.includes(':') ? `\n\nScope: \`${key}\`.` : ''
  return {
    operationId: operation.id,
    tags: [tag],
    summary: title,
    description: `${description}${scope}`,
    security: key === 'none' ? [] : key === 'optional' ? [{}, { key: [] }] : [{ key: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(operation.body ? { requestBody: bodyOf(operation, operation.body) } : {}),
    responses: { ...answersOf(operation), ...errorsOf(operation) },
  }
}

const idempotencyKey: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes a repeated request the same one, for 24 hours: it is answered as it was, with ' +
    '`Idempotent-Replayed: true`, and charged once. 1 to 128 printable ASCII characters.',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
}

function parametersOf(operation: Operation, place: 'path' | 'query'): Json[] {
  const given = operation.examples[0]?.[place] ?? {}
  return Object.entries(operation[place] ?? {}).map(([name, { description = '', ...schema }]) => ({
    name,
    in: place,
    required: place === 'path',
    description,
    schema,
    ...(given[name] !== undefined ? { example: given[name] } : {}),
  }))
}

function bodyOf({ examples }: Operation, { schema, isOptional }: NonNullable<Operation['body']>) {
  const sent = examples.filter(({ body }) => body !== undefined)
  const named = sent.map(({ name, body = null }) => [slugOf(name), { summary: name, value: body }])
  return {
    required: isOptional !== true,
    content: { 'application/json': { schema, examples: Object.fromEntries(named) } },
  }
}

const slugOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]+/g, '_')

function answersOf({ answers }: Operation): Record<string, Json> {
  return Object.fromEntries(
    answers.map(({ status, about: description, headers, content }) => [
      String(status),
      {
        description,
        headers: { 'X-Request-Id': requestId, ...headersOf(headers) },
        ...(Object.keys(content).length === 0 ? {} : { content: contentOf(content) }),
      },
    ]),
  )
}

const requestId: Json = { description: 'Of this request.', schema: id('req', 'Of this request.') }

const headersOf = (headers: Answer['headers'] = {}): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, { description = '', ...schema }]) => [
      name,
      { description, schema },
    ]),
  )

const contentOf = (content: Answer['content']): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(content).map(([media, { schema, sample }]) => [
      media,
      { schema, example: sample ?? sampleOf(schema, schemas) },
    ]),
  )

/** Every status that the route may refuse with, and which types of errors it then is. */
function errorsOf(operation: Operation): Record<string, Json> {
  const byStatus = new Map<number, RefusalType[]>()
  for (const type of new Set([...refusalsOf(operation), ...anywhere])) {
    const [status] = refusals[type]
    byStatus.set(status, [...(byStatus.get(status) ?? []), type])
  }
  return Object.fromEntries(
    [...byStatus].map(([status, types]) => [
      String(status),
      {
        description: types.map((type) => `\`${type}\`: ${refusals[type][1]}`).join('\n\n'),
        headers: { 'X-Request-Id': requestId, ...headersOf(refusalHeaders[status]) },
        content: {
          'application/json': {
            schema: {
              allOf: [ref('Error')],
              properties: { error: { properties: { type: { enum: types } } } },
            },
            examples: Object.fromEntries(
              types.map((type) => [type, { $ref: `#/components/examples/${type}` }]),
            ),
          },
        },
      },
    ]),
  )
}

const retryAfter = integer('How long to wait. Seconds.', 1)
const refusalHeaders: Readonly<Record<number, Record<string, Schema>>> = {
  401: { 'WWW-Authenticate': text('How to authenticate.', 'Bearer') },
  402: { 'X-Should-Retry': text('Trying again cannot help.', 'false') },
  429: { 'Retry-After': retryAfter, 'Retry-After-Ms': integer('The same in milliseconds.', 1000) },
}

const errorSchema = object('The one error body.', {
  error: object('Why not, and what to do next.', {
    type: text('Public API: never renamed.', 'invalid_request', { enum: Object.keys(refusals) }),
    code: text('The same as `type`.', 'invalid_request'),
    message: text('What to do next, in words.', 'The request is not well formed.'),
    param: orNull(text('Path of the wrong field.', 'cap.limit_nusd')),
    request_id: id('req', 'Quote it to the operator.'),
    'metadata?': anything('What a program can use.', {}),
  }),
})

const spent = {
  limited_by: 'key',
  blocking_key_id: sampleIds.key,
  required_nusd: 48_000,
  available_nusd: 1200,
  resets_at: null,
  max_affordable_output_tokens: 2,
  top_up_url: 'https://gw.example/dashboard/deposits',
}

/** A body of each type of error, as it is sent. */
function errorExamples(): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(refusals).map(([type, [status, message]]) => {
      const error: Schema = { type, code: type, message, param: null, request_id: sampleIds.req }
      if (status === 402) error['metadata'] = spent
      return [type, { summary: type, value: { error } }]
    }),
  )
}
