/** Lists the headers of an answer for the OpenAPI document. */
import type { Json } from '../../kernel/canonical.ts'
import type { Schema } from '../../web/http/json-schema.ts'
import * as t from '../../web/http/shape.ts'
import { type ComponentSet, refer, spelled } from './components.ts'

/** The headers of an answer, `X-Request-Id` of every answer among them. */
export function headersOf(found: ComponentSet, own: Own = {}): Record<string, Json> {
  const all: Own = { 'X-Request-Id': t.id('req', 'Of this request.'), ...own }
  return Object.fromEntries(
    Object.entries(all).map(([name, shape]) => {
      const { description = '', ...schema } = spelled(found, shape)
      const header: Schema = { description, schema }
      const isCommon = name === 'X-Request-Id' || shape === noRetry
      return [name, isCommon ? refer(found, 'headers', name, () => header) : header]
    }),
  )
}

/** The header by which official clients know a refusal that will not change. */
export const noRetry = t.text('Trying again cannot help: official clients do not.', 'false')

/** Shapes, or what they were spelled as. */
type Own = Readonly<Record<string, t.TSchema | Schema>>
