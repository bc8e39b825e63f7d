import type { Json } from '../../kernel/canonical.ts'
import type { Answer } from './operation.ts'
import { id } from './schema.ts'

/** Of every answer. */
export const requestId: Json = {
  description: 'Of this request.',
  schema: id('req', 'Of this request.'),
}

export const headersOf = (headers: Answer['headers'] = {}): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, { description = '', ...schema }]) => [
      name,
      { description, schema },
    ]),
  )
