/** Tells whether JSON is an answer in the shape of Chat Completions or of embeddings. */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../kernel/json-object.ts'
import type { ModelKind } from '../meter.ts'

export function isAnswer(kind: ModelKind, body: JsonObject): boolean {
  if (kind === 'chat') return isListOf(body['choices'], (item) => isObject(item['message']))
  return isListOf(body['data'], ({ embedding }) => {
    return Array.isArray(embedding) || typeof embedding === 'string'
  })
}

function isListOf(list: Json | undefined, fits: (item: JsonObject) => boolean): boolean {
  return (
    Array.isArray(list) && list.length > 0 && list.every((item) => isObject(item) && fits(item))
  )
}
