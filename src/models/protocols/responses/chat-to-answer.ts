/** Writes whole answers as OpenAI's Responses API does, from the shape of Chat Completions. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import type { Usage } from '../../meter.ts'
import { objectsIn, textOf } from '../reading.ts'
import { TurnReasoning } from '../turn-reasoning.ts'
import { type ToolNames, toolNames } from './read-tools.ts'

/** The members that all answers of one run share: their id, made of `run_…`, and the request's. */
export type ResponseBase = {
  /** `resp_` and what follows `run_` in the run's id. */
  id: string
  model: string
  /** Unix seconds. */
  createdAt: number
  asked: JsonObject
  /** Whether it is kept for a next turn; until its items are there, whether it is to be. */
  stores?: ((output?: readonly Json[]) => boolean) | undefined
}

/** The facts that come with the end: the receipt and the cost, beside the usage. */
export type PaidUsage = { usage: Usage; counterfoil: Json }

type Status = 'in_progress' | 'completed' | 'incomplete' | 'failed'

/** The answer object, as far as it has come. */
export function toResponse(
  { id, model, createdAt, asked, stores }: ResponseBase,
  status: Status,
  output: readonly Json[],
  more: JsonObject = {},
): JsonObject {
  return {
    id,
    object: 'response',
    created_at: createdAt,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: asked['instructions'] ?? null,
    max_output_tokens: asked['max_output_tokens'] ?? null,
    metadata: asked['metadata'] ?? {},
    model,
    output: [...output],
    parallel_tool_calls: asked['parallel_tool_calls'] ?? true,
    previous_response_id: asked['previous_response_id'] ?? null,
    reasoning: { effort: null, summary: null, ...objectOf(asked['reasoning']) },
    store: status !== 'failed' && stores?.(status === 'in_progress' ? undefined : output) === true,
    temperature: asked['temperature'] ?? null,
    text: asked['text'] ?? { format: { type: 'text' } },
    tool_choice: asked['tool_choice'] ?? 'auto',
    tools: asked['tools'] ?? [],
    top_p: asked['top_p'] ?? null,
    truncation: 'disabled',
    usage: null,
    ...more,
  }
}

/** The usage of a run by the names of this protocol. */
export function responseUsage({ inputTokens, outputTokens, classes = {} }: Usage): JsonObject {
  const { cache_read = 0, cache_write = 0, cache_write_1h = 0, reasoning = 0 } = classes
  const written = cache_write + cache_write_1h
  return {
    input_tokens: inputTokens,
    input_tokens_details: {
      cached_tokens: cache_read,
      ...(written > 0 ? { cache_write_tokens: written } : {}),
    },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: inputTokens + outputTokens,
  }
}

/** A whole answer, from one choice. */
export function toWholeResponse(
  base: ResponseBase,
  choice: JsonObject,
  paid: PaidUsage,
): JsonObject {
  const items = new ItemList(base)
  const message = objectOf(choice['message'])
  const calls = objectsIn(message['tool_calls'])
  const reasoning = new TurnReasoning(base.model)
  const words = reasoning.add(message)
  for (const call of calls) reasoning.addCall(textOf(call['id']), call)
  if (words !== '' || reasoning.isSealed) items.addReasoning(words, reasoning.seal())
  items.addText(textOf(message['content']))
  items.addRefusal(textOf(message['refusal']))
  for (const call of calls) items.addCall(call)
  return finished(base, items.done(), choice['finish_reason'], paid)
}

/** Why an answer is incomplete, by how its choice finished. */
const shortfalls = new Map([
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
])

export function finished(
  base: ResponseBase,
  output: readonly Json[],
  finish: Json | undefined,
  { usage, counterfoil }: PaidUsage,
): JsonObject {
  const why = shortfalls.get(textOf(finish))
  const more = { usage: responseUsage(usage), counterfoil }
  if (why === undefined) return toResponse(base, 'completed', output, more)
  return toResponse(base, 'incomplete', output, { incomplete_details: { reason: why }, ...more })
}

/** The items of an answer as they come. */
export type Item = { kind: 'reasoning' | 'message' | 'call'; value: JsonObject; key: Json }

/** Gathers items and names them after the answer they are part of. */
export class ItemList {
  private readonly items: Item[] = []
  private names: ToolNames | undefined

  constructor(private readonly base: Pick<ResponseBase, 'id' | 'asked'>) {}

  addReasoning(text: string, sealed: string): void {
    const item = { ...reasoningItem(this.nextId('rs'), text), encrypted_content: sealed }
    this.begin('reasoning', item, null)
  }

  addText(text: string): void {
    if (text === '') return
    this.begin('message', messageItem(this.nextId('msg'), [partOf('output_text', text)]), null)
  }

  addRefusal(refusal: string): void {
    if (refusal === '') return
    this.begin('message', messageItem(this.nextId('msg'), [partOf('refusal', refusal)]), null)
  }

  addCall(call: JsonObject): void {
    this.begin('call', this.callItem(textOf(call['id']), readCall(call)), call['id'] ?? null)
  }

  /** The item of a call: its tool as the request named it. */
  callItem(callId: string, { isCustom, name, text }: Call): JsonObject {
    this.names ??= toolNames(this.base.asked)
    const place = this.names.placeOf(name)
    return {
      id: this.nextId(isCustom ? 'ctc' : 'fc'),
      type: isCustom ? 'custom_tool_call' : 'function_call',
      status: 'in_progress',
      call_id: callId,
      name: place.name,
      ...(place.namespace === undefined ? {} : { namespace: place.namespace }),
      [isCustom ? 'input' : 'arguments']: text,
    }
  }

  begin(kind: Item['kind'], value: JsonObject, key: Json): Item {
    const item = { kind, value, key }
    this.items.push(item)
    return item
  }

  get last(): Item | undefined {
    return this.items.at(-1)
  }

  get size(): number {
    return this.items.length
  }

  nextId(prefix: string): string {
    return `${prefix}_${this.base.id.slice('resp_'.length)}_${this.items.length}`
  }

  done(): JsonObject[] {
    return this.items.map(({ value }) =>
      'status' in value ? { ...value, status: 'completed' } : value,
    )
  }
}

export const reasoningItem = (id: string, text: string): JsonObject => ({
  id,
  type: 'reasoning',
  summary: text === '' ? [] : [{ type: 'summary_text', text }],
  status: 'in_progress',
})

export const messageItem = (id: string, content: Json[]): JsonObject => ({
  id,
  type: 'message',
  role: 'assistant',
  status: 'in_progress',
  content,
})

type Call = { isCustom: boolean; name: string; text: string }

export function readCall(call: JsonObject): Call {
  const { custom } = call
  if (isObject(custom)) {
    return { isCustom: true, name: textOf(custom['name']), text: textOf(custom['input']) }
  }
  const of = objectOf(call['function'])
  return { isCustom: false, name: textOf(of['name']), text: textOf(of['arguments']) }
}

/** The one part of a message. */
export const partOf = (type: 'output_text' | 'refusal', text: string): JsonObject =>
  type === 'refusal' ? { type, refusal: text } : { type, text, annotations: [], logprobs: [] }
