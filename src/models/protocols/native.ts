/**
 * Requests and answers that are handed on as they came, because the agent and the model server
 * speak the same protocol: only so do caches of prompts work, and signatures of reasoning hold.
 */
import { type JsonObject, objectOf } from '../../kernel/json-object.ts'
import type { Model } from '../model.ts'
import { leastBudget } from './efforts.ts'
import type { GatheredAnswer } from './gathered-answer.ts'
import { gatherMessage, MessageCollector } from './messages/collect.ts'
import { type NativeReading, readNative } from './native/read.ts'
import type { Protocol } from './protocol.ts'
import { gatherResponse, ResponseCollector } from './responses/collect.ts'
import type { Translation } from './translation.ts'

/** A request as it came, in a protocol other than Chat Completions. */
export type Native = NativeReading & {
  protocol: Exclude<Protocol, 'chat'>
  /** The headers of its protocol that came with it. */
  headers: Readonly<Record<string, string>>
  /** Members, tools and betas that came with it and do not go on. */
  ignored: readonly string[]
}

const passing: Record<Native['protocol'], readonly string[]> = {
  messages: ['anthropic-version', 'anthropic-beta'],
  responses: ['openai-beta'],
}

/**
 * Reads a request for servers of its own protocol, with the headers that they need. No others go
 * on.
 * @throws Refusal `invalid_request` with `param`
 */
export function nativeOf(
  protocol: Native['protocol'],
  body: JsonObject,
  { headers, model }: { headers: Headers; model: Model },
): Native {
  const found: Record<string, string> = {}
  const ignored: string[] = []
  for (const name of passing[protocol]) {
    const value = headers.get(name)
    if (value === null || !/^[\t -~]{1,2048}$/.test(value)) continue
    const withheld = name === 'anthropic-beta' ? widening(value, model.contextTokens) : undefined
    const kept = withheld ? betasOf(value).filter((one) => !withheld.includes(one)) : [value]
    if (withheld) ignored.push(...withheld)
    if (kept.length > 0) found[name] = kept.join(',')
  }
  const reading = readNative(protocol, { model, body, ignored })
  return { ...reading, protocol, headers: found, ignored: ignored.sort() }
}

const betasOf = (value: string): string[] => value.split(',').map((beta) => beta.trim())

/**
 * The betas that widen a model's context beyond the one that bounds its holds: what it reads past
 * that is billed to the operator alone. Undefined where there are none.
 */
function widening(value: string, contextTokens: number): string[] | undefined {
  if (!/context-/i.test(value)) return undefined
  const found = betasOf(value).filter((beta) => {
    const [, count, unit] = /^context-(\d+)([km])(-|$)/i.exec(beta) ?? []
    return Number(count) * (unit?.toLowerCase() === 'm' ? 1e6 : 1e3) > contextTokens
  })
  return found.length > 0 ? found : undefined
}

/** Gathers the events of a stream that is handed on. */
export type NativeCollector = {
  add(event: JsonObject): void
  /** Notes that the client left: what comes from now on is dropped. */
  leave(): void
  /** Counts an event that is not delivered, without keeping it. */
  drop(event: JsonObject): void
  /** Takes the report of an event whose output is not delivered. */
  noteUsage(event: JsonObject): void
  answer(): GatheredAnswer
}

type ProtocolHandler = {
  /** The name of the limit of the answer. */
  limit: string
  gather(answer: JsonObject): GatheredAnswer
  collector(): NativeCollector
  /** Whether an event ends the answer, so that it waits for the COMMIT. */
  isFinishing(event: JsonObject): boolean
}

const handling: Record<Native['protocol'], ProtocolHandler> = {
  messages: {
    limit: 'max_tokens',
    gather: gatherMessage,
    collector: () => new MessageCollector(),
    isFinishing: ({ type }) => type === 'message_delta' || type === 'message_stop',
  },
  responses: {
    limit: 'max_output_tokens',
    gather: gatherResponse,
    collector: () => new ResponseCollector(),
    isFinishing: ({ type }) => type === 'response.completed' || type === 'response.incomplete',
  },
}

/** Lowers what a model may think where the limit of its answer was lowered below that. */
function lowerThinking(body: JsonObject, ignored: string[]): void {
  const { max_tokens: most, thinking } = body
  const { budget_tokens: budget } = objectOf(thinking)
  if (typeof most !== 'number' || typeof budget !== 'number' || budget < most) return
  ignored.push('thinking.budget_tokens')
  if (most > leastBudget) body['thinking'] = { ...objectOf(thinking), budget_tokens: most - 1 }
  else delete body['thinking']
}

/** The request as it goes to a server of its own protocol, under the server's name of the model. */
export function nativeRequest(
  { protocol, members, ignored }: Native,
  to: { model: string; maxTokens: number },
): Translation {
  const body: JsonObject = { model: to.model, [handling[protocol].limit]: to.maxTokens, ...members }
  const left = [...ignored]
  if (protocol === 'messages') lowerThinking(body, left)
  else body['store'] = false
  return { body, ignored: left.sort() }
}

/** Members that a server of Anthropic's protocol counts by; it refuses others. */
const counted = new Set([
  ...['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'cache_control'],
  ...['context_management', 'output_config'],
])

/** The question how many tokens a message has, for a server of its protocol. */
export function countRequest(native: Native, model: string): JsonObject {
  const to = { model, maxTokens: Number.MAX_SAFE_INTEGER }
  const { body } = nativeRequest(native, to)
  return Object.fromEntries(Object.entries(body).filter(([name]) => counted.has(name)))
}

export const gatherNative = (protocol: Native['protocol'], answer: JsonObject): GatheredAnswer =>
  handling[protocol].gather(answer)

export const nativeCollector = (protocol: Native['protocol']): NativeCollector =>
  handling[protocol].collector()

export const isFinishing = (protocol: Native['protocol'], event: JsonObject): boolean =>
  handling[protocol].isFinishing(event)
