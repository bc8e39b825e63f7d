/** The most tokens a request can use, known before it runs. */
import type { Json } from '../kernel/canonical.ts'
import { isObject, isSet, type JsonObject } from '../kernel/json-object.ts'
import { refuseField } from '../kernel/refusal.ts'
import { addUnsent, checkChat, checkDepth, toMessages } from './chat-content.ts'
import { checkEmbedding } from './embedding-content.ts'
import { type MediaTokens, withoutMedia } from './media.ts'
import type { UsageClass } from './meter.ts'
import type { Model, RouteStep } from './model.ts'
import { countRead, type TokenRange } from './read-texts.ts'
import { ordinaryTiers } from './tiers.ts'
import type { Tokenizer } from './tokenizers/tokenizer.ts'

/** The most a request can use, known before it runs. Tokens; what a hold is made of. */
export type Bound = {
  inputTokens: number
  /** The most output of all choices together. */
  outputTokens: number
  /** The most output of one choice; 0 for an embedding. */
  maxTokens: number
  /** The limit that a server gets, where that is less: another one of the route takes none. */
  limit?: number | undefined
  /** How many choices. */
  n: number
  /** UTF-8 bytes of the JSON that goes upstream, for counting if no usage is reported. */
  inputBytes: number
  /** The tokens of its text, if a tokenizer counted them. */
  countedText?: number | undefined
  /** The likely tokens of its media, for counting; `inputBytes` leaves out their bytes. */
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

/** The members of a chat request that go upstream. All others are ours, unpriced or unknown. */
const chatFields = new Set([
  'messages',
  'frequency_penalty',
  'function_call',
  'functions',
  'logit_bias',
  'logprobs',
  'n',
  'parallel_tool_calls',
  'prompt_cache_key',
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
 * @throws Refusal 'invalid_request'
 */
export function boundOf(model: Model, body: JsonObject, tokenizer?: Tokenizer): Bound {
  checkDepth(body)
  return model.kind === 'chat'
    ? boundOfChat(model, body, tokenizer)
    : boundOfEmbedding(model, body, tokenizer)
}

function boundOfChat(model: Model, body: JsonObject, tokenizer: Tokenizer | undefined): Bound {
  const { messages, media } = checkChat(model, body)
  const n = choicesOf(body)
  const asked = askedTokens(model, [
    ['max_tokens', body['max_tokens']],
    ['max_completion_tokens', body['max_completion_tokens']],
  ])
  const content = contentOf(model, body)
  if (media) content['messages'] = withoutMedia(content['messages'] ?? [])
  const inputBytes = bytesOfChat(content)
  return boundOfText(model, {
    read: readOf(model, content, inputBytes, tokenizer),
    isCounted: tokenizer !== undefined,
    inputBytes,
    pieces: messages,
    media,
    asked,
    n,
    tier: tierOf(model, body['service_tier']),
  })
}

/** The facts of a chat request that bound it, in any protocol. */
export type ChatText = {
  read: TokenRange
  /** Whether a tokenizer counted it. */
  isCounted: boolean
  inputBytes: number
  /** How many messages. */
  pieces: number
  media: MediaTokens | undefined
  /** The limit of one choice as the client has it. */
  asked: number
  n: number
  tier: string | undefined
  /** Searches that the model server may make by itself. */
  searches?: number
  /** How often it may read everything once more, which the context alone bounds. */
  readings?: number
}

export function boundOfText(model: Model, text: ChatText): Bound {
  const { read, inputBytes, pieces, media, asked, n, tier, searches = 0, readings = 0 } = text
  // A token that is read leaves one less to write, and the other way round.
  const context = contextOf(model)
  const maxTokens = Math.min(asked, model.maxOutputTokens, context - 1)
  const once = Math.min(read.most + overheadOf(model, pieces) + (media?.most ?? 0), context - 1)
  const inputTokens = once + readings * (context - 1)
  const bound: Bound = { inputTokens, outputTokens: maxTokens * n, maxTokens, n, inputBytes }
  if (text.isCounted) bound.countedText = read.likely
  if (media) bound.countedMedia = media.likely
  if (maxTokens < asked) bound.isLowered = true
  if (readings === 0 && inputTokens + maxTokens > context) bound.contextTokens = context
  if (tier !== undefined) bound.tier = tier
  if (searches > 0) bound.webSearches = searches
  return bound
}

/** A tier is asked for by a name that the model has rates for, or it is the ordinary one. */
export function tierOf({ id, prices }: Model, tier: Json | undefined): string | undefined {
  if (!isSet(tier)) return undefined
  if (typeof tier !== 'string') refuseField('service_tier', 'Send service_tier as text.')
  if (ordinaryTiers.has(tier)) return undefined
  const tiers = prices.card?.tiers.map(({ name }) => name) ?? []
  if (tiers.includes(tier)) return tier
  const others = tiers.length === 0 ? '' : ` Its tiers: ${tiers.join(', ')}.`
  refuseField('service_tier', `${id} has no rates for this tier; leave service_tier out.${others}`)
}

function boundOfEmbedding(model: Model, body: JsonObject, tokenizer: Tokenizer | undefined): Bound {
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
  body: JsonObject,
  step: RouteStep,
  maxTokens: number,
  unsent: string[] = [],
): JsonObject {
  const content = contentOf(model, body, unsent)
  if (content['messages'] !== body['messages']) addUnsent(body['messages'], unsent)
  const forwarded: JsonObject = { model: step.model, ...content }
  if (model.kind === 'embedding') return forwarded
  const isNew = isSet(body['max_completion_tokens'])
  forwarded[isNew ? 'max_completion_tokens' : 'max_tokens'] = maxTokens
  return forwarded
}

/** The members of a request that go upstream as the client wrote them. */
function contentOf(model: Model, body: JsonObject, unsent?: string[]): JsonObject {
  const fields = model.kind === 'chat' ? chatFields : embeddingFields
  const content: JsonObject = {}
  for (const field in body) {
    const value = body[field]
    if (!isSet(value)) continue
    if (field === 'messages' && fields.has(field)) content[field] = toMessages(value)
    else if (fields.has(field) || isPassed(model, field)) content[field] = value
    else if (unsent && !own.has(field)) unsent.push(field)
  }
  return content
}

/** Members that a model's `pass` never names: how the answer travels, its limit, and our own. */
const own = new Set([
  ...['model', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'fit'],
  // They become tags; nothing is stored anyway.
  ...['metadata', 'tags', 'store'],
])

const isPassed = ({ pass }: Model, field: string): boolean =>
  pass?.includes(field) === true && !own.has(field)

function bytesOf(content: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(content))
}

/** Bytes that a freeform tool, and a call of one, has more where it is sent as a function. */
const moreAsFunction = { tool: 400, call: 32 }

/** The bytes of a chat, in the longer form where its tools have two. */
function bytesOfChat(content: JsonObject): number {
  const { tools, messages } = content
  const isCustom = (one: Json): boolean => isObject(one) && isObject(one['custom'])
  const customs = Array.isArray(tools) ? tools.filter(isCustom).length : 0
  let bytes = bytesOf(content) + customs * moreAsFunction.tool
  if (!Array.isArray(messages)) return bytes
  for (const message of messages) {
    const calls = isObject(message) ? message['tool_calls'] : undefined
    if (Array.isArray(calls)) bytes += calls.filter(isCustom).length * moreAsFunction.call
  }
  return bytes
}

/** The tokens of what is sent as text, as its tokenizer or its bytes say. */
export function readOf(
  { holdBytesPerToken: bytesPerToken = 1, bytesPerToken: likelyBytesPerToken }: Model,
  content: JsonObject,
  bytes: number,
  tokenizer: Tokenizer | undefined,
): TokenRange {
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

function choicesOf(body: JsonObject): number {
  const n = body['n'] ?? 1
  if (typeof n === 'number' && Number.isInteger(n) && n >= 1 && n <= maxChoices) return n
  refuseField('n', `Send n as an integer of 1 to ${maxChoices}.`)
}

/** The name of a limit and its value, as a client has it. */
export type Limit = readonly [param: string, value: Json | undefined]

/**
 * The most one choice is to say: the lowest that the client set, else the model's limit.
 * @throws Refusal 'invalid_request'
 */
export function askedTokens(model: Model, limits: readonly Limit[]): number {
  let asked: number | undefined
  for (const [param, value] of limits) {
    if (!isSet(value)) continue
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
      refuseField(param, `Send ${param} as an integer above 0.`)
    }
    asked = Math.min(asked ?? value, value)
  }
  return asked ?? model.maxOutputTokens
}
