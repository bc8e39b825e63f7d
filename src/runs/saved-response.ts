/** Reads saved answers of OpenAI's Responses API, relayed as they came or translated. */
import type { Json } from '../kernel/canonical.ts'
import { type JsonObject, objectOf } from '../kernel/json-object.ts'
import { objectsIn, textOf } from '../models/protocols/reading.ts'
import { ResponseReader, responseToChat } from '../models/protocols/responses/answer-to-chat.ts'
import { gatherResponse, ResponseCollector } from '../models/protocols/responses/collect.ts'
import { Collector } from './answer.ts'
import { sound } from './native-sorter.ts'
import { choicesFrom, messageIn } from './saved-choice.ts'
import { contradiction } from './saved-forms.ts'
import { type Thought, withReasoning } from './saved-reasoning.ts'
import { StreamTexts } from './stream-texts.ts'

export function readingsOfResponse(answer: JsonObject): Json[] {
  const { output, output_text: text } = answer
  // Libraries add it to what they received.
  if (typeof text === 'string' && text !== textIn(output)) return contradiction
  const gathered = sound(gatherResponse(answer)).choices
  const chat = isWhollyRead(output) ? responseToChat(answer) : undefined
  if (!chat) return [gathered]
  const message = withReasoning(
    messageIn(chat['choices']),
    textOf(answer['model']),
    thoughts(output),
  )
  return message ? [gathered, ...choicesFrom(message, finishesOf(answer))] : [gathered]
}

export function readingsOfResponseEvents(events: readonly JsonObject[]): Json[] {
  const [native, reader, chat] = [new ResponseCollector(), new ResponseReader(), new Collector()]
  const texts = new StreamTexts()
  let end: JsonObject = {}
  let model = ''
  for (const event of events) {
    if (!texts.agree(event)) return contradiction
    const type = textOf(event['type'])
    model ||= textOf(objectOf(event['response'])['model'])
    if (type === 'error' || type === 'response.failed') continue
    if (type === 'response.completed' || type === 'response.incomplete') {
      end = objectOf(event['response'])
    }
    native.add(event)
    const { chunk } = reader.read(event)
    if (chunk) chat.addChunk(chunk)
  }
  const gathered = sound(native.answer()).choices
  if (!isWhollyRead(gathered)) return [gathered]
  const message = withReasoning(messageIn(chat.answer().choices), model, thoughts(gathered))
  return message ? [gathered, ...choicesFrom(message, finishesOf(end))] : [gathered]
}

const thoughts = (output: Json | undefined): Thought[] =>
  objectsIn(output)
    .filter(({ type }) => type === 'reasoning')
    .map(({ summary, encrypted_content: sealed }) => ({
      text: objectsIn(summary)
        .map(({ text }) => textOf(text))
        .join('\n\n'),
      sealed,
    }))

const textIn = (output: Json | undefined): string =>
  objectsIn(output)
    .flatMap(({ content }) => objectsIn(content))
    .map((part) => (part['type'] === 'output_text' ? textOf(part['text']) : ''))
    .join('')

/** The members of each item and part that a translation reads; of others it would lose some. */
const membersOf = new Map([
  ['message', ['type', 'id', 'role', 'status', 'content', 'phase', 'pieces']],
  ['reasoning', ['type', 'id', 'status', 'summary', 'encrypted_content', 'pieces']],
  ['function_call', ['type', 'id', 'status', 'call_id', 'name', 'arguments', 'pieces']],
  ['custom_tool_call', ['type', 'id', 'status', 'call_id', 'name', 'input', 'pieces']],
  ['output_text', ['type', 'text', 'annotations', 'logprobs']],
  ['refusal', ['type', 'refusal']],
  ['summary_text', ['type', 'text']],
])

const isWhollyRead = (output: Json | undefined): boolean => objectsIn(output).every(isRead)

function isRead(part: JsonObject): boolean {
  const known = membersOf.get(textOf(part['type']))
  const { annotations = [], logprobs = [] } = part
  const isPlain = objectsIn(annotations).length === 0 && objectsIn(logprobs).length === 0
  return (
    isPlain &&
    Object.keys(part).every((name) => known?.includes(name)) &&
    [...objectsIn(part['content']), ...objectsIn(part['summary'])].every(isRead)
  )
}

/** How the answer of a model server finished that is written so. */
function finishesOf({ status, incomplete_details: details }: JsonObject): (string | null)[] {
  if (status === 'completed') return ['stop', 'tool_calls', 'function_call', null]
  if (status !== 'incomplete') return [null]
  return objectOf(details)['reason'] === 'content_filter' ? ['content_filter'] : ['length']
}
