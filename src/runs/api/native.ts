/** Reads the body of `POST /v1/runs` as the request that OpenAI's shape would be. */
import type { Json } from '../../kernel/canonical.ts'
import { refuse } from '../../kernel/refusal.ts'
import { toCount } from '../../kernel/status-safe.ts'
import type { Model } from '../../models/model.ts'
import type { JsonObject } from '../../models/upstream/upstream.ts'
import type { RunBody } from './run-body.ts'

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
  if (most !== undefined && most > model.maxOutputTokens) {
    const limit = `${model.id} answers with at most ${toCount(model.maxOutputTokens)} tokens`
    no('max_output_tokens', `${limit}. Lower max_output_tokens.`)
  }
  return {
    ...params,
    model: model.id,
    messages: (body.messages as Json[] | undefined) ?? said,
    ...(most === undefined ? {} : { max_tokens: most }),
  }
}
