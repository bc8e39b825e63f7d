/** The console's conversation as requests and costs; runs in the server and in the browser. */
import type { Json } from '../../kernel/canonical.ts'
import type { Nusd } from '../../kernel/money.ts'
import { cachedUnitsOf, costOf, inputUnitsOf } from '../../models/meter.ts'
import { holdLines, type Prices } from '../../models/rates.ts'

/** An answered question. Pages send turns back, because the server stores no conversation. */
export type Turn = { input: string; output: string; receipt_id?: string }

/** A question with the turns before it. */
export type Ask = {
  model: string
  input: string
  max_output_tokens?: number
  /** The system prompt. */
  system?: string
  params?: { [name: string]: Json }
  turns?: readonly Turn[]
}

/** Most turns sent with a question, and their largest total length in characters. */
export const maxTurns = 8
const maxTurnChars = 32_000

/** The newest turns within both limits, oldest first. */
export function recentTurns(turns: readonly Turn[]): Turn[] {
  let chars = 0
  const fits = (turn: Turn): boolean => {
    chars += turn.input.length + turn.output.length
    return chars <= maxTurnChars
  }
  const recent = turns.slice(-maxTurns)
  const first = recent.findLastIndex((turn) => !fits(turn)) + 1
  return recent.slice(first)
}

/** The default limit of an answer, in tokens. */
const usualTokens = 1024

export const usualTokensOf = (maxOutputTokens: number): number =>
  Math.min(usualTokens, maxOutputTokens)

/**
 * The command in a message that begins with a slash and a letter; undefined for a message to a
 * model. A space before the slash makes it one.
 */
export const commandIn = (message: string): string | undefined =>
  /^\/[a-z]/i.test(message) ? message.slice(1) : undefined

/** The messages to send: the system prompt, the turns, the question. */
export function messagesOf({ system, turns = [], input }: Ask): Json[] {
  const said = turns.flatMap((turn) => [
    { role: 'user', content: turn.input },
    { role: 'assistant', content: turn.output },
  ])
  const told = system ? [{ role: 'system', content: system }] : []
  return [...told, ...said, { role: 'user', content: input }]
}

type Overhead = { perMessage: number; fixed: number }

/** What a hold is made of: prices of a model, the tokens that its template adds, its context. */
export type Tariff = {
  prices: Prices
  overhead: Overhead
  contextTokens: number
  bytesPerToken: number
}

/** The same as an attribute of a page: the dearest rates of reading and writing by rising input. */
export type WrittenTariff = Omit<Tariff, 'prices'> & {
  requestNusd: string
  steps: [aboveInputTokens: number, inputPusd: string, outputPusd: string][]
}

/** Reads a {@link WrittenTariff}. */
export function readTariff(text: string): Tariff {
  const { requestNusd, steps, ...rest }: WrittenTariff = JSON.parse(text)
  const read = steps.map(([aboveInputTokens, input, output]) => ({
    aboveInputTokens,
    rates: {},
    dearestInput: BigInt(input),
    dearestOutput: BigInt(output),
  }))
  const card = { classes: {}, bands: [], tiers: [], steps: new Map([['', read]]) }
  const own = { inputPusd: 0n, outputPusd: 0n, requestNusd: BigInt(requestNusd) }
  return { ...rest, prices: { ...own, card } }
}

/**
 * The hold for a question, in nano-USD: the most that its answer can cost. It counts bytes, so
 * where the server has the model's tokenizer, less is held.
 */
export function mostOf(tariff: Tariff, ask: Ask): Nusd {
  const { prices, overhead, contextTokens, bytesPerToken } = tariff
  const messages = messagesOf(ask)
  const bytes = new TextEncoder().encode(JSON.stringify({ messages, ...ask.params })).length
  const tokens = Math.ceil(bytes / bytesPerToken) + overhead.fixed
  const inputTokens = Math.min(tokens + overhead.perMessage * messages.length, contextTokens - 1)
  const outputTokens = Math.min(ask.max_output_tokens ?? 0, contextTokens - 1)
  return costOf(holdLines(prices, 'chat', { inputTokens, outputTokens, contextTokens }), 0)
}

type AnyLine = { readonly meter: string; readonly quantity: number }

export const tokensText = (count: number): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? 'token' : 'tokens'}`

/** What a run read, and how much of it from a cache. */
export function inputText(lines: readonly AnyLine[]): string {
  const cached = cachedUnitsOf(lines)
  const read = tokensText(inputUnitsOf(lines))
  return cached === 0 ? read : `${read}, ${cached.toLocaleString('en-US')} cached`
}

/** The same call as a shell command. The key is an environment variable, never its secret. */
export function curlOf(baseUrl: string, ask: Ask): string {
  const body = {
    model: ask.model,
    messages: messagesOf(ask),
    ...ask.params,
    ...(ask.max_output_tokens === undefined ? {} : { max_tokens: ask.max_output_tokens }),
    stream: true,
  }
  return [
    `curl -N ${baseUrl}/v1/chat/completions`,
    '  -H "Authorization: Bearer $COUNTERFOIL_KEY"',
    "  -H 'Content-Type: application/json'",
    `  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
  ].join(' \\\n')
}
