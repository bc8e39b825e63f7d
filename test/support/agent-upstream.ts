import type { ServerResponse } from 'node:http'
import type { Json } from '../../src/kernel/canonical.ts'
import type { JsonObject } from '../../src/models/upstream/upstream.ts'
import { chunkOf, embeddingToml, frameOf, modelToml, upstreamToml } from './runs.ts'
import { type StubHandler, type StubUpstream, startStubUpstream } from './stub-upstream.ts'

/** What it says when nothing else is asked, a word a chunk. */
export const said = ['It', ' is', ' sunny', ' in', ' Rome.']
/** What it answers when a JSON schema is asked for. */
export const structured = { city: 'Rome', degrees: 21 }
/** The tools it calls at once, where it was given any and none has answered. */
export const toolCalls = ['Rome', 'Bonn'].map((city, index) => ({
  id: `call_${index}`,
  type: 'function',
  function: { name: 'weather', arguments: JSON.stringify({ city }) },
}))
/** What it reports of every answer, so that each costs {@link agentCost}. */
const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }
/** 7 × 1,000 + 5 × 2,000 nano-USD. */
export const agentCost = 17_000
export const agentModels = ['agent', 'flaky', 'broken', 'endless'] as const

/**
 * An upstream that does what a model with tools does: `agent` calls the tools it is given, answers
 * in JSON where that is asked for, else in words; `flaky` fails every other time with 500 and then
 * does the same; `broken` always fails; `endless` says a word every 5 ms until the other side goes.
 * Embeddings are `[0.6, 0.8]`.
 */
export function startAgentUpstream(): Promise<StubUpstream> {
  let asked = 0
  const handler: StubHandler = async ({ path, body }, response) => {
    if (path.endsWith('/embeddings')) return sendJson(response, 200, embeddingsOf(body))
    const fails = body['model'] === 'broken' || (body['model'] === 'flaky' && asked++ % 2 === 0)
    if (fails) return sendJson(response, 500, { error: { message: 'the model crashed' } })
    if (body['model'] === 'endless') return sendEndless(response)
    const answer = answerTo(body)
    if (body['stream'] !== true) {
      const choice = { index: 0, message: answer, finish_reason: reasonOf(answer) }
      return sendJson(response, 200, { choices: [choice], usage })
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const delta of deltasOf(answer)) response.write(chunkOf(delta))
    response.write(chunkOf({}, reasonOf(answer)))
    response.end(`${frameOf({ choices: [], usage })}data: [DONE]\n\n`)
  }
  return startStubUpstream({ handler })
}

/** The configuration that offers it, as `test/<name>`; `test/embed` makes embeddings. */
export const agentToml = (url: string): string =>
  [
    upstreamToml('agent', url),
    ...agentModels.map((name) => modelToml(`test/${name}`, `"agent:${name}"`)),
    embeddingToml('test/embed', '"agent:embed"'),
  ].join('\n')

type Answer = { role: 'assistant'; content: string | null; tool_calls?: typeof toolCalls }

function answerTo(body: JsonObject): Answer {
  const messages = body['messages'] as { role: string }[]
  const hasTools = Array.isArray(body['tools']) && body['tools'].length > 0
  if (hasTools && !messages.some(({ role }) => role === 'tool')) {
    return { role: 'assistant', content: null, tool_calls: toolCalls }
  }
  const format = body['response_format'] as { type?: string } | undefined
  const content = format?.type?.startsWith('json') ? JSON.stringify(structured) : said.join('')
  return { role: 'assistant', content }
}

const reasonOf = (answer: Answer): string => (answer.tool_calls ? 'tool_calls' : 'stop')

/** Pieces as models send them: names first, arguments in halves, the calls in turns. */
function deltasOf({ content, tool_calls }: Answer): object[] {
  if (!tool_calls) {
    const words = content === said.join('') ? said : (content ?? '').match(/.{1,5}/gs)
    return (words ?? []).map((word) => ({ content: word }))
  }
  const named = tool_calls.map(({ id, type, function: { name } }, index) => ({
    tool_calls: [{ index, id, type, function: { name, arguments: '' } }],
  }))
  const halves = [0, 1].flatMap((half) =>
    tool_calls.map((call, index) => {
      const text = call.function.arguments
      const part = half === 0 ? text.slice(0, 6) : text.slice(6)
      return { tool_calls: [{ index, function: { arguments: part } }] }
    }),
  )
  return [...named, ...halves]
}

async function sendEndless(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  while (!response.destroyed) {
    response.write(chunkOf({ content: ' word' }))
    await Bun.sleep(5)
  }
}

function embeddingsOf(body: JsonObject): JsonObject {
  const inputs = Array.isArray(body['input']) ? body['input'] : [body['input'] ?? '']
  const embedding: Json =
    body['encoding_format'] === 'base64'
      ? Buffer.from(new Float32Array([0.6, 0.8]).buffer).toString('base64')
      : [0.6, 0.8]
  const data = inputs.map((_, index) => ({ object: 'embedding', index, embedding }))
  return { object: 'list', data, usage: { prompt_tokens: 7, total_tokens: 7 } }
}

function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
