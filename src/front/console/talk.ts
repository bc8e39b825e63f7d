import type { Json } from '../../kernel/canonical.ts'
import type { Nusd } from '../../kernel/money.ts'
import { costOf, linesOf, type Prices } from '../../models/model.ts'

/**
 * What somebody says to a model, and how an agent would say the same. Used by the server and by
 * the page's script alike, so nothing here knows either.
 */

/** A question that was answered. Pages hand them back: nothing of a talk is kept here. */
export type Turn = { input: string; output: string; receipt_id?: string }

/** One more question, with the turns before it. */
export type Ask = {
  model: string
  input: string
  max_output_tokens?: number
  /** What the model is told before all else. */
  system?: string
  params?: { [name: string]: Json }
  turns?: readonly Turn[]
}

/** Turns that go along with a question, and the characters they may have together. */
export const maxTurns = 8
const maxTurnChars = 32_000

/** The newest turns that may go along, oldest first. */
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

/** The longest answer the page asks for unless somebody says otherwise, in tokens. */
const usualTokens = 1024

export const usualTokensOf = (maxOutputTokens: number): number =>
  Math.min(usualTokens, maxOutputTokens)

/**
 * The command that a message is: what follows a slash and begins with a letter. Undefined for what
 * is meant for a model; a space before the slash makes it that.
 */
export const commandIn = (message: string): string | undefined =>
  /^\/[a-z]/i.test(message) ? message.slice(1) : undefined

/** What the model is sent: the system text, the turns in their order, the question. */
export function messagesOf({ system, turns = [], input }: Ask): Json[] {
  const said = turns.flatMap((turn) => [
    { role: 'user', content: turn.input },
    { role: 'assistant', content: turn.output },
  ])
  const told = system ? [{ role: 'system', content: system }] : []
  return [...told, ...said, { role: 'user', content: input }]
}

/** Prices of a model, and the tokens that its template adds. */
export type Tariff = { prices: Prices; overhead: { perMessage: number; fixed: number } }

/** The most that an answer to this can cost: what will be held for it. */
export function mostOf({ prices, overhead }: Tariff, ask: Ask): Nusd {
  const { max_output_tokens: outputTokens = 0 } = ask
  const messages = messagesOf(ask)
  const bytes = new TextEncoder().encode(JSON.stringify({ messages, ...ask.params })).length
  const inputTokens = bytes + overhead.fixed + overhead.perMessage * messages.length
  return costOf(linesOf(prices, 'chat', { inputTokens, outputTokens }), 0)
}

/** The same call by an agent, for a shell. The key stays a name: no secret is ever shown here. */
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
