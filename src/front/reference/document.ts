/** Makes the OpenAPI 3.1 document. */
import type { Json } from '../../kernel/canonical.ts'
import { cookieName } from '../../web/http/cookies.ts'
import { areas, schemas } from './areas/areas.ts'
import { errorExamples, errorSchema, errorsOf, messagesErrorSchema } from './document-errors.ts'
import { headersOf, requestId } from './document-headers.ts'
import {
  type Access,
  type Answer,
  type Example,
  isForBrowsers,
  methodOf,
  type Operation,
  pathOf,
} from './operation.ts'
import { sampleOf } from './sample.ts'

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
      schemas: { ...schemas, Error: errorSchema, MessagesError: messagesErrorSchema },
      examples: errorExamples(),
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'sk-service-…',
          description:
            'An API key: `sk-service-` and 49 characters. Its holder can spend up to its cap.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: cookieName('sid', baseUrl),
          description:
            'Set by `POST /api/auth/verify`: httpOnly, SameSite=Lax. It expires after 24 hours ' +
            'without use, and after 7 days at the latest.',
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
  'Every route under `/v1`, `/api` and `/mcp` is in this document, and so are the probes ' +
    '(`/livez`, `/readyz`) and the documents that any origin may read (`/openapi.json`, ' +
    '`/llms.txt`). All other paths are pages for people and the files they load. `/metrics` ' +
    '(Prometheus) is not on this listener: it has its own, where `metrics.listen` is set.',
  'Routes under `/api` belong to browsers. One that may change something refuses requests of ' +
    'other origins with 403 `csrf_failed`: `Sec-Fetch-Site` must be `same-origin` or `none`; ' +
    'without it `Origin` must be that of this server; a caller without both is a program. ' +
    'Routes take JSON, or a form where one is described. They answer JSON, a fragment of HTML to ' +
    'htmx (`HX-Request: true`), and a page or 303 to a browser that wants a page (`Accept: ' +
    'text/html`); errors likewise. Without a session htmx gets the 401 with `HX-Redirect` to the ' +
    'sign-in page, and a browser that wants a page gets a 303 there.',
].join('\n\n')

function operationOf(operation: Operation, tag: string): Json {
  const { access, title, about: description } = operation
  const parameters = [
    ...parametersOf(operation, 'path'),
    ...parametersOf(operation, 'query'),
    ...(operation.isIdempotent ? [idempotencyKey] : []),
  ]
  const notes = [description, ...notesOf(operation)]
  return {
    operationId: operation.id,
    tags: [tag],
    summary: title,
    description: notes.join('\n\n'),
    security: securityOf(access),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(operation.body ? { requestBody: bodyOf(operation, operation.body) } : {}),
    responses: { ...answersOf(operation), ...errorsOf(operation) },
  }
}

function notesOf(operation: Operation): string[] {
  const { access } = operation
  if (access === 'admin') return ['For the wallets of `admins` only; to all others it is a 404.']
  if (access.includes(':')) return [`Scope: \`${access}\`.`]
  const isGuarded = isForBrowsers(operation) && methodOf(operation) !== 'GET'
  return isGuarded ? ['From this origin only.'] : []
}

function securityOf(access: Access): Json {
  if (access === 'none') return []
  if (access === 'optional') return [{}, { key: [] }]
  return [access === 'session' || access === 'admin' ? { session: [] } : { key: [] }]
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

function bodyOf({ examples }: Operation, body: NonNullable<Operation['body']>): Json {
  const content: Record<string, Json> = {
    'application/json': {
      schema: body.schema,
      examples: examplesOf(examples, ({ body: value }) => value),
    },
  }
  if (body.form) {
    content['application/x-www-form-urlencoded'] = {
      schema: body.form,
      examples: examplesOf(examples, ({ form }) => form),
    }
  }
  return { required: body.isOptional !== true, content }
}

/** What examples send of a kind, by their names. */
function examplesOf(
  examples: readonly Example[],
  sent: (example: Example) => Json | undefined,
): Record<string, Json> {
  return Object.fromEntries(
    examples.flatMap((example) => {
      const value = sent(example)
      return value === undefined
        ? []
        : [[slugOf(example.name), { summary: example.name, value }] as const]
    }),
  )
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

const contentOf = (content: Answer['content']): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(content).map(([media, { schema, sample }]) => [
      media,
      { schema, example: sample ?? sampleOf(schema, schemas) },
    ]),
  )
