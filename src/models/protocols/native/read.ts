/** Reads a request that goes on as it came: its members, and the facts that bound it. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, isSet, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { refuseField } from '../../../kernel/refusal.ts'
import type { Limit } from '../../bound.ts'
import { checkDepth } from '../../chat-content.ts'
import type { MediaTokens } from '../../media.ts'
import type { Model } from '../../model.ts'
import { isEnvelope } from '../envelope.ts'
import type { Protocol } from '../protocol.ts'
import { objectsIn, textOf } from '../reading.ts'
import { withoutStatus } from '../responses/items.ts'
import { refuseStored } from '../responses/request-to-chat.ts'
import { isUnstored, reasoningItems, refuseItemReference } from '../responses/unstored.ts'
import { Content, type EncodedMember } from './content.ts'
import { ToolRules } from './tools.ts'

/** Messages of one request, and items. */
const mostTurns = { messages: 10_000, responses: 50_000 } as const

/** A request after the walk over it. */
export type NativeReading = {
  /** Its members, without the name of the model and the limit of the answer. */
  members: JsonObject
  /** The most tokens of the answer as the client has it: its name and its value. */
  limit: Limit
  /** UTF-8 bytes of its JSON, without the base64 of images and files that are bounded by rules. */
  bytes: number
  /** Tokens that are not in those bytes: tools that vendors describe, or that are named again. */
  moreTokens: number
  /** Messages or items, and the instructions before them. */
  pieces: number
  media: MediaTokens | undefined
  encoded: readonly EncodedMember[]
  searches: number
  /** How often the model server may read all of it once more, by itself. */
  readings: number
}

export type Reading = { model: Model; body: JsonObject; ignored: string[] }

/**
 * Walks once over a request, in time that grows with its length.
 * @throws Refusal `invalid_request` with `param` for what bills outside the meters of the model, or
 * needs what is not stored here
 */
export function readNative(
  protocol: Exclude<Protocol, 'chat'>,
  { model, body, ignored }: Reading,
): NativeReading {
  checkDepth(body)
  if (protocol === 'responses') refuseStored(body)
  refuseUnpriced(body)
  const members = membersOf({ body, protocol, pass: model.pass ?? [] }, ignored)
  const tools = new ToolRules(model, protocol, members['max_tool_calls'], ignored)
  const content = new Content(model, tools)
  const name = protocol === 'messages' ? 'messages' : 'input'
  members[name] = turnsIn(members[name], { protocol, content, ignored })
  if (isSet(members['tools'])) members['tools'] = tools.listOf(members['tools'], 'tools')
  tools.settleChoice(members)
  if (protocol === 'messages') {
    content.take(members['system'], 'system', true)
    dropRepeatingEdits(members, ignored)
  } else adaptResponses(members, ignored)
  const encoded = content.encoded.reduce((sum, { length }) => sum + length, 0)
  const { system, instructions } = members
  return {
    members,
    limit: limitIn(protocol, body),
    bytes: Buffer.byteLength(JSON.stringify(members)) - encoded,
    moreTokens: tools.tokens + bytesNamed(content.references, members['tools']),
    pieces: piecesIn(members[name]) + (isSet(system ?? instructions) ? 1 : 0),
    media: content.media,
    encoded: content.encoded,
    searches: tools.searches,
    readings: tools.readings,
  }
}

function limitIn(protocol: Protocol, body: JsonObject): Limit {
  if (protocol !== 'messages') return ['max_output_tokens', body['max_output_tokens']]
  if (isSet(body['max_tokens'])) return ['max_tokens', body['max_tokens']]
  refuseField('max_tokens', 'Send max_tokens: the most tokens of the answer.')
}

type Turns = { protocol: Exclude<Protocol, 'chat'>; content: Content; ignored: string[] }

function turnsIn(came: Json | undefined, { protocol, content, ignored }: Turns): Json {
  const name = protocol === 'messages' ? 'messages' : 'input'
  const own = protocol === 'messages' ? messagesWithout(came) : itemsWithout(came)
  if (own) ignored.push(protocol === 'messages' ? 'thinking' : reasoningItems)
  const turns = own ?? came
  if (protocol === 'responses' && typeof turns === 'string') return turns
  if (!Array.isArray(turns) || turns.length === 0) {
    refuseField(name, `Send ${name} as a list of at least one object.`)
  }
  const most = mostTurns[protocol]
  if (turns.length > most) {
    refuseField(name, `Send at most ${most.toLocaleString('en-US')} in this list.`)
  }
  if (protocol === 'messages') return content.turnsOf(turns, name) as Json[]
  const left = turns.filter((item, at) => {
    const isLeft = !isUnstored(item)
    if (isLeft) refuseItemReference(item, at)
    return isLeft
  })
  if (left.length < turns.length) ignored.push(reasoningItems)
  return content.turnsOf(left.map(withoutStatus), name) as Json[]
}

const piecesIn = (turns: Json | undefined): number => (Array.isArray(turns) ? turns.length : 1)

/** The bytes of the tools that are named again, each as often as it is. */
function bytesNamed(names: ReadonlyMap<string, number> | undefined, tools: Json | undefined) {
  if (!names) return 0
  return objectsIn(tools).reduce((sum, tool) => {
    const times = names.get(textOf(tool['name'])) ?? 0
    return times === 0 ? sum : sum + times * Buffer.byteLength(JSON.stringify(tool))
  }, 0)
}

/** Leaves what clears: other edits run the model once more, beside the usage that is reported. */
function dropRepeatingEdits(members: JsonObject, ignored: string[]): void {
  const management = objectOf(members['context_management'])
  const edits = objectsIn(management['edits'])
  const clearing = edits.filter(({ type }) => textOf(type).startsWith('clear_'))
  if (clearing.length === edits.length) return
  members['context_management'] = { ...management, edits: clearing }
  ignored.push('context_management.edits')
}

function adaptResponses(members: JsonObject, ignored: string[]): void {
  // A server that shortens the conversation by itself reads it once more.
  if (isSet(members['context_management'])) {
    delete members['context_management']
    ignored.push('context_management')
  }
  if (!isObject(members['reasoning'])) return
  const { mode, ...reasoning } = members['reasoning']
  // The output of another mode is not known to be bounded.
  if (!isSet(mode) || mode === 'standard') return
  members['reasoning'] = reasoning
  ignored.push('reasoning.mode')
}

/**
 * Whether a block or an item holds an envelope of ours. Only the server whose reasoning it holds
 * knows it; one that reads it as its own refuses the request.
 */
const isOurs = (block: Json): boolean =>
  isObject(block) && (isEnvelope(block['signature']) || isEnvelope(block['encrypted_content']))

const hasOurs = (message: Json): message is JsonObject =>
  isObject(message) && Array.isArray(message['content']) && message['content'].some(isOurs)

/** Items of Responses without envelopes; undefined if there are none. */
function itemsWithout(input: Json | undefined): Json[] | undefined {
  if (!Array.isArray(input) || !input.some(isOurs)) return undefined
  return input.filter((item) => !isOurs(item))
}

/** Messages without envelopes, and without those that held nothing else; undefined if none has. */
function messagesWithout(messages: Json | undefined): Json[] | undefined {
  if (!Array.isArray(messages) || !messages.some(hasOurs)) return undefined
  return messages.flatMap((message) => {
    if (!hasOurs(message) || !Array.isArray(message['content'])) return [message]
    const content = message['content'].filter((block) => !isOurs(block))
    return content.length > 0 ? [{ ...message, content }] : []
  })
}

/** Members that say how the answer travels, or are answered here. */
const ours: ReadonlySet<string> = new Set(['model', 'stream', 'fit', 'store', 'tags'])

/** Every name of an answer's limit and of several answers: a server could heed more than one. */
const limits = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'best_of',
]

/**
 * Members that proxies between here and the model read: another model, another address, another
 * key, more headers. They would send the operator's request elsewhere.
 */
const steering = [
  'models',
  'fallback_models',
  'provider',
  'route',
  'preset',
  'plugins',
  'api_base',
  'base_url',
  'api_key',
  'extra_headers',
  'extra_body',
  'custom_llm_provider',
  // Headers of betas are looked through; in the body they would not be.
  'anthropic_beta',
  'betas',
  // It would become the prototype of what goes on.
  '__proto__',
]

/** Members that stay behind and are named, unless the operator lets them pass. */
const withheld: ReadonlySet<string> = new Set([...limits, ...steering])

/** The values with which a member asks for nothing that bills otherwise; any other is refused. */
const harmless: ReadonlyMap<string, (value: Json) => boolean> = new Map([
  ['container', () => false],
  ['mcp_servers', (value: Json) => Array.isArray(value) && value.length === 0],
  ['speed', (value: Json) => value === 'standard'],
  ['inference_geo', (value: Json) => value === 'global'],
  ['billing_policy', () => false],
  ['fallbacks', (value: Json) => Array.isArray(value) && value.length === 0],
  ['fallback_credit_token', () => false],
  ['background', (value: Json) => value === false],
  ['n', (value: Json) => value === 1],
  ['audio', () => false],
  ['modalities', (value: Json) => Array.isArray(value) && value.every((one) => one === 'text')],
  ['web_search_options', () => false],
  ['search_parameters', (value: Json) => isObject(value) && value['mode'] === 'off'],
])

const words: ReadonlyMap<string, string> = new Map([
  ['speed', 'Only the standard speed has a price here. Leave "speed" out.'],
  ['background', 'Use POST /v1/runs with "background": true, or leave it out.'],
  ['n', 'Send "n" as 1, or leave it out: this protocol has one answer.'],
  ['inference_geo', 'Only inference anywhere has a price here. Leave "inference_geo" out.'],
])

/** @throws Refusal `invalid_request` for a member that would bill what has no rate here */
function refuseUnpriced(body: JsonObject): void {
  for (const [name, isHarmless] of harmless) {
    const value = body[name]
    if (!isSet(value) || isHarmless(value)) continue
    refuseField(name, words.get(name) ?? `"${name}" is not served here. Leave it out.`)
  }
}

/** The members that go on, without the limit of the answer; what stays behind is noted. */
function membersOf(
  { body, protocol, pass }: { body: JsonObject; protocol: Protocol; pass: readonly string[] },
  ignored: string[],
): JsonObject {
  const members: JsonObject = {}
  const limit = protocol === 'messages' ? 'max_tokens' : 'max_output_tokens'
  for (const name in body) {
    const value = body[name]
    if (!isSet(value) || name === limit || ours.has(name)) continue
    // They become tags, and nothing else that a server keeps.
    if (name === 'metadata' && protocol === 'responses') continue
    if (!withheld.has(name) || pass.includes(name)) members[name] = value
    else if (value !== false) ignored.push(name)
  }
  return members
}
