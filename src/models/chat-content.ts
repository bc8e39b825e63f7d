/** Checks the content of chat requests: every part must have a bound of tokens. */
import type { Json } from '../kernel/canonical.ts'
import { type Body, isBody, isSet, refuseField } from './body.ts'

const maxMessages = 1000
const maxStops = 16

/** What a message is made of; other members would reach the model without a bound. */
const messageFields = new Set([
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  'function_call',
  'refusal',
  'reasoning',
  'reasoning_content',
])

/** Parts whose tokens are at most their bytes, and the member that holds their text. */
const textParts = new Map([
  ['text', 'text'],
  ['refusal', 'refusal'],
])

/**
 * Checks all that a chat model reads: no part may cost more tokens than it has bytes.
 * @returns how many messages there are: 1 to 1,000.
 * @throws Refusal 'invalid_request'
 */
export function checkChat(body: Body): number {
  const messages = body['messages']
  if (!Array.isArray(messages) || messages.length === 0) {
    refuseField('messages', 'Send messages as a list of at least one message.')
  }
  if (messages.length > maxMessages) {
    refuseField('messages', `Send at most ${maxMessages} messages.`)
  }
  messages.forEach(checkMessage)
  checkTools(body['tools'])
  checkStop(body['stop'])
  return messages.length
}

/** The messages without unpriced members, which OpenAI's API ignores too. */
export function toMessages(messages: Json): Json {
  if (!Array.isArray(messages)) return messages
  return messages.map((message) => {
    if (!isBody(message) || Object.keys(message).every((key) => messageFields.has(key))) {
      return message
    }
    return Object.fromEntries(Object.entries(message).filter(([key]) => messageFields.has(key)))
  })
}

function checkMessage(message: Json, index: number): void {
  const path = `messages[${index}]`
  if (!isBody(message)) refuseField(path, 'A message is an object with a role and a content.')
  if (typeof message['role'] !== 'string') refuseField(`${path}.role`, 'A message needs a role.')
  const content = message['content']
  if (!isSet(content) || typeof content === 'string') return
  if (!Array.isArray(content)) {
    refuseField(`${path}.content`, 'Send the content as text or as a list of text parts.')
  }
  content.forEach((part, at) => {
    checkPart(part, `${path}.content[${at}]`)
  })
}

function checkPart(part: Json, path: string): void {
  const type = isBody(part) ? part['type'] : undefined
  const member = typeof type === 'string' ? textParts.get(type) : undefined
  if (!isBody(part) || member === undefined) {
    refuseField(path, 'Only text parts have a price here: images, audio and files are refused.')
  }
  if (typeof part[member] !== 'string') refuseField(`${path}.${member}`, 'This must be text.')
}

/** A tool that the upstream itself would run, such as a search, adds tokens without a bound. */
function checkTools(tools: Json | undefined): void {
  if (!isSet(tools)) return
  if (!Array.isArray(tools)) refuseField('tools', 'Send tools as a list.')
  tools.forEach((tool, index) => {
    const type = isBody(tool) ? tool['type'] : undefined
    if (type !== 'function' && type !== 'custom') {
      refuseField(
        `tools[${index}].type`,
        'Only tools of type function or custom have a price here.',
      )
    }
  })
}

function checkStop(stop: Json | undefined): void {
  if (!isSet(stop) || typeof stop === 'string') return
  const isList = Array.isArray(stop) && stop.every((item) => typeof item === 'string')
  if (!isList || stop.length > maxStops) {
    refuseField('stop', `Send stop as text or as a list of at most ${maxStops} texts.`)
  }
}
