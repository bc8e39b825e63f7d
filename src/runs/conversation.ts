/** Reads the conversation in the kept texts of a run, whichever protocol it came by. */
import type { Json } from '../kernel/canonical.ts'
import { isObject, type JsonObject } from '../kernel/json-object.ts'
import { type Answer, readAnswer } from '../models/answers/answer-parts.ts'

/** A message with the name of its side: `system`, `user`, `assistant`, `tool`. */
export type SaidMessage = { role: string; answer: Answer }

/** The messages of a request; undefined for a body that holds none that can be read. */
export function messagesIn(input: Json): SaidMessage[] | undefined {
  if (!isObject(input)) return undefined
  const told = [input['system'], input['instructions']].flatMap((text) => one('system', text))
  const turns = objectsIn(input['turns']).flatMap((turn) => [
    ...one('user', turn['input']),
    ...one('assistant', turn['output']),
  ])
  const asked = input['messages'] ?? input['input'] ?? null
  const said = typeof asked === 'string' ? one('user', asked) : objectsIn(asked).map(messageOf)
  return said.length === 0 ? undefined : [...told, ...turns, ...said]
}

/** The answers of a run, one for each choice; undefined for vectors and anything else. */
export function answersIn(output: Json | null): Answer[] | undefined {
  const found = objectsIn(output).flatMap(({ message }) =>
    isObject(message) ? [readAnswer(flat(message))] : [],
  )
  return found.length === 0 ? undefined : found
}

function messageOf(item: JsonObject): SaidMessage {
  const role = typeof item['role'] === 'string' ? item['role'] : String(item['type'] ?? 'item')
  const isMessage = item['content'] !== undefined || item['tool_calls'] !== undefined
  if (isMessage) return { role, answer: readAnswer(flat(item)) }
  return { role, answer: plain(JSON.stringify(item)) }
}

/** The message with its parts as text; a part without text is named. */
function flat(message: JsonObject): JsonObject {
  const { content } = message
  if (!Array.isArray(content)) return message
  const parts = content.filter(isObject).map((part) => {
    if (typeof part['text'] === 'string') return part['text']
    const inner = part['content']
    return typeof inner === 'string' ? inner : `[${String(part['type'] ?? 'part')}]`
  })
  return { ...message, content: parts.join('\n') }
}

const one = (role: string, content: Json | undefined): SaidMessage[] =>
  content === undefined || content === null || content === ''
    ? []
    : [{ role, answer: readAnswer(flat({ content })) }]

const plain = (text: string): Answer => ({ text, reasoning: '', calls: [], images: [] })

const objectsIn = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : []

/** A request that asks the same again. The key is in the environment, never its secret. */
export function curlAgain(
  baseUrl: string,
  { model, kind }: { model: string; kind: string },
  input: Json | undefined,
): string {
  const [path, body] = againOf(model, kind, input)
  return [
    `curl ${baseUrl}${path}`,
    '  -H "Authorization: Bearer $COUNTERFOIL_KEY"',
    "  -H 'Content-Type: application/json'",
    `  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
  ].join(' \\\n')
}

function againOf(model: string, kind: string, input: Json | undefined): [string, Json] {
  const asked = isObject(input) ? input : {}
  if (kind !== 'chat') return ['/v1/embeddings', { model, input: asked['input'] ?? 'Your text' }]
  const { stream: _, background: __, ...body } = asked
  const isChat = Array.isArray(body['messages']) && body['system'] === undefined
  if (isChat) return ['/v1/chat/completions', { ...body, model }]
  const said = messagesIn(asked) ?? [{ role: 'user', answer: plain('Your message') }]
  const messages = said.map(({ role, answer }) => ({ role, content: answer.text }))
  return ['/v1/chat/completions', { model, messages }]
}
