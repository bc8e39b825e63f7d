/** Finds calls of functions as Chat Completions wrote them before tools: no other protocol has them. */
import type { JsonObject } from '../../kernel/json-object.ts'
import { isSet } from '../body.ts'
import { objectsIn } from './reading.ts'

/** What of a request cannot be said; undefined when nothing. */
export function oldCallIn(body: JsonObject): { param: string; message: string } | undefined {
  const message = 'Send tools in the place of functions.'
  for (const param of ['functions', 'function_call']) {
    if (isSet(body[param])) return { param, message }
  }
  const at = objectsIn(body['messages']).findIndex(
    ({ role, function_call }) => role === 'function' || isSet(function_call),
  )
  return at === -1 ? undefined : { param: `messages[${at}]`, message }
}
