/** Answers in OpenAI's shapes. Members are listed one by one: no other upstream field passes. */
import type { Chain } from '../access/keys/key.ts'
import type { Deps } from '../app/deps-port.ts'
import type { Json } from '../kernel/canonical.ts'
import { toUnixSeconds } from '../kernel/clock.ts'
import { toJsonInteger } from '../kernel/money.ts'
import { refuse } from '../kernel/refusal.ts'
import { unknownModel } from '../models/unknown-model.ts'
import type { JsonObject } from '../models/upstream/upstream.ts'
import type { CompletedAnswer } from './complete.ts'
import type { LiveRun } from './live-run.ts'
import { toChatUsage, toEmbeddingUsage } from './openai-usage.ts'
import type { FinishedRun } from './settlement.ts'
import type { ReceiptLink } from './shapes.ts'

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
    refuse('invalid_request', { param: 'model', message: '"model" must name a model.' })
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
