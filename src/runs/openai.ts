/** Answers in OpenAI's shapes. Members are listed one by one: no other upstream field passes. */
import type { Deps } from '../app/deps-port.ts'
import { toUnixSeconds } from '../kernel/clock.ts'
import { toJsonInteger } from '../kernel/money.ts'
import { refuse } from '../kernel/refusal.ts'
import type { Usage } from '../models/meter.ts'
import type { JsonObject } from '../models/upstream/upstream.ts'
import { objects } from './answer.ts'
import type { Completed } from './complete.ts'
import type { Finished } from './finish.ts'
import type { LiveRun } from './live-run.ts'
import type { ReceiptLink } from './shapes.ts'
import type { Streamed } from './stream.ts'

type Links = { baseUrl: string }

/** The enabled model that a request names. @throws Refusal `model_not_found`, `invalid_request`. */
export function findModel({ catalogue }: Pick<Deps, 'catalogue'>, body: JsonObject) {
  const id = body['model']
  if (typeof id !== 'string') {
    refuse('invalid_request', { param: 'model', message: '"model" must name a model.' })
  }
  const model = catalogue.get(id)
  if (!model || model.status === 'disabled') refuse('model_not_found', { param: 'model' })
  return model
}

export const toReceiptLink = (
  { run, receiptId, digest }: Finished,
  { baseUrl }: Links,
): ReceiptLink => ({
  id: receiptId,
  digest,
  url: `${baseUrl}/v1/receipts/${receiptId}`,
  cost_nusd: toJsonInteger(run.cost),
})

export const toCompletion = (live: LiveRun, done: Completed, links: Links) => ({
  id: live.id,
  object: 'chat.completion',
  created: toUnixSeconds(live.row.createdAt),
  model: live.model.id,
  ...fingerprintOf(done.body),
  choices: done.body['choices'] ?? [],
  usage: toUsage(done.usage, done),
  receipt: toReceiptLink(done, links),
})

export const toEmbeddings = (live: LiveRun, done: Completed, links: Links) => ({
  object: 'list',
  data: done.output,
  model: live.model.id,
  usage: {
    prompt_tokens: done.usage.inputTokens,
    total_tokens: done.usage.inputTokens,
    cost_nusd: toJsonInteger(done.run.cost),
  },
  receipt: toReceiptLink(done, links),
})

/** Writes the SSE frame of a chunk; `base` holds the members all chunks of a run share. */
export function chunkWriter(base: ChunkBase): (chunk: JsonObject) => string {
  // Serialized once: only the choices differ.
  const head = `data: ${JSON.stringify(base).slice(0, -1)}`
  return (chunk) => {
    const { system_fingerprint: mark } = fingerprintOf(chunk)
    const fingerprint = mark === undefined ? '' : `,"system_fingerprint":${JSON.stringify(mark)}`
    return `${head}${fingerprint},"choices":${JSON.stringify(objects(chunk['choices']))}}\n\n`
  }
}

export type ChunkBase = { id: string; object: string; created: number; model: string }

export const chunkBase = (live: LiveRun): ChunkBase => ({
  id: live.id,
  object: 'chat.completion.chunk',
  created: toUnixSeconds(live.row.createdAt),
  model: live.model.id,
})

/**
 * The frames that end a stream. The receipt is in the last chunk that SDKs keep: the usage chunk
 * if requested, else the finishing chunk. `more` is added beside it.
 */
export function lastFrames(
  base: ChunkBase,
  done: Streamed,
  links: Links,
  { includeUsage, more }: { includeUsage: boolean; more: object },
): string {
  const paid = { ...more, receipt: toReceiptLink(done, links) }
  const chunks = done.tail.map((chunk) => toChunk(base, chunk))
  if (includeUsage) {
    chunks.push({ ...base, choices: [], usage: toUsage(done.usage, done), ...paid })
  } else Object.assign(chunks.at(-1) ?? {}, paid)
  return `${chunks.map(frame).join('')}data: [DONE]\n\n`
}

const frame = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`

const toChunk = (base: ChunkBase, chunk: JsonObject): Record<string, unknown> => ({
  ...base,
  ...fingerprintOf(chunk),
  choices: objects(chunk['choices']),
})

const fingerprintOf = (from: JsonObject): { system_fingerprint?: string } => {
  const fingerprint = from['system_fingerprint']
  return typeof fingerprint === 'string' ? { system_fingerprint: fingerprint } : {}
}

const toUsage = ({ inputTokens, outputTokens }: Usage, { run }: Finished) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  cost_nusd: toJsonInteger(run.cost),
})
