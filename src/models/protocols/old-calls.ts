/** Finds calls of functions from before there were tools, which no other protocol has. */
import { isSet, type JsonObject } from '../../kernel/json-object.ts'
import { objectsIn } from './reading.ts'

/** The part of a request that cannot be said; undefined when there is none. */
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
