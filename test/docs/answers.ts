import type { Operation } from '../../src/front/reference/operation.ts'
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

export async function errorType(answer: Response): Promise<string> {
  const { error } = await answer.json()
  // The routes of Anthropic's API have a body of its own, with our type among the details.
  return error.details?.type ?? error.type
}
