/**
 * Reads the text of a saved answer, and in which forms it says something. Each reader takes one of
 * them and passes over the rest, so a text in two forms shows other words than those that are
 * checked.
 */
import type { Json } from '../kernel/canonical.ts'
import type { JsonObject } from '../kernel/json-object.ts'
import { isObject } from '../kernel/json-object.ts'
import { textOf } from '../models/protocols/reading.ts'
import { readJsonText } from '../verify/json-text.ts'

/** A value that no receipt commits to, of an answer whose own members say different things. */
export const contradiction: Json[] = [null]

/** A text as objects; not `isPlain` if other readers can find other words in it. */
export type SavedText = { objects: JsonObject[]; isPlain: boolean }

/** Reads a whole answer; undefined for anything but one JSON object. */
export function readWhole(text: string): SavedText | undefined {
  const read = readJsonText(text)
  const whole = read?.value as Json | undefined
  if (!read || !isObject(whole)) return undefined
  return { objects: [whole], isPlain: read.repeated.length === 0 && hasOneForm(whole) }
}

/** The members that say something, by the form of a whole answer. */
const spoken = {
  message: ['content'],
  response: ['output', 'output_text'],
  run: ['output'],
  choices: ['choices'],
  data: ['data'],
} as const
const anySpoken = new Set(Object.values(spoken).flat())

type WholeForm = keyof typeof spoken

export function formOf(whole: JsonObject): WholeForm {
  if (whole['type'] === 'message') return 'message'
  const { object } = whole
  if (object === 'response' || object === 'run') return object
  return Array.isArray(whole['choices']) ? 'choices' : 'data'
}

function hasOneForm(whole: JsonObject): boolean {
  const own: readonly string[] = spoken[formOf(whole)]
  const isOther = whole['type'] === 'message' && whole['object'] !== undefined
  return !isOther && [...anySpoken].every((name) => own.includes(name) || isNothing(whole[name]))
}

const isNothing = (value: Json | undefined): boolean => value === undefined || value === null

/** Reads the bytes of a stream: lines of the fields of server-sent events, and nothing else. */
export function readStreamed(text: string): SavedText {
  const saved: SavedText = { objects: [], isPlain: true }
  let data: string | undefined
  const dispatch = () => {
    if (data !== undefined) addEvent(saved, data)
    data = undefined
  }
  for (const line of text.split(/\r\n|[\r\n]/)) {
    const [, field, value = ''] = /^(data|event|id|retry|)(?:: ?(.*))?$/s.exec(line) ?? []
    if (line === '') dispatch()
    else if (field === 'data') data = data === undefined ? value : `${data}\n${value}`
    else if (field === undefined) saved.isPlain = false
  }
  dispatch()
  if (new Set(saved.objects.flatMap(formsOfEvent)).size > 1) saved.isPlain = false
  return saved
}

function addEvent(saved: SavedText, data: string): void {
  if (data.trim() === '[DONE]') return
  const read = readJsonText(data)
  const event = read?.value as Json | undefined
  if (isObject(event)) saved.objects.push(event)
  if (!isObject(event) || read?.repeated.length !== 0) saved.isPlain = false
}

/** The form whose event it is; empty for one of any stream, such as a ping or an error. */
function formsOfEvent(event: JsonObject): string[] {
  const type = textOf(event['type'])
  return [
    ...(isNothing(event['choices']) ? [] : ['chat']),
    ...(type.startsWith('response.') ? ['responses'] : []),
    ...(/^(message|content_block)_/.test(type) ? ['messages'] : []),
  ]
}
