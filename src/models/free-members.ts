/** Tells the members of an answer that say nothing from those that are output. */
import type { Json } from '../kernel/canonical.ts'

/** Whether a value says nothing: servers write members they do not use in these ways. */
export function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '') return true
  if (typeof value !== 'object') return false
  if (Array.isArray(value)) return value.length === 0
  for (const _ in value) return false
  return true
}

/** The longest text in characters that counts as a name and not as output. */
export const longestLabel = 64

/** Members that name and say nothing, up to the length of a name. */
const labels = new Set(['role', 'id', 'type', 'index', 'finish_reason', 'format'])

/** Members that seal what was thought: they count by their length, as a text if that is more. */
const seals = new Set(['signature', 'encrypted_content'])
const longestSeal = 16 * 1024

/** The format of reasoning that is sealed. */
export const sealedFormat = 'openai-responses-v1'

/** Members that say a text in parts, each part with a few labels around it. */
export const inParts: ReadonlySet<string> = new Set(['content', 'reasoning_details'])

/** The names of reasoning. Some servers send the same text under two names: it counts once. */
export const reasoningNames: ReadonlySet<string> = new Set([
  ...['reasoning', 'reasoning_content', 'reasoning_details'],
])

/** The usual names of members; another one is output itself. */
const usual = new Set([
  ...['message', 'content', 'reasoning', 'reasoning_content', 'refusal', 'tool_calls'],
  ...['function_call', 'function', 'custom', 'name', 'arguments', 'input'],
  ...['text', 'summary', 'thinking', 'data', 'url', 'image_url', 'reasoning_details'],
])

/**
 * Everything that a value says: its texts and numbers, and the names of members that are not the
 * usual ones. `logprobs` repeat the text of the choice that they stand in.
 */
export function textsIn(value: Json): string[] {
  const texts: string[] = []
  addTexts(texts, value)
  return texts
}

function addTexts(texts: string[], value: Json): void {
  if (typeof value === 'string') texts.push(value)
  else if (Array.isArray(value)) for (const item of value) addTexts(texts, item)
  else if (typeof value !== 'object' || value === null) texts.push(String(value ?? ''))
  else addMembers(texts, value)
}

function addMembers(texts: string[], of: { [member: string]: Json }): void {
  let reasoned: string[] = []
  for (const name in of) {
    const member = of[name] ?? ''
    if (!reasoningNames.has(name)) {
      addMember(texts, { name, member, of })
      continue
    }
    const said: string[] = []
    addMember(said, { name, member, of })
    if (lengthOf(said) > lengthOf(reasoned)) reasoned = said
  }
  for (const text of reasoned) texts.push(text)
}

const lengthOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)

type Member = { name: string; member: Json; of: { [member: string]: Json } }

function addMember(texts: string[], { name, member, of }: Member): void {
  const isPlain = typeof member === 'string' || typeof member === 'number'
  if (labels.has(name) && isPlain && String(member).length <= longestLabel) return
  if (isSealed(name, member, of)) return
  if (name === 'logprobs' && 'message' in of) return
  if (!usual.has(name) && !labels.has(name) && !seals.has(name)) texts.push(name)
  // The arguments of a tool have names of their own: they are said as they are written.
  if (name === 'input' && typeof member === 'object') texts.push(JSON.stringify(member))
  else addTexts(texts, member)
}

function isSealed(name: string, member: Json, of: { [member: string]: Json }): member is string {
  const isSeal = seals.has(name) || (name === 'data' && of['format'] === sealedFormat)
  return isSeal && typeof member === 'string' && member.length <= longestSeal
}

/** UTF-8 bytes of all that a value seals. */
export function sealedBytesIn(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + sealedBytesIn(one), 0)
  let bytes = 0
  for (const name in value) {
    const member = value[name] ?? null
    if (isSealed(name, member, value)) bytes += Buffer.byteLength(member)
    else bytes += sealedBytesIn(member)
  }
  return bytes
}
