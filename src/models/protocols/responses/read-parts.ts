/** Reads the parts of Responses messages and outputs as those of Chat Completions. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, isSet, type JsonObject } from '../../../kernel/json-object.ts'
import { refuseField } from '../../../kernel/refusal.ts'
import { textIn, textOf } from '../reading.ts'
import { noteOthers } from '../translation.ts'
import { wordsOf } from '../words-of.ts'

/** Members of parts that Chat Completions has a place for. */
const inside = new Map([
  ['input_text', new Set(['type', 'text'])],
  ['output_text', new Set(['type', 'text'])],
  ['text', new Set(['type', 'text'])],
  ['refusal', new Set(['type', 'refusal'])],
  ['input_image', new Set(['type', 'image_url', 'detail'])],
  ['input_file', new Set(['type', 'file_data', 'filename'])],
])

/** @throws Refusal `invalid_request` for media without its data */
export function partsOf(
  content: Json | undefined,
  path: string,
  ignored: Set<string>,
): JsonObject[] {
  if (!Array.isArray(content)) refuseField(path, 'Send text or a list of parts.')
  return content.flatMap((part, at) => {
    const where = `${path}[${at}]`
    if (!isObject(part)) refuseField(where, 'A part is an object with a type.')
    const known = inside.get(textOf(part['type']))
    if (known) noteOthers(ignored, 'input', part, known)
    return partOf(part, where, ignored)
  })
}

function partOf(part: JsonObject, path: string, ignored: Set<string>): JsonObject[] {
  const { type } = part
  for (const name of ['file_id', 'file_url']) {
    if (isSet(part[name])) refuseField(`${path}.${name}`, 'Send the content itself.')
  }
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return [{ type: 'text', text: textIn(part, 'text', path) }]
    case 'refusal':
      return [{ type: 'refusal', refusal: textIn(part, 'refusal', path) }]
    case 'input_image': {
      const url = part['image_url']
      if (typeof url !== 'string') {
        refuseField(`${path}.image_url`, 'Send the image itself as a data: URL in image_url.')
      }
      const { detail } = part
      const seen: JsonObject = isSet(detail) && detail !== 'auto' ? { detail } : {}
      return [{ type: 'image_url', image_url: { url, ...seen } }]
    }
    case 'input_file': {
      const data = part['file_data']
      if (typeof data !== 'string') {
        refuseField(`${path}.file_data`, 'Send the file itself as a data: URL in file_data.')
      }
      const { filename = 'document.pdf' } = part
      return [{ type: 'file', file: { filename, file_data: data } }]
    }
    default:
      return wordsIn(part, ignored)
  }
}

/** A part or an item without a counterpart, as text; names the members that are not text. */
export function wordsIn(from: JsonObject, ignored: Set<string>): JsonObject[] {
  const text = wordsOf(from, (member) => ignored.add(`input.${member}`))
  if (text !== '') return [{ type: 'text', text }]
  ignored.add(`input.${textOf(from['type']).slice(0, 64) || 'unnamed'}`)
  return []
}
