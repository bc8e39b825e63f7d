/** Puts parts that a protocol does not know into words, so that a conversation keeps them. */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../kernel/json-object.ts'

/** Members that say nothing to a model: names of things, states, seals. */
const silent = new Set(['type', 'id', 'status', 'role', 'caller', 'execution', 'index'])

/** Members that no text can stand for: media, seals and settings. */
const unspoken = new Set([
  ...['encrypted_content', 'encrypted_index', 'signature', 'data', 'file_data', 'result'],
  ...['image_url', 'file_url', 'cache_control', 'citations', 'annotations', 'logprobs'],
])

/** Members whose text stands by itself. */
const plain = new Set(['text', 'content', 'summary', 'output', 'message'])

const mostLevels = 8

/**
 * Returns the words of a part, a line for each text, after its type; '' where it has none. Calls
 * `unread` with the members that are left out.
 */
export function wordsOf(part: JsonObject, unread: (member: string) => void): string {
  const lines: string[] = []
  addLines(lines, part, { unread, levels: mostLevels })
  const { type } = part
  return lines.length === 0 || typeof type !== 'string'
    ? lines.join('\n')
    : `[${type.slice(0, 64)}]\n${lines.join('\n')}`
}

type Reading = { unread: (member: string) => void; levels: number }

function addLines(lines: string[], of: JsonObject, { unread, levels }: Reading): void {
  for (const name in of) {
    const value = of[name] ?? null
    if (silent.has(name) || name.endsWith('_id') || isEmpty(value)) continue
    if (unspoken.has(name) || isMedia(value) || levels === 0) unread(name)
    else if (isObject(value)) addLines(lines, value, { unread, levels: levels - 1 })
    else if (Array.isArray(value)) addEach(lines, name, value, { unread, levels: levels - 1 })
    else lines.push(plain.has(name) ? String(value) : `${name}: ${value}`)
  }
}

function addEach(lines: string[], name: string, values: Json[], reading: Reading): void {
  for (const value of values) {
    if (isObject(value)) addLines(lines, value, reading)
    else if (!isEmpty(value)) addLines(lines, { [name]: value }, reading)
  }
}

const isEmpty = (value: Json): boolean => value === null || value === ''

const isMedia = (value: Json): boolean => typeof value === 'string' && value.startsWith('data:')
