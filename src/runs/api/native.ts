import { type Static, Type } from '@sinclair/typebox'
import type { Json } from '../../kernel/canonical.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { Model } from '../../models/model.ts'
import type { JsonObject } from '../../models/upstream/upstream.ts'

/** The body of `POST /v1/runs`. What OpenAI calls options stands in `params`. */
export const runBody = Type.Object(
  {
    model: Type.String(),
    input: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1 })])),
    messages: Type.Optional(Type.Array(Type.Unknown(), { minItems: 1 })),
    max_output_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
    params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    stream: Type.Optional(Type.Boolean()),
    background: Type.Optional(Type.Boolean()),
    /** Lowers the most that may be said to what can be afforded. */
    fit: Type.Optional(Type.Boolean()),
    tags: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 64 }), Type.String({ maxLength: 256 }), {
        maxProperties: 8,
      }),
    ),
    metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { maxProperties: 16 })),
  },
  { additionalProperties: false },
)
export type RunBody = Static<typeof runBody>

/** Bytes of `metadata` as JSON: it is kept with the run for ever. */
const metadataBytes = 4096

/** Members of `params` that have a place of their own in the body. */
const reserved = ['model', 'messages', 'input', 'stream', 'stream_options', 'max_tokens']

/**
 * A native request in OpenAI's shape.
 * @throws Refusal `invalid_request` with `param`
 */
export function toOpenAi(model: Model, body: RunBody): JsonObject {
  const no = (param: string, message: string): never =>
    refuse('invalid_request', { param, message })
  const params = (body.params ?? {}) as JsonObject
  for (const name of [...reserved, 'max_completion_tokens']) {
    if (name in params) no(`params.${name}`, `"${name}" does not belong in params.`)
  }
  if (Buffer.byteLength(JSON.stringify(body.metadata ?? {})) > metadataBytes) {
    no('metadata', `metadata has at most ${metadataBytes} bytes as JSON.`)
  }
  if (body.stream && body.background) {
    no('stream', 'A background run is followed at /v1/runs/:id/events, not streamed.')
  }
  if (model.kind === 'embedding') {
    if (body.stream) no('stream', 'An embedding does not stream. Leave "stream" out.')
    const input = body.input ?? no('input', '"input" must hold the text to embed.')
    return { ...params, model: model.id, input: input as Json }
  }
  if ((body.input === undefined) === (body.messages === undefined)) {
    no('input', 'Send either "input" or "messages".')
  }
  if (Array.isArray(body.input)) no('input', 'A chat takes one text as "input", or "messages".')
  const said = [{ role: 'user', content: body.input as Json }]
  const most = body.max_output_tokens
  return {
    ...params,
    model: model.id,
    messages: (body.messages as Json[] | undefined) ?? said,
    ...(most === undefined ? {} : { max_tokens: most }),
  }
}
