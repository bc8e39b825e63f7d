/** The console's conversation as requests and costs; runs in the server and in the browser. */
import type { Json } from '../../kernel/canonical.ts'
import type { Nusd } from '../../kernel/money.ts'
import { answerMessages } from '../../models/answers/answer-parts.ts'
import { cachedUnitsOf, costOf, inputUnitsOf } from '../../models/meter.ts'
import { holdLines, type Prices } from '../../models/rates.ts'
import { charsOf, type FileTokens, partOf, type SentFile, tokensOf } from './files.ts'

/** An answered question. Pages send turns back, because the server stores no conversation. */
export type Turn = {
  input: string
  output: string
  receipt_id?: string
  files?: readonly SentFile[]
  /** The model that answered. */
  model?: string
  /** The rest of the turn: its reasoning and calls of tools. */
  reply?: { [member: string]: Json }
}

/** A question with the turns before it. */
export type ConsoleQuestion = {
  model: string
  input: string
  max_output_tokens?: number
  /** The system prompt. */
  system?: string
  params?: { [name: string]: Json }
  files?: readonly SentFile[]
  turns?: readonly Turn[]
}

/** Most turns sent with a question, and their largest total length in characters. */
export const maxTurns = 8
const maxTurnChars = 32_000

/**
 * The newest turns within both limits, oldest first.
 * @param room characters that their files may have together
 */
export function recentTurns(
  turns: readonly Turn[],
  room: number = Number.POSITIVE_INFINITY,
): Turn[] {
  let chars = 0
  let fileChars = 0
  const fits = ({ input, output, files }: Turn): boolean => {
    chars += input.length + output.length
    fileChars += charsOf(files)
    return chars <= maxTurnChars && fileChars <= room
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

type UrlOf = (file: SentFile) => string

const wholeUrl: UrlOf = ({ data }) => data

/** The messages to send: the system prompt, the turns, the question. */
export function messagesOf(
  { system, turns = [], input, files, model }: ConsoleQuestion,
  urlOf: UrlOf = wholeUrl,
): Json[] {
  const said = turns.flatMap((turn) => [
    { role: 'user', content: contentOf(turn.input, turn.files, urlOf) },
    ...answerMessages(turn.output, turn.reply, turn.model === model),
  ])
  const told = system ? [{ role: 'system', content: system }] : []
  return [...told, ...said, { role: 'user', content: contentOf(input, files, urlOf) }]
}

/** Files come before the text that is about them. */
function contentOf(input: string, files: readonly SentFile[] = [], urlOf: UrlOf): Json {
  if (files.length === 0) return input
  return [...files.map((file) => partOf(file, urlOf(file))), { type: 'text', text: input }]
}

/** The files of the turns before a question. */
export const earlierFiles = ({ turns = [] }: ConsoleQuestion): SentFile[] =>
  turns.flatMap(({ files = [] }) => files)

type Overhead = { perMessage: number; fixed: number }

/** What a hold is made of: prices of a model, the tokens that its template adds, its context. */
export type Tariff = FileTokens & {
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
export function mostOf(tariff: Tariff, ask: ConsoleQuestion): Nusd {
  const { prices, overhead, contextTokens, bytesPerToken } = tariff
  // The tokens of files have a bound of their own.
  const messages = messagesOf(ask, () => '')
  const bytes = new TextEncoder().encode(JSON.stringify({ messages, ...ask.params })).length
  const media = tokensOf([...earlierFiles(ask), ...(ask.files ?? [])], tariff)
  const tokens = Math.ceil(bytes / bytesPerToken) + overhead.fixed + media
  const inputTokens = Math.min(tokens + overhead.perMessage * messages.length, contextTokens - 1)
  const outputTokens = Math.min(ask.max_output_tokens ?? 0, contextTokens - 1)
  return costOf(holdLines(prices, 'chat', { inputTokens, outputTokens, contextTokens }), 0)
}

type AnyLine = { readonly meter: string; readonly quantity: number }

export const tokensText = (count: number): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? 'token' : 'tokens'}`

/** The input of a run, and how much of it came from a cache. */
export function inputText(lines: readonly AnyLine[]): string {
  const cached = cachedUnitsOf(lines)
  const read = tokensText(inputUnitsOf(lines))
  return cached === 0 ? read : `${read}, ${cached.toLocaleString('en-US')} cached`
}

/**
 * The same call as a shell command. The key is an environment variable, never its secret; files are
 * read where the command runs, because their data is too long for a line.
 */
export function curlOf(baseUrl: string, ask: ConsoleQuestion): string {
  const files = [...earlierFiles(ask), ...(ask.files ?? [])]
  const texts = spaced(bodyOf(ask, ''))
  let marker = 'FILE'
  while (texts.includes(marker)) marker += '_'
  const text = spaced(bodyOf(ask, marker))
  const head = [
    'curl -N',
    `  ${baseUrl}/v1/chat/completions`,
    '  -H "Authorization: Bearer $COUNTERFOIL_KEY"',
    "  -H 'Content-Type: application/json'",
  ]
  if (files.length === 0) return [...head, `  -d ${quoted(text)}`].join(' \\\n')
  const pieces = text.replace(/[\\$`]/g, '\\$&').split(marker)
  const read = pieces.map((piece, at) => piece + (files[at] ? readingOf(files[at]) : ''))
  return `${[...head, '  -d @- <<EOF'].join(' \\\n')}\n${read.join('')}\nEOF`
}

/** JSON with spaces between its members, where a narrow listing can break its lines. */
const spaced = (body: unknown): string =>
  // A newline stands between members alone: inside of a string it is escaped.
  JSON.stringify(body, null, 1)
    .replace(/(?<=[{[])\n *|\n *(?=[}\]])/g, '')
    .replace(/\n */g, ' ')

/** A listing in pieces: a line may break between any two of them, and inside of none. */
export const piecesOf = (listing: string): string[] =>
  listing.split(/(?<=\s)(?=\S)|(?<=\S)(?=\s)|(?<=[/,])(?=[^\s/])/)

/** The body of the call; the data of each file is the marker. */
const bodyOf = (ask: ConsoleQuestion, marker: string) => ({
  model: ask.model,
  messages: messagesOf(ask, ({ data }) => data.slice(0, data.indexOf(',') + 1) + marker),
  ...ask.params,
  ...(ask.max_output_tokens === undefined ? {} : { max_tokens: ask.max_output_tokens }),
  stream: true,
})

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const readingOf = ({ name }: SentFile): string => `$(base64 < ${quoted(name)} | tr -d '\\n')`
