/**
 * Reads the blocks of Messages as parts, calls and results of Chat Completions. Blocks without a
 * counterpart become text, so that no conversation ends by what it holds.
 */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, isSet, type JsonObject } from '../../../kernel/json-object.ts'
import { refuseField } from '../../../kernel/refusal.ts'
import { textIn, textOf } from '../reading.ts'
import { RestoredTurn } from '../restored-turn.ts'
import { noteOthers } from '../translation.ts'
import { wordsOf } from '../words-of.ts'

/** Members of blocks, as far as Chat Completions has a place for them. */
const inside = {
  text: new Set(['type', 'text']),
  image: new Set(['type', 'source']),
  document: new Set(['type', 'source', 'title']),
  source: new Set(['type', 'media_type', 'data']),
  call: new Set(['type', 'id', 'name', 'input', 'caller', 'toolset_name']),
  result: new Set(['type', 'tool_use_id', 'content', 'is_error']),
}

/** @throws Refusal `invalid_request` unless the content is a list of blocks */
export function blocksOf(content: Json | undefined, path: string): JsonObject[] {
  if (!Array.isArray(content)) refuseField(path, 'Send text or a list of blocks.')
  return content.map((block, at) =>
    isObject(block) ? block : refuseField(`${path}[${at}]`, 'A block is an object with a type.'),
  )
}

/** Results of tools come first, each a message of its own, as Chat Completions wants them. */
export function userOf(
  blocks: JsonObject[],
  path: string,
  role: 'user' | 'system',
  ignored: Set<string>,
): JsonObject[] {
  const results: JsonObject[] = []
  const parts: JsonObject[] = []
  blocks.forEach((block, at) => {
    const where = `${path}[${at}]`
    if (block['type'] !== 'tool_result') {
      parts.push(...contentParts(block, where, ignored))
      return
    }
    noteOthers(ignored, 'messages', block, inside.result)
    const { text, others } = resultOf(block, where, ignored)
    results.push({ role: 'tool', tool_call_id: textIn(block, 'tool_use_id', where), content: text })
    // A result of Chat Completions is text: what else there is follows as the user's.
    parts.push(...others)
    if (block['is_error'] === true) ignored.add('tool_result.is_error')
  })
  if (parts.length > 0) return [...results, { role, content: parts }]
  // Nothing is left of a turn of what has no counterpart, and the turn is there all the same.
  return results.length > 0 || blocks.length === 0 ? results : [{ role, content: '' }]
}

function resultOf(
  block: JsonObject,
  path: string,
  ignored: Set<string>,
): { text: Json; others: JsonObject[] } {
  const { content } = block
  if (!isSet(content)) return { text: '', others: [] }
  if (typeof content === 'string') return { text: content, others: [] }
  const parts = blocksOf(content, `${path}.content`).flatMap((one, at) =>
    contentParts(one, `${path}.content[${at}]`, ignored),
  )
  const texts = parts.filter(({ type }) => type === 'text')
  return {
    text: texts.length === 0 ? '' : texts,
    others: parts.filter(({ type }) => type !== 'text'),
  }
}

/** The parts that a block comes to. @throws Refusal `invalid_request` for media without its data */
export function contentParts(
  block: JsonObject,
  path: string,
  ignored: Set<string>,
  place = 'messages',
): JsonObject[] {
  const { type, source } = block
  if (type === 'text') {
    noteOthers(ignored, place, block, inside.text)
    return [{ type: 'text', text: textIn(block, 'text', path) }]
  }
  if (type !== 'image' && type !== 'document') return wordsIn(block, place, ignored)
  if (!isObject(source)) refuseField(`${path}.source`, 'This block needs a source.')
  const form = source['type']
  const isTitled = type === 'document' && form === 'base64'
  noteOthers(ignored, place, block, isTitled ? inside.document : inside.image)
  if (type === 'document' && form === 'content') return writtenIn(source, path, ignored)
  noteOthers(ignored, `${place}.source`, source, inside.source)
  if (type === 'document' && form === 'text') {
    return [{ type: 'text', text: textIn(source, 'data', `${path}.source`) }]
  }
  if (form !== 'base64') {
    refuseField(`${path}.source.type`, 'Send the content itself: a source of type base64.')
  }
  const media = textIn(source, 'media_type', `${path}.source`)
  const url = `data:${media};base64,${textIn(source, 'data', `${path}.source`)}`
  if (type === 'image') return [{ type: 'image_url', image_url: { url } }]
  const title = typeof block['title'] === 'string' ? block['title'] : 'document.pdf'
  return [{ type: 'file', file: { filename: title, file_data: url } }]
}

/** A document that is made of blocks. */
function writtenIn(source: JsonObject, path: string, ignored: Set<string>): JsonObject[] {
  const { content } = source
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  const where = `${path}.source.content`
  return blocksOf(content, where).flatMap((one, at) =>
    contentParts(one, `${where}[${at}]`, ignored),
  )
}

/** A block without a counterpart, as text; names the members that are not text. */
function wordsIn(block: JsonObject, place: string, ignored: Set<string>): JsonObject[] {
  const text = wordsOf(block, (member) => ignored.add(`${place}.${member}`))
  if (text !== '') return [{ type: 'text', text }]
  ignored.add(`${place}.${textOf(block['type']).slice(0, 64) || 'unnamed'}`)
  return []
}

/** A turn of the assistant. Reasoning goes back to the model that said it, and to no other. */
export function assistantOf(
  blocks: JsonObject[],
  path: string,
  { model, ignored }: { model: string; ignored: Set<string> },
): JsonObject {
  const texts: JsonObject[] = []
  const calls: JsonObject[] = []
  let turn: RestoredTurn | undefined
  blocks.forEach((block, at) => {
    const where = `${path}[${at}]`
    const { type } = block
    if (type === 'thinking' || type === 'redacted_thinking') {
      turn ??= new RestoredTurn(model)
      if (!turn.add(textOf(block['thinking']), block['signature'])) ignored.add(type)
      return
    }
    if (type !== 'tool_use') {
      texts.push(...contentParts(block, where, ignored))
      return
    }
    noteOthers(ignored, 'messages', block, inside.call)
    calls.push(callOf(block, where))
  })
  const message: JsonObject = { role: 'assistant', content: texts.length === 0 ? null : texts }
  if (calls.length > 0) message['tool_calls'] = calls
  // A turn of nothing but reasoning is a turn all the same.
  else if (texts.length === 0) message['content'] = ''
  turn?.restore(message)
  return message
}

const callOf = (block: JsonObject, path: string): JsonObject => ({
  id: textIn(block, 'id', path),
  type: 'function',
  function: {
    name: textIn(block, 'name', path),
    arguments: JSON.stringify(block['input'] ?? {}),
  },
})
