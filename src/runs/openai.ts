/**
 * Answers in OpenAI's shapes, whole and as the frames of a stream. Members are listed one by one:
 * no other upstream field passes.
 */
import type { Chain } from '../access/keys/key.ts'
import type { Deps } from '../app/deps-port.ts'
import type { Json } from '../kernel/canonical.ts'
import { toUnixSeconds } from '../kernel/clock.ts'
import { toJsonInteger } from '../kernel/money.ts'
import { refuseField } from '../kernel/refusal.ts'
import type { Usage, UsageClass } from '../models/meter.ts'
import { unknownModel } from '../models/unknown-model.ts'
import type { JsonObject } from '../models/upstream/upstream.ts'
import { objects } from './answer.ts'
import type { CompletedAnswer } from './complete.ts'
import type { LiveRun } from './live-run.ts'
import type { FinishedRun } from './settlement.ts'
import type { ReceiptLink } from './shapes.ts'
import type { StreamedAnswer } from './stream.ts'

/** The origin of links to receipts. */
export type Links = { baseUrl: string }

/**
 * The enabled model that a request names, by its id or an alias.
 * @throws Refusal `invalid_request`; `model_not_found` with the nearest that `chain` may use
 */
export function findModel(
  { catalogue }: Pick<Deps, 'catalogue'>,
  body: JsonObject,
  chain: Chain = [],
) {
  const id = body['model']
  if (typeof id !== 'string') {
    refuseField('model', '"model" must name a model.')
  }
  const model = catalogue.named(id)
  if (!model || model.status === 'disabled') throw unknownModel(catalogue, id, chain)
  return model
}

export const toReceiptLink = (
  { run, receiptId, digest }: FinishedRun,
  { baseUrl }: Links,
): ReceiptLink => ({
  id: receiptId,
  digest,
  url: `${baseUrl}/v1/receipts/${receiptId}`,
  cost_nusd: toJsonInteger(run.cost),
})

export const toCompletion = (live: LiveRun, done: CompletedAnswer, links: Links) => ({
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

export const toEmbeddings = (live: LiveRun, done: CompletedAnswer, links: Links) => ({
  object: 'list',
  data: done.output,
  model: live.model.id,
  usage: toEmbeddingUsage(done.usage, done),
  receipt: toReceiptLink(done, links),
})

/** The mark of the set-up that a model server ran with. */
export const fingerprintOf = (from: JsonObject): { system_fingerprint?: string } => {
  const fingerprint = from['system_fingerprint']
  return isName(fingerprint) ? { system_fingerprint: fingerprint } : {}
}

/** The tier of service that the upstream says it used. */
export const tierOf = (tier: Json | undefined): { service_tier?: string } =>
  isName(tier) ? { service_tier: tier } : {}

/** Passed on beside the choices, and not counted: so never long enough to be output. */
const isName = (value: Json | undefined): value is string =>
  typeof value === 'string' && value.length <= 128

type Details = { [name: string]: number }

/** OpenAI knows one cache: writing to one of an hour counts as writing. */
const inputDetails: [UsageClass, string][] = [
  ['cache_read', 'cached_tokens'],
  ['cache_write', 'cache_write_tokens'],
  ['cache_write_1h', 'cache_write_tokens'],
  ['audio_input', 'audio_tokens'],
  ['image_input', 'image_tokens'],
]

const outputDetails: [UsageClass, string][] = [
  ['reasoning', 'reasoning_tokens'],
  ['audio_output', 'audio_tokens'],
  ['image_output', 'image_tokens'],
]

export const toChatUsage = (usage: Usage, { run }: Pick<FinishedRun, 'run'>) => ({
  prompt_tokens: usage.inputTokens,
  ...(usage.classes && detailsOf('prompt_tokens_details', inputDetails, usage)),
  completion_tokens: usage.outputTokens,
  ...(usage.classes && detailsOf('completion_tokens_details', outputDetails, usage)),
  total_tokens: usage.inputTokens + usage.outputTokens,
  cost_nusd: toJsonInteger(run.cost),
})

const toEmbeddingUsage = (usage: Usage, { run }: Pick<FinishedRun, 'run'>) => ({
  prompt_tokens: usage.inputTokens,
  ...(usage.classes && detailsOf('prompt_tokens_details', inputDetails, usage)),
  total_tokens: usage.inputTokens,
  cost_nusd: toJsonInteger(run.cost),
})

/** Units by class, where any are; some clients refuse details without their first member. */
function detailsOf(
  member: string,
  names: readonly [UsageClass, string][],
  { classes = {} }: Usage,
): { [member: string]: Details } {
  let details: Details | undefined
  for (const [meter, name] of names) {
    const units = classes[meter]
    if (!units) continue
    details ??= { [names[0]?.[1] ?? name]: 0 }
    details[name] = (details[name] ?? 0) + units
  }
  return details ? { [member]: details } : {}
}

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

type ChunkBase = { id: string; object: string; created: number; model: string }

export const chunkBase = (live: LiveRun): ChunkBase => ({
  id: live.id,
  object: 'chat.completion.chunk',
  created: toUnixSeconds(live.row.createdAt),
  model: live.model.id,
})

/**
 * The frames that end a stream. Usage and receipt are in the last chunk that SDKs keep: the usage
 * chunk if requested, else the finishing chunk, because clients break on one without choices that
 * they did not ask for. `more` is added beside them.
 */
export function lastFrames(
  base: ChunkBase,
  done: StreamedAnswer,
  links: Links,
  { includeUsage, more }: { includeUsage: boolean; more: object },
): string {
  const paid = {
    usage: toChatUsage(done.usage, done),
    ...tierOf(done.tier),
    ...more,
    receipt: toReceiptLink(done, links),
  }
  const chunks = done.tail.map((chunk) => toChunk(base, chunk))
  if (includeUsage) chunks.push({ ...base, choices: [], ...paid })
  else Object.assign(chunks.at(-1) ?? {}, paid)
  return chunks.map(frame).join('') + doneFrame
}

export const doneFrame = 'data: [DONE]\n\n'

/** Whether a chunk says that its server could not go on. */
export const failsIn = ({ choices }: JsonObject): boolean =>
  objects(choices).some(({ finish_reason: reason }) => reason === 'error')

const frame = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`

const toChunk = (base: ChunkBase, chunk: JsonObject): Record<string, unknown> => ({
  ...base,
  ...fingerprintOf(chunk),
  choices: objects(chunk['choices']),
})
