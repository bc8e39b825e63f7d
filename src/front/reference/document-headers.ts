/** Lists the headers of an answer for the OpenAPI document. */
import type { Json } from '../../kernel/canonical.ts'
import { spellShapes } from '../../web/http/json-schema.ts'
import * as t from '../../web/http/shape.ts'
import type { Answer } from './operation.ts'

/** Of every answer. */
export const requestId: Json = {
  description: 'Of this request.',
  schema: spellShapes(t.id('req', 'Of this request.'), {}),
}

export const headersOf = (headers: Answer['headers'] = {}): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, { description = '', ...schema }]) => [
      name,
      { description, schema },
    ]),
  )
