import type { JsonObject } from '../../src/kernel/json-object.ts'
import { modelToml, neverOpens, upstreamToml } from './runs.ts'

/** What a test asks a door for. */
export type Asking = {
  model: string
  text: string
  stream?: boolean
  /** The most tokens of the answer. */
  most?: number
}

/** What a door answered, whole or as a stream. */
export type Heard = {
  text: string
  /** The id and the cost that the answer names beside its usage. */
  receipt: string | undefined
  cost: number | undefined
  /** Tokens read and written as the answer has them. */
  used: [input: number, output: number] | undefined
  /** Our type of the error, if it is one or ends with one. */
  error: string | undefined
  /** Whether it came to its end. */
  isWhole: boolean
}

/** A door that runs of models go through, in its own protocol. */
export type Door = {
  name: 'chat' | 'messages' | 'responses' | 'runs'
  path: string
  /** What the door names the most tokens of an answer. */
  limit: string
  body(asking: Asking): JsonObject
  read(text: string): Heard
}

type Shape = Record<string, ReturnType<typeof JSON.parse>>

/** The data of the frames of a stream, or the one body of a whole answer. */
function partsOf(text: string): { isStream: boolean; parts: Shape[] } {
  const isStream = /^(event|data|:)/.test(text)
  if (!isStream) return { isStream, parts: [JSON.parse(text)] }
  const lines = text.split('\n').filter((line) => line.startsWith('data: {'))
  return { isStream, parts: lines.map((line) => JSON.parse(line.slice('data: '.length))) }
}

const paidIn = (told: Shape | undefined) => ({
  receipt: told?.['receipt']?.id as string | undefined,
  cost: told?.['cost_nusd'] as number | undefined,
})

export const chatDoor: Door = {
  name: 'chat',
  path: '/v1/chat/completions',
  limit: 'max_tokens',
  body: ({ model, text, stream = false, most }) => ({
    model,
    messages: [{ role: 'user', content: text }],
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
    ...(most === undefined ? {} : { max_tokens: most }),
  }),
  read(text) {
    const { isStream, parts } = partsOf(text)
    const choices = parts.map((part) => part['choices']?.[0] ?? {})
    const { receipt } = parts.findLast((part) => part['receipt']) ?? {}
    const { usage } = parts.findLast((part) => part['usage']) ?? {}
    return {
      text: choices.map((one) => one.delta?.content ?? one.message?.content ?? '').join(''),
      receipt: receipt?.id,
      cost: receipt?.cost_nusd,
      used: usage && [usage.prompt_tokens, usage.completion_tokens],
      error: parts.at(-1)?.['error']?.type,
      isWhole: isStream ? text.endsWith('data: [DONE]\n\n') : choices[0]?.message !== undefined,
    }
  },
}

export const messagesDoor: Door = {
  name: 'messages',
  path: '/v1/messages',
  limit: 'max_tokens',
  body: ({ model, text, stream = false, most = 1000 }) => ({
    model,
    messages: [{ role: 'user', content: text }],
    stream,
    max_tokens: most,
  }),
  read(text) {
    const { isStream, parts } = partsOf(text)
    const { error, content, ...last } = parts.at(-1) ?? {}
    const { counterfoil, usage } = parts.findLast((part) => part['counterfoil']) ?? {}
    const blocks: Shape[] = content ?? parts.map(({ delta }) => delta ?? {})
    const start = parts.find(({ type }) => type === 'message_start')?.['message']
    const input = usage?.input_tokens ?? start?.usage?.input_tokens
    return {
      text: blocks.map((block) => block['text'] ?? '').join(''),
      ...paidIn(counterfoil),
      used: usage && [input, usage.output_tokens],
      error: error?.details?.type,
      isWhole: last['type'] === (isStream ? 'message_stop' : 'message'),
    }
  },
}

export const responsesDoor: Door = {
  name: 'responses',
  path: '/v1/responses',
  limit: 'max_output_tokens',
  body: ({ model, text, stream = false, most }) => ({
    model,
    input: [{ role: 'user', content: text }],
    stream,
    ...(most === undefined ? {} : { max_output_tokens: most }),
  }),
  read(text) {
    const { isStream, parts } = partsOf(text)
    const last: Shape = parts.at(-1) ?? {}
    const { output, usage, counterfoil, status, error }: Shape = isStream
      ? (last['response'] ?? {})
      : last
    const items: Shape[] = output ?? []
    const whole = items.flatMap((item) => item['content'] ?? []).map((part) => part.text ?? '')
    const pieces = parts
      .filter(({ type }) => type === 'response.output_text.delta')
      .map(({ delta }) => delta)
    return {
      text: (isStream ? pieces : whole).join(''),
      ...paidIn(counterfoil),
      used: usage && [usage.input_tokens, usage.output_tokens],
      error: error?.type ?? error?.code,
      isWhole: status === 'completed',
    }
  },
}

/** The door of our own, which the three are measured by. */
export const runsDoor: Door = {
  name: 'runs',
  path: '/v1/runs',
  limit: 'max_output_tokens',
  body: ({ model, text, stream = false, most }) => ({
    model,
    input: text,
    stream,
    ...(most === undefined ? {} : { max_output_tokens: most }),
  }),
  read(text) {
    const { isStream, parts } = partsOf(text)
    const last: Shape = parts.at(-1) ?? {}
    const run: Shape = (isStream ? last['run'] : last) ?? {}
    const choices: Shape[] = isStream
      ? parts.map((part) => part['choices']?.[0] ?? {})
      : (run['output'] ?? [])
    return {
      text: choices.map((one) => one['delta']?.content ?? one['message']?.content ?? '').join(''),
      receipt: last['receipt']?.id,
      cost: last['receipt']?.cost_nusd,
      used: undefined,
      error: last['error']?.type,
      isWhole: run['status'] === 'succeeded',
    }
  },
}

export const doors: readonly Door[] = [chatDoor, messagesDoor, responsesDoor]

/** The kinds of model servers, by the protocol that each speaks. */
export const wires = ['openai', 'anthropic', 'responses'] as const
export type Wire = (typeof wires)[number]

/** A door before a model server. */
export type Pair = { door: Door; wire: Wire; isNative: boolean }

const native: Record<Wire, Door['name']> = {
  openai: 'chat',
  anthropic: 'messages',
  responses: 'responses',
}
const pairOf = (door: Door, wire: Wire): Pair => ({
  door,
  wire,
  isNative: door.name !== 'chat' && native[wire] === door.name,
})

/** Our own door, before a server of Chat Completions. */
export const runsBefore: Pair = pairOf(runsDoor, 'openai')

/** All nine. */
export const allPairs: readonly Pair[] = doors.flatMap((door) =>
  wires.map((wire) => pairOf(door, wire)),
)

/** Every way in which an answer goes out: translated by each door, and as it came. */
export const pairs: readonly Pair[] = allPairs.filter(
  ({ wire, isNative }) => isNative || wire === 'openai',
)

/** The old door, whose tests run on every engine. */
export const chatBefore: Pair = pairs[0] ?? pairOf(chatDoor, 'openai')

export const nameOf = ({ door, wire }: Pair): string => `${door.name} before ${wire}`

/** A stub as one upstream of each kind, with models `<wire>/<name>`. */
export const wiredToml = (url: string, names: readonly string[], more = neverOpens): string =>
  wires
    .map(
      (wire) =>
        upstreamToml(wire, url, `kind = "${wire}"\n${more}`) +
        names.map((name) => modelToml(`${wire}/${name}`, `"${wire}:${name}"`)).join(''),
    )
    .join('')

/** UTF-8 bytes of what a run of this text is charged to have read, where they are counted. */
export function inputBytesOf({ door, isNative }: Pair, asking: Asking): number {
  const { messages } = chatDoor.body(asking)
  // The name of the model and what says how to answer are not read by it.
  const { model, stream, [door.limit]: most, ...said } = door.body(asking)
  const read = isNative ? said : { messages: messages ?? [] }
  return Buffer.byteLength(JSON.stringify(read))
}
