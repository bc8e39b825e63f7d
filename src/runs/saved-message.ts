/** Reads saved answers of Anthropic's Messages API, relayed as they came or translated. */
import { canonical, type Json } from '../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../kernel/json-object.ts'
import { MessageReader, messageToChat } from '../models/protocols/messages/answer-to-chat.ts'
import { gatherMessage, MessageCollector } from '../models/protocols/messages/collect.ts'
import { objectsIn, textOf } from '../models/protocols/reading.ts'
import { Collector } from './answer.ts'
import { sound } from './native-sorter.ts'
import { argumentStyles, asRefusal, choicesFrom, messageIn } from './saved-choice.ts'
import { type Thought, withReasoning } from './saved-reasoning.ts'

export function readingsOfMessage(answer: JsonObject): Json[] {
  const gathered = sound(gatherMessage(answer)).choices
  const { content, stop_reason: reason, stop_sequence: sequence = null } = answer
  const isReadable = sequence === null && isWhollyRead(content)
  const chat = isReadable ? messageToChat(answer) : undefined
  if (!chat) return [gathered]
  const message = withReasoning(
    messageIn(chat['choices']),
    textOf(answer['model']),
    thoughts(content),
  )
  if (!message) return [gathered]
  return [gathered, ...choicesFrom(message, finishesOf(reason), [asRefusal, argumentStyles])]
}

export function readingsOfMessageEvents(events: readonly JsonObject[]): Json[] {
  const [native, reader, chat] = [new MessageCollector(), new MessageReader(), new Collector()]
  let model = ''
  for (const event of events) {
    if (event['type'] === 'error') continue
    const started = objectOf(event['message'])
    // No receipt commits to a text there.
    if (objectsIn(started['content']).length > 0) return []
    model ||= textOf(started['model'])
    native.add(event)
    const { chunk } = reader.read(event)
    if (chunk) chat.addChunk(chunk)
  }
  const gathered = sound(native.answer()).choices
  const { content, stop_reason: reason, stop_sequence: sequence } = objectOf(objectsIn(gathered)[0])
  if (sequence !== null || !isWhollyRead(content)) return [gathered]
  const message = withReasoning(messageIn(chat.answer().choices), model, thoughts(content))
  if (!message) return [gathered]
  return [gathered, ...choicesFrom(message, finishesOf(reason), [asRefusal])]
}

const thoughts = (content: Json | undefined): Thought[] =>
  objectsIn(content)
    .filter(({ type }) => type === 'thinking')
    .map(({ thinking, signature }) => ({ text: textOf(thinking), sealed: signature }))

/** The members of each block whose text a translation reads; of others it would lose some. */
const membersOf = new Map([
  ['text', ['type', 'text', 'citations']],
  ['tool_use', ['type', 'id', 'name', 'input', 'caller']],
  ['thinking', ['type', 'thinking', 'signature']],
])

/** The caller that a translation names. */
const direct = { type: 'direct' }

const isWhollyRead = (content: Json | undefined): boolean =>
  Array.isArray(content) && content.every((block) => isObject(block) && isRead(block))

function isRead(block: JsonObject): boolean {
  const known = membersOf.get(textOf(block['type']))
  const { citations = null, caller = direct } = block
  const isPlain = citations === null && canonical(caller) === canonical(direct)
  return isPlain && Object.keys(block).every((name) => known?.includes(name))
}

/** How the answer of a model server finished that is written so. */
function finishesOf(reason: Json | undefined): (string | null)[] {
  switch (reason) {
    case 'end_turn':
      return ['stop', null]
    case 'tool_use':
      return ['tool_calls', 'stop', 'function_call']
    case 'max_tokens':
      return ['length']
    case 'refusal':
      return ['content_filter']
    default:
      return [null]
  }
}
