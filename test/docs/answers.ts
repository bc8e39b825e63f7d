import { openApiOf } from '../../src/front/reference/document.ts'
import type { Schema } from '../../src/web/http/json-schema.ts'
import { methodOf, type Operation, pathOf } from '../../src/web/reference/operation.ts'
import { makeChecker } from './checker.ts'

const check = makeChecker()

/** What is wrong with an answer as the reference describes it. */
export async function faultsIn(operation: Operation, answer: Response): Promise<string[]> {
  const media = answer.headers.get('content-type')?.split(';')[0] ?? ''
  const described = operation.answers.filter(({ status }) => status === answer.status)
  const isEmpty = described.some(({ content }) => Object.keys(content).length === 0)
  const documented = described.find(({ content }) => media in content) ?? described[0]
  if (!documented) return [`${answer.status} is not described: ${await answer.text()}`]
  const missing = Object.keys(documented.headers ?? {}).filter((name) => !answer.headers.has(name))
  const text = await bodyText(answer, media)
  if (isEmpty && text === '') return missing.map((name) => `without ${name}`)
  const { schema } = documented.content[media] ?? {}
  if (!schema) return [`${media} is not described`]
  // A stream cannot know its cost before its headers.
  const late = media === 'text/event-stream' ? ['X-Cost-Nusd'] : []
  const faults = missing.filter((name) => !late.includes(name)).map((name) => `without ${name}`)
  if (media === 'text/event-stream' && schema['contentSchema'] !== undefined) {
    return [...faults, ...eventFaults(schema['contentSchema'] as Schema, text)]
  }
  if (media !== 'application/json') return text === '' ? [...faults, 'empty'] : faults
  return [...faults, ...check(schema, JSON.parse(text))]
}

/** The first piece of a stream, which may never end; all of anything else. */
async function bodyText(answer: Response, media: string): Promise<string> {
  if (media !== 'text/event-stream') return answer.text()
  const reader = answer.body?.getReader()
  const first = await reader?.read()
  await reader?.cancel()
  return new TextDecoder().decode(first?.value)
}

/** What is wrong with the events that came whole, each by itself. */
function eventFaults(schema: Schema, text: string): string[] {
  const data = text
    .slice(0, text.lastIndexOf('\n\n') + 1)
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice('data: '.length)))
  return data.length === 0 ? ['no events'] : data.flatMap((one) => check(schema, one))
}

const document = openApiOf({ baseUrl: 'https://gw.example', version: '0' })
const { responses } = document.components

/** What is wrong with a refusal as the document describes it: its status, type and metadata. */
export async function refusalFaults(operation: Operation, answer: Response): Promise<string[]> {
  const path = pathOf(operation).replace(/:(\w+)/g, '{$1}')
  const described = document.paths[path]?.[methodOf(operation).toLowerCase()] as unknown as {
    responses: Record<string, { $ref: string }>
  }
  const { $ref = '' } = described.responses[answer.status] ?? {}
  const response = responses[$ref.split('/').at(-1) ?? ''] as unknown as
    | { content: { 'application/json': { schema: Schema } } }
    | undefined
  if (!response) return [`${answer.status} is not described`]
  return check(response.content['application/json'].schema, await answer.json())
}

export async function errorType(answer: Response): Promise<string> {
  const { error } = await answer.json()
  // The routes of Anthropic's API have a body of its own, with our type among the details.
  return error.details?.type ?? error.type
}
