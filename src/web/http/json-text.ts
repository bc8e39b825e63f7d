/** Answers with JSON text. */
import type { Context } from 'elysia'
import { standing } from './standing-headers.ts'

/** The content type that Elysia gives an object. */
export const jsonType = 'application/json;charset=utf-8'

/** Headers of every JSON answer. Bun copies them as a whole, which costs less than one by one. */
const shared = new Headers({ ...standing, 'content-type': jsonType })

/**
 * Answers with JSON text and the headers that were set:
 * `.get('/v1/models', ({ set }) => jsonText(set, modelsText(deps)))`.
 */
export const jsonText = (
  set: Pick<Context['set'], 'headers'>,
  text: string | Promise<string>,
): Response | Promise<Response> =>
  text instanceof Promise ? text.then((made) => answerText(set, made)) : answerText(set, text)

/** The answer 200 of {@link jsonText}. A set header replaces a standing one of its name. */
export function answerText(set: Pick<Context['set'], 'headers'>, text: string): Response {
  const answer = new Response(text, { headers: shared })
  const { headers } = answer
  for (const name in set.headers) {
    const value = set.headers[name]
    if (value !== standing[name] && value !== undefined) headers.set(name, String(value))
  }
  // Elysia copies a Response that it has to merge any into.
  set.headers = {}
  return answer
}
