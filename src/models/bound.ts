/** The most tokens a request can use, known before it runs. */
import type { Json } from '../kernel/canonical.ts'
import { type Body, checkDepth, isSet, refuseField } from './body.ts'
import { addUnsent, checkChat, toMessages } from './chat-content.ts'
import { checkEmbedding } from './embedding-content.ts'
import { withoutMedia } from './media.ts'
import type { UsageClass } from './meter.ts'
import type { Model, RouteStep } from './model.ts'
import { countRead, type Read } from './read-texts.ts'
import { ordinaryTiers } from './tiers.ts'
import type { Tokenizer } from './tokenizers/tokenizer.ts'

/** The most a request can use, known before it runs. Tokens; what a hold is made of. */
export type Bound = {
  inputTokens: number
  /** Of all choices together. */
  outputTokens: number
  /** Of one choice, as it is sent upstream; 0 for an embedding. */
  maxTokens: number
  /** How many choices. */
  n: number
  /** UTF-8 bytes of the JSON that goes upstream, for counting if no usage is reported. */
  inputBytes: number
  /** The tokens of its text, if a tokenizer counted them. */
  countedText?: number | undefined
  /** What its images and files likely have, for counting; their bytes `inputBytes` leaves out. */
  countedMedia?: number | undefined
  /** The tier of service that the request asks for, if the model has rates for it. */
  tier?: string | undefined
  /** The classes that it can use, which its hold takes the dearest rate of; all when undefined. */
  held?: ReadonlySet<UsageClass> | undefined
  /** Searches that the model server may make by itself; with any, a run reads more than once. */
  webSearches?: number | undefined
  /** The most input and output of one choice together, where that is less than both. */
  contextTokens?: number | undefined
  /** Whether `maxTokens` is below what the request asked for. */
  isLowered?: true
}

/** What of a chat request goes upstream. Everything else is ours, unpriced or unknown. */
const chatFields = new Set([
  'messages',
  'frequency_penalty',
  'function_call',
  'functions',
  'logit_bias',
  'logprobs',
  'n',
  'parallel_tool_calls',
  'presence_penalty',
  'reasoning_effort',
  'response_format',
  'seed',
  'service_tier',
  'stop',
  'temperature',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'user',
  'verbosity',
])

const embeddingFields = new Set(['input', 'dimensions', 'encoding_format', 'user'])

const maxChoices = 128

/**
 * The upper bound of a request. Its text is counted by the model's `tokenizer`, which the caller
 * has loaded; else a token is at least one byte of what is tokenised, and all of that
 * is in the JSON we send, so the JSON's bytes and the model's overhead bound the input;
 * `max_tokens`, which is always sent, bounds the output. What a model reads and writes fits its
 * context, or its server refuses the request, so the context bounds each and both together. Bytes
 * overestimate, so a bound above the context refuses nothing and lowers no `max_tokens`.
 * @param nativeBytes of the same request as it came in another protocol, if it may go on so
 * @throws Refusal 'invalid_request'
 */
export function boundOf(model: Model, body: Body, tokenizer?: Tokenizer, nativeBytes = 0): Bound {
  checkDepth(body)
  return model.kind === 'chat'
    ? boundOfChat(model, body, { tokenizer, nativeBytes })
    : boundOfEmbedding(model, body, tokenizer)
}

type Counted = { tokenizer: Tokenizer | undefined; nativeBytes: number }

function boundOfChat(model: Model, body: Body, { tokenizer, nativeBytes }: Counted): Bound {
  const { messages, media } = checkChat(model, body)
  const n = choicesOf(body)
  // A token that is read leaves one less to write, and the other way round.
  const context = contextOf(model)
  const asked = askedTokens(model, body)
  const maxTokens = Math.min(asked, model.maxOutputTokens, context - 1)
  const content = contentOf(model, body)
  if (media) content['messages'] = withoutMedia(content['messages'] ?? [])
  const ownBytes = bytesOf(content)
  const inputBytes = Math.max(ownBytes, nativeBytes)
  // What only the other protocol can say, such as signed reasoning, is read as well.
  const more = inputBytes - ownBytes
  const read = readOf(model, content, ownBytes, tokenizer)
  const text = read.most + Math.ceil(more / (model.holdBytesPerToken ?? 1))
  const most = text + overheadOf(model, messages) + (media?.most ?? 0)
  const inputTokens = Math.min(most, context - 1)
  const bound: Bound = { inputTokens, outputTokens: maxTokens * n, maxTokens, n, inputBytes }
  if (tokenizer) bound.countedText = read.likely + Math.ceil(more / model.bytesPerToken)
  if (media) bound.countedMedia = media.likely
  if (maxTokens < asked) bound.isLowered = true
  if (inputTokens + maxTokens > context) bound.contextTokens = context
  const tier = tierOf(model, body['service_tier'])
  if (tier !== undefined) bound.tier = tier
  return bound
}

/** A tier is asked for by a name that the model has rates for, or it is the ordinary one. */
function tierOf({ id, prices }: Model, tier: Json | undefined): string | undefined {
  if (!isSet(tier)) return undefined
  if (typeof tier !== 'string') refuseField('service_tier', 'Send service_tier as text.')
  if (ordinaryTiers.has(tier)) return undefined
  const tiers = prices.card?.tiers.map(({ name }) => name) ?? []
  if (tiers.includes(tier)) return tier
  const others = tiers.length === 0 ? '' : ` Its tiers: ${tiers.join(', ')}.`
  refuseField('service_tier', `${id} has no rates for this tier; leave service_tier out.${others}`)
}

function boundOfEmbedding(model: Model, body: Body, tokenizer: Tokenizer | undefined): Bound {
  const { inputs, tokens } = checkEmbedding(model, body)
  const content = contentOf(model, body)
  const inputBytes = bytesOf(content)
  // Token numbers are counted.
  const read = tokens ?? readOf(model, content, inputBytes, tokenizer).most
  const most = read + overheadOf(model, inputs)
  // Each input has a context of its own.
  const inputTokens = Math.min(most, contextOf(model) * inputs)
  return { inputTokens, outputTokens: 0, maxTokens: 0, n: 1, inputBytes }
}

/**
 * The body that a step of the route is sent, after {@link boundOf} let it pass. `maxTokens` is
 * the bound's, or less; it goes by the name the client used for it. Whether to stream is for the
 * upstream to say. Members that do not go on are named in `unsent`.
 */
export function forwardBody(
  model: Model,
  body: Body,
  step: RouteStep,
  maxTokens: number,
  unsent: string[] = [],
): Body {
  const content = contentOf(model, body, unsent)
  if (content['messages'] !== body['messages']) addUnsent(body['messages'], unsent)
  const forwarded: Body = { model: step.model, ...content }
  if (model.kind === 'embedding') return forwarded
  const isNew = isSet(body['max_completion_tokens'])
  forwarded[isNew ? 'max_completion_tokens' : 'max_tokens'] = maxTokens
  return forwarded
}

/** The members of a request that go upstream as the client wrote them. */
function contentOf(model: Model, body: Body, unsent?: string[]): Body {
  const fields = model.kind === 'chat' ? chatFields : embeddingFields
  const content: Body = {}
  for (const field in body) {
    const value = body[field]
    if (!isSet(value)) continue
    if (field === 'messages' && fields.has(field)) content[field] = toMessages(value)
    else if (fields.has(field) || isPassed(model, field)) content[field] = value
    else if (unsent && !own.has(field)) unsent.push(field)
  }
  return content
}

/** What a model's `pass` never names: how the answer travels, its limit, and what is ours. */
const own = new Set([
  ...['model', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'fit'],
  // They become tags; nothing is stored anyway.
  ...['metadata', 'tags', 'store'],
])

const isPassed = ({ pass }: Model, field: string): boolean =>
  pass?.includes(field) === true && !own.has(field)

function bytesOf(content: Body): number {
  return Buffer.byteLength(JSON.stringify(content))
}

/** The tokens of what is sent as text, as its tokenizer or its bytes say. */
function readOf(
  { holdBytesPerToken: bytesPerToken = 1, bytesPerToken: likelyBytesPerToken }: Model,
  content: Body,
  bytes: number,
  tokenizer: Tokenizer | undefined,
): Read {
  if (!tokenizer) return { most: Math.ceil(bytes / bytesPerToken), likely: 0 }
  const read = countRead(content, { tokenizer, bytesPerToken, likelyBytesPerToken })
  return { most: Math.min(bytes, read.most), likely: read.likely }
}

/** The context of a model, room for a token each way at least. Built-in ones read everything. */
export function contextOf({ contextTokens, verifiable }: Model): number {
  return verifiable === 're-executable' ? Number.MAX_SAFE_INTEGER : Math.max(2, contextTokens)
}

function overheadOf({ overhead }: Model, pieces: number): number {
  return overhead.fixed + overhead.perMessage * pieces
}

function choicesOf(body: Body): number {
  const n = body['n'] ?? 1
  if (typeof n === 'number' && Number.isInteger(n) && n >= 1 && n <= maxChoices) return n
  refuseField('n', `Send n as an integer of 1 to ${maxChoices}.`)
}

/** The most one choice is to say: the lower of what the client set, else the model's limit. */
function askedTokens(model: Model, body: Body): number {
  let asked: number | undefined
  for (const param of ['max_tokens', 'max_completion_tokens']) {
    const value = body[param]
    if (!isSet(value)) continue
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
      refuseField(param, `Send ${param} as an integer above 0.`)
    }
    asked = Math.min(asked ?? value, value)
  }
  return asked ?? model.maxOutputTokens
}
