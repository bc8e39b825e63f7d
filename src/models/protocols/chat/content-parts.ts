/** Reads a content that a server writes as something else than text. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../../kernel/json-object.ts'

/** The texts of parts. `others` have no text: they are handed on as they are. */
type PartTexts = { text: string; reasoning: string; refusal: string; others: Json[] }

const thoughts: ReadonlySet<unknown> = new Set(['thinking', 'reasoning', 'thought'])

function addParts(said: PartTexts, value: Json | undefined, isThought: boolean): void {
  if (value === null || value === undefined) return
  if (Array.isArray(value)) for (const part of value) addParts(said, part, isThought)
  else if (!isObject(value)) said[isThought ? 'reasoning' : 'text'] += String(value)
  else addPart(said, value, isThought || thoughts.has(value['type']))
}

function addPart(said: PartTexts, part: JsonObject, isThought: boolean): void {
  const { text, thinking, reasoning, summary, content, refusal } = part
  if (typeof refusal === 'string') said.refusal += refusal
  else if (isThought) addParts(said, thinking ?? reasoning ?? text ?? summary ?? content, true)
  else if (typeof text === 'string') said.text += text
  else if (thinking !== undefined) addParts(said, thinking, true)
  else if (content !== undefined) addParts(said, content, false)
  else said.others.push(part)
}

/** The text of a member that should be one: a text, parts of it, or anything else. */
export function textOfParts(value: Json): string {
  const said = readParts(value)
  return said.reasoning + said.text
}

function readParts(value: Json): PartTexts {
  const said: PartTexts = { text: '', reasoning: '', refusal: '', others: [] }
  addParts(said, value, false)
  return said
}

/** The members of a message whose content came in parts; others go into `content_parts`. */
export function membersOfParts(content: Json): JsonObject {
  const { text, reasoning, refusal, others } = readParts(content)
  const members: JsonObject = { content: text === '' ? null : text }
  if (reasoning !== '') members['reasoning_content'] = reasoning
  if (refusal !== '') members['refusal'] = refusal
  if (others.length > 0) members['content_parts'] = others
  return members
}
