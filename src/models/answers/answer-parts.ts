/** Reads the parts of an answer: text, reasoning, calls of tools, images. Runs in browsers too. */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../kernel/json-object.ts'

/** A call of a tool, its arguments as the model wrote them. */
export type ToolCall = { name: string; input: string; index?: number }

export type Answer = {
  text: string
  reasoning: string
  calls: ToolCall[]
  /** The URLs of images; see {@link isRaster} before one is shown. */
  images: string[]
}

/** Reads the message of an answer. */
export function readAnswer(message: JsonObject): Answer {
  const calls = objectsOf(message['tool_calls']).map(callOf)
  const single = message['function_call']
  if (isObject(single)) calls.push(callOf({ function: single }))
  const parts = objectsOf(message['content'])
  const images = [...parts, ...objectsOf(message['images'])].flatMap(({ image_url: image }) => {
    const url = isObject(image) ? image['url'] : image
    return typeof url === 'string' ? [url] : []
  })
  const text = textOf(message['content']) || parts.map((part) => textOf(part['text'])).join('')
  return {
    text: text || textOf(message['refusal']),
    reasoning: reasoningOf(message),
    calls,
    images,
  }
}

/** A piece of a call; the first of an index brings the name. */
export type CallPiece = Required<ToolCall>

type Piece = { text: string; reasoning: string; calls: CallPiece[] }

/** The part of an answer that a delta adds. */
export function readPiece(delta: JsonObject): Piece {
  const calls = objectsOf(delta['tool_calls']).map((call, place) => {
    const index = typeof call['index'] === 'number' ? call['index'] : place
    return { index, ...callOf(call) }
  })
  return { text: textOf(delta['content']), reasoning: reasoningOf(delta, isUnsigned), calls }
}

/** Adds a piece to an answer that was not ended yet. */
export function addPiece(answer: Answer, { text, reasoning, calls }: Piece): void {
  answer.text += text
  answer.reasoning += reasoning
  for (const piece of calls) {
    const call = answer.calls.find(({ index }) => index === piece.index)
    if (!call) answer.calls.push({ ...piece })
    else {
      call.name += piece.name
      call.input += piece.input
    }
  }
}

function callOf(call: JsonObject): ToolCall {
  const { function: named, custom } = call
  const told = isObject(custom) ? custom : isObject(named) ? named : {}
  return { name: textOf(told['name']), input: textOf(told['arguments'] ?? told['input']) }
}

/** In a stream a signature comes with the text that its pieces were. */
const isUnsigned = ({ signature }: JsonObject): boolean => textOf(signature) === ''

/** Servers say it under several names, some under two at once. */
function reasoningOf(message: JsonObject, isCounted = (_: JsonObject) => true): string {
  const plain = textOf(message['reasoning_content']) || textOf(message['reasoning'])
  if (plain !== '') return plain
  const details = objectsOf(message['reasoning_details']).filter(isCounted)
  return details.map(({ text, summary }) => textOf(text) || textOf(summary)).join('')
}

/** Whether a browser may show it: an image of pixels that is in the URL itself. */
export const isRaster = (url: string): boolean =>
  /^data:image\/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}$/.test(url)

/** An image that is not shown, as a line of text. */
export const hiddenImage = (url: string): string =>
  `An image that is not shown here: ${url.length > 200 ? `${url.slice(0, 200)}…` : url}`

export const reasoningTitle = (reasoning: string): string => {
  const words = reasoning.match(/\S+/g)?.length ?? 0
  return `Reasoning, ${words.toLocaleString('en-US')} ${words === 1 ? 'word' : 'words'}`
}

export const callTitle = 'Tool call'

export const imageTitle = (at: number): string => `Image ${at + 1} of the answer`

/**
 * JSON with line breaks and indents; other text as it is. The tokens stay as they were
 * written, so that no number is rounded and no repeated name is lost.
 */
export function prettyJson(text: string): string {
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  let depth = 0
  const breakAt = (by: number): string => {
    depth += by
    return `\n${'  '.repeat(Math.min(depth, maxIndent))}`
  }
  const tokens = text.match(/"[^"\\]*(?:\\.[^"\\]*)*"|[[{]\s*[\]}]|[^\s"[\]{},:]+|[[\]{},:]/g) ?? []
  return tokens
    .map((token) => {
      if (token === '{' || token === '[') return token + breakAt(1)
      if (token === '}' || token === ']') return breakAt(-1) + token
      if (token === ',') return token + breakAt(0)
      return token === ':' ? ': ' : /^[[{]/.test(token) ? token.replace(/\s/g, '') : token
    })
    .join('')
}

/** Deeper levels are not indented further, so that a deep text does not grow by its square. */
const maxIndent = 16

/** The members of a message, beside its text, that go back to the model. */
const sentBack = [
  ...['reasoning', 'reasoning_content', 'reasoning_details', 'extra_content', 'tool_calls'],
] as const

/** Most characters of them in one answer; without them the model gets its text alone. */
const maxReplyChars = 64_000

/** The members that a page keeps beside an answer's text; undefined if there are none. */
export function replyOf(message: JsonObject): JsonObject | undefined {
  const kept = membersOf(message)
  if (Object.keys(kept).length === 0 || JSON.stringify(kept).length > maxReplyChars)
    return undefined
  return kept
}

function membersOf(message: JsonObject): JsonObject {
  const kept: JsonObject = {}
  for (const name of sentBack) {
    const value = message[name]
    if (value !== undefined && value !== null && value !== '') kept[name] = value
  }
  return kept
}

/**
 * The messages of an answer for the next request. Reasoning goes back where a protocol needs it:
 * if it is signed, or in front of calls. No call was run, and each needs a result.
 * @param isSameModel whether the model that is asked said it; no other one reads its signatures
 */
export function answerMessages(
  text: string,
  reply: JsonObject | undefined,
  isSameModel: boolean,
): Json[] {
  const calls = objectsOf(reply?.['tool_calls'])
  const isSigned = objectsOf(reply?.['reasoning_details']).some(
    ({ signature, data }) => textOf(signature) !== '' || textOf(data) !== '',
  )
  const hasReasoning = isSameModel && (isSigned || calls.length > 0)
  const more = reply && hasReasoning ? membersOf(reply) : {}
  if (calls.length > 0) more['tool_calls'] = calls
  const results = calls.map(({ id }) => ({
    role: 'tool',
    tool_call_id: textOf(id),
    content: 'Not run: there are no tools in this conversation.',
  }))
  const content = text === '' && calls.length > 0 ? null : text
  return [{ role: 'assistant', content, ...more }, ...results]
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

const objectsOf = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : []
