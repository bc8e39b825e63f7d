/** Answers with JSON text. */
import type { Context } from 'elysia'
import { answerShared, standing } from './standing-headers.ts'

/** The content type that Elysia gives an object. */
export const jsonType = 'application/json;charset=utf-8'

/** Headers of every JSON answer. */
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
export const answerText = (set: Pick<Context['set'], 'headers'>, text: string): Response =>
  answerShared(set, text, shared)
