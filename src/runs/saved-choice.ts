/** Lists the choices of Chat Completions that an answer of another protocol can be written from. */
import type { Json } from '../kernel/canonical.ts'
import { type JsonObject, objectOf } from '../kernel/json-object.ts'
import { objectsIn, textOf } from '../models/protocols/reading.ts'
import { objects, readAnswer } from './answer.ts'

/** A way in which a model server may have written what another protocol writes in one. */
type Way = (message: JsonObject) => JsonObject[]

/**
 * The values that a receipt may commit to for one choice. Its protocol has fewer words for how an
 * answer finished, one name for reasoning, and arguments without their spaces.
 */
export function choicesFrom(
  message: JsonObject,
  finishes: readonly (string | null)[],
  ways: readonly Way[] = [],
): Json[] {
  const messages = [reasoningNames, ...ways].reduce<JsonObject[]>(
    (found, way) => found.flatMap(way),
    [message],
  )
  return messages.flatMap((one) =>
    finishes.map((finish_reason): Json => {
      const choice = { index: 0, message: one, finish_reason }
      return readAnswer({ choices: [choice] }).choices
    }),
  )
}

/** Servers name reasoning in two ways, and some send both. */
function reasoningNames(message: JsonObject): JsonObject[] {
  const { reasoning_content: text, ...rest } = message
  if (text === undefined) return [message]
  return [message, { ...rest, reasoning: text }, { ...message, reasoning: text }]
}

/** A refusal that its protocol writes as text. */
export function asRefusal(message: JsonObject): JsonObject[] {
  const { content, ...rest } = message
  const isText = textOf(content) !== '' && message['refusal'] === undefined
  return isText ? [message, { ...rest, content: null, refusal: content ?? null }] : [message]
}

/** Arguments as models write the same JSON: without spaces, with one behind each mark, or none. */
export function argumentStyles(message: JsonObject): JsonObject[] {
  const calls = objectsIn(message['tool_calls'])
  if (calls.length === 0) return [message]
  const styles = [(args: string) => args, spaced, (args: string) => (args === '{}' ? '' : args)]
  return styles.map((style) => ({
    ...message,
    tool_calls: calls.map((call) => {
      const of = objectOf(call['function'])
      return { ...call, function: { ...of, arguments: style(textOf(of['arguments'])) } }
    }),
  }))
}

/** Writes JSON with a space behind each colon and comma outside of texts. */
const spaced = (json: string): string =>
  json.replaceAll(/"(?:[^"\\]|\\.)*"|[:,]/g, (part) => (part.length === 1 ? `${part} ` : part))

/** The message of the first choice of an answer in the shape of Chat Completions. */
export const messageIn = (choices: Json | undefined): JsonObject =>
  objectOf(objects(choices)[0]?.['message'])
