import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/models/upstream/upstream.ts'
import { expectSettled, lastRun, modelToml, upstreamToml } from '../support/runs.ts'
import { startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

/** A server of Messages that bills all it reads as written to its cache, if it is told to cache. */
let stub: Awaited<ReturnType<typeof startStubUpstream>>
let w: World
const seen: JsonObject[] = []
const isMarked = (body: JsonObject) => JSON.stringify(body).includes('"cache_control"')

beforeAll(async () => {
  stub = await startStubUpstream({
    handler: ({ body }, response) => {
      seen.push(body)
      const read = JSON.stringify(body['messages']).length
      const usage = isMarked(body)
        ? { input_tokens: 0, cache_creation_input_tokens: read, output_tokens: 1 }
        : { input_tokens: read, output_tokens: 1 }
      const content = [{ type: 'text', text: 'hello' }]
      const answer = { id: 'msg_1', type: 'message', role: 'assistant', model: 'any', content }
      response.end(JSON.stringify({ ...answer, stop_reason: 'end_turn', usage }))
    },
  })
  const rates = 'cache_read_pusd = 100\ncache_write_pusd = 5_000_000'
  const model = (id: string, more: string) => modelToml(id, '"stub:any"', `${rates}\n${more}`)
  w = await world({
    toml:
      upstreamToml('stub', stub.url, 'kind = "anthropic"') +
      model('stub/asked', '') +
      model('stub/auto', 'cache = "auto"'),
  })
})
afterAll(async () => {
  await expectSettled(w)
  await w.stop()
  await stub.stop()
})

const messages = [{ role: 'user', content: 'x'.repeat(2000) }]

test('A model that is always cached marks what a client of another protocol sends, and its hold covers the writes.', async () => {
  const { secret } = await w.key({ balance: usd })
  const ask = async (path: string, json: object) => {
    const answer = await w.call(path, { key: secret, json })
    expect(answer.status).toBe(200)
    const run = await lastRun(w)
    return {
      isMarked: isMarked(seen.at(-1) ?? {}),
      meters: run.lines.flatMap(({ meter, quantity }) => (quantity > 0 ? [meter] : [])),
      run,
    }
  }
  const costOf = ({ run }: Awaited<ReturnType<typeof ask>>) => Number(run.cost)
  const asked = await ask('/v1/chat/completions', { model: 'stub/asked', messages, max_tokens: 9 })
  expect([asked.isMarked, asked.meters]).toEqual([false, ['input', 'output']])
  const auto = await ask('/v1/chat/completions', { model: 'stub/auto', messages, max_tokens: 9 })
  expect([auto.isMarked, auto.meters]).toEqual([true, ['cache_write', 'output']])
  expect(costOf(auto)).toBeGreaterThan(costOf(asked) * 4)
  const input = messages[0]?.content ?? ''
  const responses = { model: 'stub/auto', input, max_output_tokens: 9 }
  expect((await ask('/v1/responses', responses)).isMarked).toBe(true)
  // A client of the server's own protocol decides by itself.
  const own = await ask('/v1/messages', { model: 'stub/auto', messages, max_tokens: 9 })
  expect([own.isMarked, own.meters]).toEqual([false, ['input', 'output']])
})
