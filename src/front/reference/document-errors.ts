/** Lists the errors of a route for the OpenAPI document. */
import type { Json } from '../../kernel/canonical.ts'
import { Refusal, type RefusalType, refusals } from '../../kernel/refusal.ts'
import { messagesError } from '../../models/protocols/messages/write-error.ts'
import type { Schema, Schemas } from '../../web/http/json-schema.ts'
import { spellShapes } from '../../web/http/json-schema.ts'
import * as t from '../../web/http/shape.ts'
import { headersOf, requestId } from './document-headers.ts'
import { anywhere, isForBrowsers, type Operation, pathOf, refusalsOf } from './operation.ts'

/** Every status that the route may refuse with, and which types of errors it then is. */
export function errorsOf(operation: Operation): Record<string, Json> {
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
        headers: {
          'X-Request-Id': requestId,
          ...headersOf(spellShapes(refusalHeaders[status] ?? {}, {}) as Schemas),
        },
        content: {
          'application/json': isOfMessages(operation) ? messagesErrors(types) : ourErrors(types),
          ...(isForBrowsers(operation) ? htmlError : {}),
        },
      },
    ]),
  )
}

const ourErrors = (types: RefusalType[]): Record<string, Json> => ({
  schema: {
    allOf: [{ $ref: '#/components/schemas/Error' }],
    properties: { error: { properties: { type: { enum: types } } } },
  },
  examples: Object.fromEntries(
    types.map((type) => [type, { $ref: `#/components/examples/${type}` }]),
  ),
})

/** The routes of Anthropic's API refuse in its own shape. */
const isOfMessages = (operation: Operation): boolean => pathOf(operation).startsWith('/v1/messages')

const messagesErrors = (types: RefusalType[]): Record<string, Json> => ({
  schema: { $ref: '#/components/schemas/MessagesError' },
  examples: Object.fromEntries(
    types.map((type) => [
      type,
      { summary: type, value: messagesError(new Refusal(type), t.sampleIds.req) },
    ]),
  ),
})

/** What browsers and htmx get in place of the JSON. */
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

export const errorSchema = spellShapes(
  t.object('The one error body.', {
    error: t.object('Why not, and what to do next.', {
      type: t.text('Public API: never renamed.', 'invalid_request', {
        enum: Object.keys(refusals),
      }),
      code: t.text('The same as `type`.', 'invalid_request'),
      message: t.text('What to do next, in words.', 'The request is not well formed.'),
      param: t.orNull(t.text('Path of the wrong field.', 'cap.limit_nusd')),
      request_id: t.id('req', 'Quote it to the operator.'),
      'metadata?': t.anything('What a program can use.', {}),
    }),
  }),
  {},
)

export const messagesErrorSchema = spellShapes(
  t.object("Anthropic's error body, on its routes.", {
    type: t.only('error'),
    error: t.object('Why not, and what to do next.', {
      type: t.text('As its clients know it.', 'invalid_request_error'),
      message: t.text('What to do next, in words.', 'The request is not well formed.'),
      details: t.anything('Our own type, and what a program can use.', {
        type: 'invalid_request',
      }),
    }),
    request_id: t.id('req', 'Quote it to the operator.'),
  }),
  {},
)

const spent = {
  limited_by: 'key',
  blocking_key_id: t.sampleIds.key,
  required_nusd: 48_000,
  required_usd: '0.000048',
  available_nusd: 1200,
  available_usd: '0.0000012',
  held_nusd: 0,
  held_usd: '0.00',
  resets_at: null,
  max_affordable_output_tokens: 2,
  top_up_url: 'https://gw.example/dashboard/deposits',
}

/** A body of each type of error, as it is sent. */
export function errorExamples(): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(refusals).map(([type, [status, message]]) => {
      const error: Schema = { type, code: type, message, param: null, request_id: t.sampleIds.req }
      if (status === 402) error['metadata'] = spent
      return [type, { summary: type, value: { error } }]
    }),
  )
}
