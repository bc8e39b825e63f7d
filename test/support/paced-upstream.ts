import type { ServerResponse } from 'node:http'
import type { JsonObject } from '../../src/models/upstream/upstream.ts'
import { type StubHandler, type StubUpstream, startStubUpstream } from './stub-upstream.ts'

/** How many words an answer has. */
const words = 10

/** What it reports: so every run of `pace-<ms>` costs the same, see {@link pacedCost}. */
const usage = { prompt_tokens: 20, completion_tokens: words, total_tokens: 20 + words }

/** The models that {@link pacedModels} names. */
export const paces = ['pace-5', 'pace-50', 'pace-300', 'endless', 'silent'] as const

/** 20 × 150,000 + 10 × 600,000 pUSD, and 1,000 nUSD a request. */
export const pacedCost = 10_000

/** What a run of `stub/flat` costs, and the most it could cost: its hold is its price. */
export const flatCost = 1000

/**
 * An upstream that takes its time: `pace-<ms>` spreads ten words over that long (streamed or
 * not), `endless` says a word every 10 ms until the other side goes, `silent` never answers.
 */
export const startPacedUpstream = (): Promise<StubUpstream> =>
  startStubUpstream({ handler: behave })

const behave: StubHandler = async ({ body }, response) => {
  const model = String(body['model'])
  const isStream = body['stream'] === true
  if (model === 'silent') return
  const isEndless = model === 'endless'
  const stepMs = isEndless ? 10 : Number(model.slice('pace-'.length)) / words
  if (isStream) response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let i = 0; (isEndless || i < words) && !response.destroyed; i++) {
    await Bun.sleep(stepMs)
    if (isStream) send(response, chunk(model, { content: `word${i} ` }, null))
  }
  if (response.destroyed) return
  if (!isStream) {
    const message = { role: 'assistant', content: 'word '.repeat(words) }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    const answer = { id: 'c', object: 'chat.completion', created: 1, model, choices, usage }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    return
  }
  send(response, chunk(model, {}, 'stop'))
  send(response, { ...chunk(model, {}, null), choices: [], usage })
  response.end('data: [DONE]\n\n')
}

const send = (response: ServerResponse, value: JsonObject): void =>
  void response.write(`data: ${JSON.stringify(value)}\n\n`)

const chunk = (model: string, delta: JsonObject, reason: string | null): JsonObject => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model,
  choices: [{ index: 0, delta, finish_reason: reason }],
})

/** The configuration that offers all of it, priced, as `stub/<name>`, and `stub/flat`. */
export function pacedModels(url: string): string {
  const models = paces.map(
    (name) => `
[[models]]
id = "stub/${name}"
route = ["stub:${name}"]
kind = "chat"
context_tokens = 1000
max_output_tokens = 100
input_pusd = 150_000
output_pusd = 600_000
request_nusd = 1000`,
  )
  models.push(`
[[models]]
id = "stub/flat"
route = ["stub:pace-50"]
kind = "chat"
context_tokens = 1000
max_output_tokens = 100
input_pusd = 0
output_pusd = 0
request_nusd = ${flatCost}`)
  return [`[[upstreams]]\nid = "stub"\nbase_url = "${url}"`, ...models].join('\n')
}
