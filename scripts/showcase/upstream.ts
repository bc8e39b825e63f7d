/** The model server of the showcase: three protocols, embeddings, usage, delays and faults. */
import { createServer, type ServerResponse } from 'node:http'
import { diceOf } from '../../src/app/demo/dice.ts'
import {
  type AnswerUnits,
  answerFor,
  breaksThisOften,
  failsThisOften,
  unitsFor,
} from '../../src/app/demo/words.ts'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import { sendJson } from '../../test/support/messages-upstream.ts'
import {
  type Units,
  type Wire,
  type WireName,
  wires,
} from '../../test/support/scripted-upstream.ts'

/** How time passes while a model works: really, or by a clock that is moved. */
export type Pace = { wait(ms: number): Promise<void> }

const paths: Record<string, WireName> = {
  '/v1/chat/completions': 'openai',
  '/v1/messages': 'anthropic',
  '/v1/responses': 'responses',
}

export type Models = Awaited<ReturnType<typeof startModels>>

export async function startModels(pace: Pace) {
  const dice = diceOf('models')
  const answer = async (path: string, body: JsonObject, response: ServerResponse) => {
    await pace.wait(dice.between(250, 1400))
    if (dice.chance(failsThisOften)) {
      const status = dice.pick([500, 503, 429])
      return sendJson(response, status, { error: { message: 'The model is overloaded.' } })
    }
    const name = paths[path]
    if (!name) return sendJson(response, 200, embeddingsOf(body))
    const wire = wires[name]
    const asked = wire.read(body)
    const isStream = asked.stream === true
    const words = answerFor(dice, isStream)
    const all = unitsFor(dice, asked.text.length, { words: words.length, isStream })
    const units = unitsOf(wire, all)
    const usage = wire.usage(units)
    const thought = 'reasoning' in units ? 'The cause must be in the retries.' : undefined
    const turn = { ...(thought ? { thought } : {}), words, calls: [] }
    if (!asked.stream) return sendJson(response, 200, wire.whole(turn, usage, asked.model))
    const events = wire.stream(turn, usage, asked.model)
    const end = dice.chance(breaksThisOften) ? Math.floor(events.length / 2) : events.length
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events.slice(0, end)) {
      if (response.destroyed) return
      response.write(event)
      await pace.wait(dice.between(10, 45))
    }
    if (end < events.length) response.destroy()
    else response.end()
  }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += piece
    await answer((request.url ?? '').split('?')[0] ?? '', JSON.parse(text), response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port')
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Those that the protocol of a server has names for. */
function unitsOf({ meters }: Wire, all: AnswerUnits): Units {
  const known = ['input', 'output', ...meters]
  return Object.fromEntries(Object.entries(all).filter(([name]) => known.includes(name)))
}

function embeddingsOf({ input, model }: JsonObject): JsonObject {
  const texts = Array.isArray(input) ? input.map(String) : [String(input)]
  const tokens = Math.floor(texts.join('').length / 4.3)
  return {
    object: 'list',
    model: model ?? '',
    data: texts.map((text, index) => ({
      object: 'embedding',
      index,
      embedding: Array.from({ length: 8 }, (_, at) => ((text.length * (at + 3)) % 97) / 97),
    })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}
