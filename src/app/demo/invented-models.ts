/** The upstream of a demonstration: invented models that answer inside this process. */
import type { Json } from '../../kernel/canonical.ts'
import { type Clock, toUnixSeconds } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { StopSignal } from '../../kernel/stop.ts'
import {
  type Batch,
  type JsonObject,
  type Upstream,
  type UpstreamCall,
  UpstreamFailure,
} from '../../models/upstream/upstream.ts'
import type { Dice } from './dice.ts'
import { outputTokens } from './offer.ts'
import { type AnswerUnits, answerFor, breaksThisOften, failsThisOften, unitsFor } from './words.ts'

/** Lets time pass while a model works: really, or by a clock that is moved. */
export type Pace = {
  /** Ends after so many ms, or when the signal aborts. */
  wait(ms: number, signal: StopSignal): Promise<void>
}

type Needs = { dice: Dice; pace: Pace; clock: Pick<Clock, 'now'>; ids: Pick<Ids, 'make'> }

export const demoUpstreamId = 'demo'

const thought = 'The cause must be in the retries.'
/** Texts that one request for embeddings may have. */
const maxInputs = 64

/**
 * Models that think, stream, call tools, report usage and sometimes fail, as servers elsewhere do;
 * runs meet them through the same adapter. What they say is from a list: nothing is computed.
 */
export function demoUpstream(needs: Needs): Upstream {
  const { dice, pace } = needs
  const begin = async ({ signal, mark }: UpstreamCall): Promise<void> => {
    if (signal.aborted) throw new UpstreamFailure('aborted')
    if (mark) mark.isSent = true
    await pace.wait(dice.between(250, 1400), signal)
    if (signal.aborted) throw new UpstreamFailure('aborted')
    if (!dice.chance(failsThisOften)) return
    throw dice.chance(0.5)
      ? new UpstreamFailure('error', { status: 500 })
      : new UpstreamFailure('busy', { status: 503 })
  }
  return {
    id: demoUpstreamId,
    protocol: 'chat',
    async complete(call) {
      const answer =
        call.kind === 'embedding'
          ? embeddingsOf(call.body)
          : completionOf(
              turnOf(dice, call.body, false),
              headOf(needs, 'chat.completion', call.body),
            )
      await begin(call)
      return answer
    },
    async stream(call) {
      if (call.kind !== 'chat') throw new UpstreamFailure('rejected', { status: 400 })
      const turn = turnOf(dice, call.body, true)
      await begin(call)
      const chunks = [...chunksOf(turn, headOf(needs, 'chat.completion.chunk', call.body))]
      const end = dice.chance(breaksThisOften) ? Math.floor(chunks.length / 2) : chunks.length
      return paced(chunks.slice(0, end), {
        needs,
        signal: call.signal,
        isWhole: end === chunks.length,
      })
    },
  }
}

type Turn = {
  words: string[]
  thought: string | undefined
  call: { name: string; arguments: string } | undefined
  finish: 'stop' | 'length' | 'tool_calls'
  usage: JsonObject
}

function turnOf(dice: Dice, body: JsonObject, isStream: boolean): Turn {
  if (body['n'] !== undefined && body['n'] !== null && body['n'] !== 1) {
    throw new UpstreamFailure('rejected', { status: 400 })
  }
  const most = mostOf(body)
  const call = dice.chance(0.8) ? callOf(body) : undefined
  const all = call ? ['I look it up.'] : answerFor(dice, isStream)
  const bytes = JSON.stringify(body['messages'] ?? '').length
  const asked = unitsFor(dice, bytes, { words: all.length, isStream })
  const reasoning = body['model'] === 'reasoning' ? Math.min(asked.reasoning, most) : 0
  const room = Math.max(0, most - reasoning)
  const words = asked.output > room ? all.slice(0, Math.floor(room / 2.6)) : all
  const output = Math.min(asked.output, room) + reasoning
  return {
    words,
    thought: reasoning > 0 ? thought : undefined,
    call,
    finish: asked.output > room ? 'length' : call ? 'tool_calls' : 'stop',
    usage: usageOf({ ...asked, output, reasoning }),
  }
}

function mostOf(body: JsonObject): number {
  const most = body['max_completion_tokens'] ?? body['max_tokens']
  return typeof most === 'number' && most >= 1 ? Math.min(most, outputTokens) : outputTokens
}

/** A call of the first tool, unless its result is there or none is wanted. */
function callOf({ tools, tool_choice: choice, messages }: JsonObject): Turn['call'] {
  const last = Array.isArray(messages) ? messages.at(-1) : undefined
  const [tool] = Array.isArray(tools) ? tools : []
  if (choice === 'none' || memberOf(last, 'role') === 'tool') return undefined
  const wanted = memberOf(tool, 'function')
  const name = memberOf(wanted, 'name')
  if (typeof name !== 'string') return undefined
  return { name, arguments: JSON.stringify(argumentsFor(memberOf(wanted, 'parameters'))) }
}

/** Something of the right type for each member that a tool must be given. */
function argumentsFor(parameters: Json | undefined): JsonObject {
  const required = memberOf(parameters, 'required')
  const names = Array.isArray(required) ? required.slice(0, 16).map(String) : []
  const properties = memberOf(parameters, 'properties')
  const sample = (name: string): Json => {
    const type = memberOf(memberOf(properties, name), 'type')
    if (type === 'number' || type === 'integer') return 4417
    if (type === 'boolean') return true
    if (type === 'array') return []
    return type === 'object' ? {} : '4417'
  }
  return Object.fromEntries(names.map((name) => [name.slice(0, 64), sample(name)]))
}

const memberOf = (value: Json | undefined, name: string): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    ? value[name]
    : undefined

const usageOf = (units: AnswerUnits): JsonObject => {
  const prompt = units.input + units.cache_read + units.cache_write
  return {
    prompt_tokens: prompt,
    completion_tokens: units.output,
    total_tokens: prompt + units.output,
    prompt_tokens_details: { cached_tokens: units.cache_read },
    completion_tokens_details: { reasoning_tokens: units.reasoning },
  }
}

const headOf = ({ clock, ids }: Needs, object: string, body: JsonObject): JsonObject => ({
  id: `chatcmpl-${ids.make('run').slice(4)}`,
  object,
  created: toUnixSeconds(clock.now()),
  model: body['model'] ?? '',
})

function completionOf(turn: Turn, head: JsonObject): JsonObject {
  const { words, thought, call, finish, usage } = turn
  const message = {
    role: 'assistant',
    content: words.join(''),
    refusal: null,
    ...(thought ? { reasoning_content: thought } : {}),
    ...(call ? { tool_calls: [toolCall(call)] } : {}),
  }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }]
  return { ...head, choices, usage }
}

const toolCall = (call: { name: string; arguments: string }): JsonObject => ({
  id: 'call_1',
  type: 'function',
  function: call,
})

function* chunksOf(turn: Turn, head: JsonObject): Generator<JsonObject> {
  const chunk = (delta: JsonObject, reason: string | null): JsonObject => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  })
  yield chunk({ role: 'assistant', content: '' }, null)
  if (turn.thought) yield chunk({ reasoning_content: turn.thought }, null)
  for (const content of turn.words) yield chunk({ content }, null)
  if (turn.call) yield chunk({ tool_calls: [{ index: 0, ...toolCall(turn.call) }] }, null)
  yield chunk({}, turn.finish)
  yield { ...head, choices: [], usage: turn.usage }
}

type PaceOptions = { needs: Needs; signal: StopSignal; isWhole: boolean }

/** One chunk after the other, as a model writes them. */
async function* paced(
  chunks: readonly JsonObject[],
  { needs: { dice, pace }, signal, isWhole }: PaceOptions,
): AsyncGenerator<Batch> {
  for (const chunk of chunks) {
    if (signal.aborted) throw new UpstreamFailure('aborted')
    yield [chunk]
    await pace.wait(dice.between(10, 45), signal)
  }
  if (signal.aborted) throw new UpstreamFailure('aborted')
  if (!isWhole) throw new UpstreamFailure('cut')
}

function embeddingsOf({ input, model }: JsonObject): JsonObject {
  const texts = Array.isArray(input) ? input : [input ?? '']
  if (texts.length > maxInputs || texts.some((text) => typeof text !== 'string')) {
    throw new UpstreamFailure('rejected', { status: 400 })
  }
  const tokens = Math.floor(texts.join('').length / 4.3)
  return {
    object: 'list',
    model: model ?? '',
    data: texts.map((text, index) => ({
      object: 'embedding',
      index,
      embedding: Array.from({ length: 8 }, (_, at) => ((String(text).length * (at + 3)) % 97) / 97),
    })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}
