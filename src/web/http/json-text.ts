/** Answers a hot read with JSON text that was made before the request. */
import type { Context } from 'elysia'

/** The content type that Elysia gives an object. */
export const jsonType = 'application/json;charset=utf-8'

/** `.get('/v1/models', ({ set }) => jsonText(set, modelsText(deps)))`. */
export function jsonText<Text extends string | Promise<string>>(
  set: Pick<Context['set'], 'headers'>,
  text: Text,
): Text {
  set.headers['content-type'] = jsonType
  return text
}
