/** Makes the OpenAPI 3.1 document. */
import type { Json } from '../../kernel/canonical.ts'
import { cookieName } from '../../web/http/cookies.ts'
import type { Schema } from '../../web/http/json-schema.ts'
import {
  type Access,
  type Answer,
  type Area,
  type Example,
  isForBrowsers,
  methodOf,
  type Operation,
  pathOf,
} from '../../web/reference/operation.ts'
import { areas, schemas } from './areas.ts'
import { type ComponentSet, partOf, refer } from './components.ts'
import { errorsOf } from './document-errors.ts'
import { headersOf } from './document-headers.ts'
import { sampleOf } from './sample.ts'

/** The OpenAPI 3.1 document of a service at that origin. */
export function openApiOf({ baseUrl, version }: Service) {
  const paths: Record<string, Record<string, Json>> = {}
  const found: ComponentSet = {
    schemas: { ...schemas },
    responses: {},
    examples: {},
    headers: {},
    parameters: {},
  }
  for (const area of areas) {
    for (const operation of area.operations) {
      const path = pathOf(operation).replace(/:(\w+)/g, '{$1}')
      paths[path] ??= {}
      paths[path][methodOf(operation).toLowerCase()] = operationOf(operation, area.title, found)
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Counterfoil', version, description: about, contact, license },
    servers: [{ url: baseUrl }],
    tags: areas.map(({ title, about: description }) => ({ name: title, description })),
    paths,
    components: { ...found, securitySchemes: securitySchemesOf(baseUrl) },
  }
}

/** The part of it that describes one area and needs no other file. */
export function openApiOfArea(whole: ReturnType<typeof openApiOf>, area: Area) {
  const { components, info, ...rest } = partOf(whole, (tag) => tag === area.title)
  const own = { ...info, title: `${info.title}: ${area.title}`, description: briefly }
  return { ...rest, info: own, components }
}

type Service = { baseUrl: string; version: string }

const securitySchemesOf = (baseUrl: string) => ({
  key: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'sk-service-…',
    description: 'An API key: `sk-service-` and 49 characters. Its holder can spend up to its cap.',
  },
  operator: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'op-service-…',
    description: 'A token of `counterfoil admin token create`; for `/operator/v1` alone.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: cookieName('sid', baseUrl),
    description:
      'Set by `POST /api/auth/verify`: httpOnly, SameSite=Lax. It expires after 24 hours ' +
      'without use, and after 7 days at the latest.',
  },
})

const contact = { name: 'The operator of this server' }
const license = { name: 'MIT', identifier: 'MIT' }

const about = [
  'A prepaid, verifiable gateway to AI models.',
  'Money is integer nano-USD (`_nusd`), prices are integer pico-USD a unit (`_pusd`), times are ' +
    "RFC 3339 UTC with milliseconds, except in OpenAI's shapes (Unix seconds) and in receipts.",
  'Every error has the body of `Error`; every answer has `X-Request-Id`. Answers to keys carry ' +
    '`RateLimit`, `RateLimit-Policy` and `x-ratelimit-*-requests`.',
  'New members may be added to answers at any time; types of errors are never renamed.',
  'The same as MCP tools: `POST /mcp`. In short: `/llms.txt`.',
  'Every route under `/v1`, `/operator/v1`, `/api` and `/mcp` is in this document, and so are ' +
    'the probes (`/livez`, `/readyz`) and the documents that any origin may read ' +
    '(`/openapi.json`, `/llms.txt`). All other paths are pages for people and the files they ' +
    'load. `/metrics` (Prometheus) is not on this listener: it has its own, where ' +
    '`metrics.listen` is set.',
  'Routes under `/api` belong to browsers. One that may change something refuses requests of ' +
    'other origins with 403 `csrf_failed`: `Sec-Fetch-Site` must be `same-origin` or `none`; ' +
    'without it `Origin` must be that of this server; a caller without both is a program. ' +
    'Routes take JSON, or a form where one is described. They answer JSON, a fragment of HTML to ' +
    'htmx (`HX-Request: true`), and a page or 303 to a browser that wants a page (`Accept: ' +
    'text/html`); errors likewise. Without a session htmx gets the 401 with `HX-Redirect` to the ' +
    'sign-in page, and a browser that wants a page gets a 303 there.',
].join('\n\n')

const briefly =
  'One area of `/openapi.json`, which says what holds everywhere. Every error has the body of ' +
  '`Error`; its `type` says what `metadata` holds. Money is integer nano-USD (`_nusd`).'

function operationOf(operation: Operation, tag: string, found: ComponentSet): Json {
  const { access, title, about: description } = operation
  const parameters = [
    ...parametersOf(operation, 'path'),
    ...parametersOf(operation, 'query'),
    ...(operation.isIdempotent
      ? [refer(found, 'parameters', 'IdempotencyKey', () => idempotencyKey)]
      : []),
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
    responses: { ...answersOf(operation, found), ...errorsOf(operation, found) },
  }
}

function notesOf(operation: Operation): string[] {
  const { access } = operation
  if (access === 'admin') return ['For the wallets of `admins` only; to all others it is a 404.']
  if (access.includes(':')) return [`Scope: \`${access.replace('operator ', '')}\`.`]
  const isGuarded = isForBrowsers(operation) && methodOf(operation) !== 'GET'
  return isGuarded ? ['From this origin only.'] : []
}

function securityOf(access: Access): Json {
  if (access === 'none') return []
  if (access === 'optional') return [{}, { key: [] }]
  if (access.startsWith('operator ')) return [{ operator: [] }]
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
    ...(given[name] !== undefined ? { example: asTyped(given[name], schema) } : {}),
  }))
}

/** Examples are written as they stand in a URL. */
const asTyped = (text: string, { type }: Schema): Json => (type === 'integer' ? Number(text) : text)

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

/** The examples of a kind, by their names. */
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

function answersOf({ answers }: Operation, found: ComponentSet): Record<string, Json> {
  return Object.fromEntries(
    answers.map(({ status, about: description, headers, content }) => [
      String(status),
      {
        description,
        headers: headersOf(found, headers),
        ...(Object.keys(content).length === 0 ? {} : { content: contentOf(content, found) }),
      },
    ]),
  )
}

const contentOf = (content: Answer['content'], found: ComponentSet): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(content).map(([media, { schema, sample }]): [string, Json] => [
      media,
      sample === undefined
        ? { schema, examples: { sample: sampleIn(found, schema) } }
        : { schema, ...(sample === '' ? {} : { example: sample }) },
    ]),
  )

/** A schema with a name has its sample beside it. */
function sampleIn(found: ComponentSet, schema: Schema): Json {
  const { $ref } = schema
  const value = () => ({ value: sampleOf(schema, schemas) })
  if (typeof $ref !== 'string') return value()
  return refer(found, 'examples', $ref.slice($ref.lastIndexOf('/') + 1), value)
}
