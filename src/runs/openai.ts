/** Answers in OpenAI's shapes. Members are listed one by one: no other upstream field passes. */
import type { Deps } from '../app/deps-port.ts'
import type { Json } from '../kernel/canonical.ts'
import { toUnixSeconds } from '../kernel/clock.ts'
import { toJsonInteger } from '../kernel/money.ts'
import { refuse } from '../kernel/refusal.ts'
import type { JsonObject } from '../models/upstream/upstream.ts'
import { objects } from './answer.ts'
import type { Completed } from './complete.ts'
import type { LiveRun } from './live-run.ts'
import { toChatUsage, toEmbeddingUsage } from './openai-usage.ts'
import type { Finished } from './settlement.ts'
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
  ...tierOf(done.body['service_tier']),
  choices: done.body['choices'] ?? [],
  usage: toChatUsage(done.usage, done),
  receipt: toReceiptLink(done, links),
})

export const toEmbeddings = (live: LiveRun, done: Completed, links: Links) => ({
  object: 'list',
  data: done.output,
  model: live.model.id,
  usage: toEmbeddingUsage(done.usage, done),
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
  const paid = { ...tierOf(done.tier), ...more, receipt: toReceiptLink(done, links) }
  const chunks = done.tail.map((chunk) => toChunk(base, chunk))
  if (includeUsage) {
    chunks.push({ ...base, choices: [], usage: toChatUsage(done.usage, done), ...paid })
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
  return isName(fingerprint) ? { system_fingerprint: fingerprint } : {}
}

/** The tier of service that the upstream says it used. */
const tierOf = (tier: Json | undefined): { service_tier?: string } =>
  isName(tier) ? { service_tier: tier } : {}

/** Passed on beside the choices, and not counted: so never long enough to be output. */
const isName = (value: Json | undefined): value is string =>
  typeof value === 'string' && value.length <= 128
