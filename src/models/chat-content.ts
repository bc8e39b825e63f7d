/** Checks what a model reads of a request: its depth, and that every part has a bound of tokens. */
import type { Json } from '../kernel/canonical.ts'
import { isObject, isSet, type JsonObject } from '../kernel/json-object.ts'
import { refuseField } from '../kernel/refusal.ts'
import { checkMedia, isMedia, type MediaTokens, sumOfMedia } from './media.ts'
import type { Model } from './model.ts'

const maxDepth = 80
const maxMessages = 10_000
const maxStops = 16

/** The members of a message; others would reach the model without a bound. */
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
  'reasoning_details',
  'extra_content',
])

/** Parts whose tokens are at most their bytes, and the member that holds their text. */
const textParts = new Map([
  ['text', 'text'],
  ['refusal', 'refusal'],
])

/**
 * Checks all that a chat model reads: each part has a bound, its bytes or the model's for it.
 * @returns how many messages there are, 1 to 10,000, and the tokens of their images and files.
 * @throws Refusal 'invalid_request'
 */
export function checkChat(
  model: Model,
  body: JsonObject,
): { messages: number; media: MediaTokens | undefined } {
  const messages = body['messages']
  if (!Array.isArray(messages) || messages.length === 0) {
    refuseField('messages', 'Send messages as a list of at least one message.')
  }
  if (messages.length > maxMessages) {
    refuseField('messages', `Send at most 10,000 messages.`)
  }
  let media: MediaTokens | undefined
  messages.forEach((message, index) => {
    media = sumOfMedia(media, checkMessage(model, message, index))
  })
  checkTools(body['tools'])
  checkStop(body['stop'])
  return { messages: messages.length, media }
}

/** The messages without unpriced members, which OpenAI's API ignores too; itself if it has none. */
export function toMessages(messages: Json): Json {
  if (!Array.isArray(messages) || !messages.some(hasUnpriced)) return messages
  return messages.map((message) =>
    hasUnpriced(message)
      ? Object.fromEntries(Object.entries(message).filter(([key]) => messageFields.has(key)))
      : message,
  )
}

const hasUnpriced = (message: Json): message is JsonObject =>
  isObject(message) && !Object.keys(message).every((key) => messageFields.has(key))

/** Adds the members of messages that do not go on to those found before. */
export function addUnsent(messages: Json | undefined, unsent: string[]): void {
  if (!Array.isArray(messages)) return
  for (const message of messages) {
    if (!isObject(message)) continue
    for (const name in message) {
      if (messageFields.has(name) || !isSet(message[name])) continue
      const path = `messages.${name}`
      if (unsent.length < mostNamed && !unsent.includes(path)) unsent.push(path)
    }
  }
}

/** How many members without effect are looked for; a header names no more. */
const mostNamed = 32

/** Returns the tokens of its images and files, if it has any. */
function checkMessage(model: Model, message: Json, index: number): MediaTokens | undefined {
  const path = `messages[${index}]`
  if (!isObject(message)) refuseField(path, 'A message is an object with a role and a content.')
  if (typeof message['role'] !== 'string') refuseField(`${path}.role`, 'A message needs a role.')
  const content = message['content']
  if (!isSet(content) || typeof content === 'string') return undefined
  if (!Array.isArray(content)) {
    refuseField(`${path}.content`, 'Send the content as text or as a list of parts.')
  }
  let media: MediaTokens | undefined
  content.forEach((part, at) => {
    media = sumOfMedia(media, checkPart(model, part, `${path}.content[${at}]`))
  })
  return media
}

function checkPart(model: Model, part: Json, path: string): MediaTokens | undefined {
  const type = isObject(part) ? part['type'] : undefined
  if (isObject(part) && isMedia(type)) return checkMedia(model, part, type, path)
  const member = typeof type === 'string' ? textParts.get(type) : undefined
  if (!isObject(part) || member === undefined) {
    refuseField(path, 'This part has no price here. Send text, or an image or a PDF as data: URL.')
  }
  if (typeof part[member] !== 'string') refuseField(`${path}.${member}`, 'This must be text.')
  return undefined
}

/** A tool that the upstream itself would run, such as a search, adds tokens without a bound. */
function checkTools(tools: Json | undefined): void {
  if (!isSet(tools)) return
  if (!Array.isArray(tools)) refuseField('tools', 'Send tools as a list.')
  tools.forEach((tool, index) => {
    const type = isObject(tool) ? tool['type'] : undefined
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

/** @throws Refusal 'invalid_request' when anything lies below level 80; the body is level 1. */
export function checkDepth(body: JsonObject): void {
  for (const [param, value] of Object.entries(body)) {
    if (isDeeper(value, maxDepth - 1)) {
      refuseField(param, `This is nested too deep: at most ${maxDepth} levels, the body included.`)
    }
  }
}

function isDeeper(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof item === 'object' && isDeeper(item, levels - 1)) return true
  }
  return false
}
