/** Finds routes, schemas, errors and rules of the reference by words. */
import { refusals } from '../../kernel/refusal.ts'
import type { Schemas } from '../../web/http/json-schema.ts'
import { methodOf, pathOf } from '../../web/reference/operation.ts'
import { areas } from './areas.ts'
import { fieldsOf } from './field.ts'
import {
  clientText,
  environmentText,
  errorText,
  notes,
  onceText,
  rules,
  toolText,
} from './texts.ts'

/** A place of the reference that fits what was asked. */
export type SearchHit = {
  href: string
  title: string
  /** Its kind or place: `POST /v1/keys`, "Schema", "Error 402". */
  kind: string
  /** A part of its text, around the first word that was asked. */
  excerpt: string
}

/** The most characters of a question that are looked at. */
export const questionMax = 100

/** Returns the places that hold every word, those that are called so first; none for no words. */
export function findInReference(question: string): SearchHit[] {
  const words = wordsOf(question)
  if (words.length === 0) return []
  places ??= everyPlace()
  return places
    .map((place) => ({ place, score: scoreOf(place, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ place: { href, title, kind, text } }) => ({
      href,
      title,
      kind,
      excerpt: excerptOf(text, words),
    }))
}

/** The words of a question, in small letters. */
export const wordsOf = (question: string): string[] =>
  question.slice(0, questionMax).toLowerCase().split(/\s+/).filter(Boolean)

type Place = Omit<SearchHit, 'excerpt'> & { text: string; sought: { name: string; whole: string } }

let places: Place[] | undefined

/** Adds up what each word weighs: most in the name, least in the text; 0 if one is missing. */
function scoreOf({ sought: { name, whole } }: Place, words: readonly string[]): number {
  let score = 0
  for (const word of words) {
    const at = name.indexOf(word)
    if (at === -1 && !whole.includes(word)) return 0
    const isStart = at === 0 || (at > 0 && isBetween(name[at - 1]))
    const isWord = isStart && isBetween(name[at + word.length])
    score += isWord ? 150 : isStart ? 100 : at > 0 ? 20 : 1
  }
  // Of two names that hold the words the shorter one is nearer to them.
  return score - Math.min(name.length, 200) / 1000
}

/** Whether a character stands between words, as the end of a text does. */
const isBetween = (char = ' '): boolean => /[^\p{L}\p{N}]/u.test(char)

/** How many characters of a text are shown, and how many of them before the word. */
const excerptMax = 160
const excerptLead = 50

function excerptOf(text: string, words: readonly string[]): string {
  const small = text.toLowerCase()
  const at = Math.min(...words.map((word) => small.indexOf(word)).filter((found) => found >= 0))
  const start = at === Number.POSITIVE_INFINITY || at < excerptLead ? 0 : wordStart(text, at)
  const part = text.slice(start, start + excerptMax)
  const isWhole = start + excerptMax >= text.length
  const end = isWhole ? part : `${part.replace(/\s+\S*$/, '')} …`
  return start === 0 ? end : `… ${end}`
}

/** The start of a word, about as far before a place as an excerpt leads in. */
const wordStart = (text: string, at: number): number => text.indexOf(' ', at - excerptLead) + 1

const everyPlace = (): Place[] => [
  ...frontPlaces(),
  ...areas.flatMap(placesOfArea),
  ...errorPlaces(),
]

const placeOf = (href: string, title: string, kind: string, ...text: string[]): Place => {
  const plain = text.filter(Boolean).join(' ').replaceAll('`', '').replace(/\s+/g, ' ')
  const name = `${title} ${kind}`.toLowerCase()
  return { href, title, kind, text: plain, sought: { name, whole: plain.toLowerCase() } }
}

const frontPlaces = (): Place[] => [
  ...rules.map((rule) => placeOf('/docs#everywhere', 'What holds everywhere', 'Rule', rule)),
  ...[environmentText(''), onceText, ...notes].map((note) =>
    placeOf('/docs#clients', 'Official clients', 'Note', note),
  ),
  placeOf('/docs#mcp', 'Tools (MCP)', 'Setup', toolText, clientText('')),
  placeOf('/docs#errors', 'Errors', 'Shape', errorText),
]

const errorPlaces = (): Place[] =>
  Object.entries(refusals).map(([type, [status, message]]) =>
    placeOf(`/docs#${type}`, type, `Error ${status}`, message),
  )

function placesOfArea({ id, title, about, operations, schemas }: (typeof areas)[number]): Place[] {
  const path = `/docs/${id}`
  return [
    placeOf(path, title, 'Chapter', about),
    ...operations.map((operation) => {
      const once: Schemas = operation.isIdempotent ? { 'Idempotency-Key': {} } : {}
      const asked: Schemas = { ...operation.path, ...operation.query, ...once }
      const names = Object.entries(asked).map(([name, of]) => `${name}: ${of['description'] ?? ''}`)
      const route = `${methodOf(operation)} ${pathOf(operation)}`
      return placeOf(`${path}#${operation.id}`, operation.title, route, operation.about, ...names)
    }),
    ...Object.entries(schemas).map(([name, schema]) => {
      const about = String(schema['description'] ?? '')
      const members = fieldsOf(schema).map((field) => `${field.name}: ${field.about}`)
      return placeOf(`${path}#${name}`, name, 'Schema', about, ...members)
    }),
  ]
}
