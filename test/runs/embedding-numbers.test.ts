import { expect, test } from 'bun:test'
import { embeddingToml, expectSettled, modelsToml, moneyOf, upstreamToml } from '../support/runs.ts'
import { startStubUpstream } from '../support/stub-upstream.ts'
import { usd, world } from '../support/world.ts'

const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

/** Lists of embeddings that no receipt could commit to. */
const unsound: [what: string, data: string][] = [
  ['a number beyond a double', '[{"index":0,"embedding":[1e999]}]'],
  ['a number beyond a double beside it', '[{"index":1e999,"embedding":[1]}]'],
  ['half of a surrogate pair as its text', '[{"index":0,"embedding":"\\ud800"}]'],
  ['half of a surrogate pair beside it', '[{"index":0,"object":"\\udc00\\ud800","embedding":[1]}]'],
  ['lists in lists', `[{"index":0,"embedding":[${deep(120)}]}]`],
  ['lists in lists without end', `[{"index":0,"embedding":[${deep(200_000)}]}]`],
]

test.each(unsound)('an embedding with %s is a 502 that costs nothing', async (_, data) => {
  const stub = await startStubUpstream({
    handler: (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(`{"object":"list","data":${data},"model":"x"}`)
    },
  })
  const toml = upstreamToml('stub', stub.url) + embeddingToml('stub/huge', '"stub:huge"')
  const w = await world({ toml })
  const { secret } = await w.key({ balance: usd })
  const answer = await w.call('/v1/embeddings', {
    key: secret,
    json: { model: 'stub/huge', input: 'a' },
  })
  expect([answer.status, (await answer.json()).error.type]).toEqual([502, 'upstream_error'])
  await expectSettled(w)
  expect((await moneyOf(w, secret)).balance_nusd).toBe(Number(usd))
  await w.stop()
  await stub.stop()
})

test('a chat whose answer nests lists without end is a 502 that costs nothing', async () => {
  const choice = '{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}'
  const stub = await startStubUpstream({
    handler: ({ body }, response) => {
      const type = body['stream'] === true ? 'text/event-stream' : 'application/json'
      const start = body['stream'] === true ? 'data: ' : ''
      response.writeHead(200, { 'content-type': type })
      response.end(`${start}{"choices":[${choice}],"x":${deep(60_000)}}\n\n`)
    },
  })
  const w = await world({ toml: modelsToml(stub.url, ['deep']) })
  const { secret } = await w.key({ balance: usd })
  for (const stream of [false, true]) {
    const messages = [{ role: 'user', content: 'a' }]
    const json = { model: 'stub/deep', messages, stream }
    const answer = await w.call('/v1/chat/completions', { key: secret, json })
    expect([answer.status, (await answer.json()).error.type]).toEqual([502, 'upstream_error'])
  }
  await expectSettled(w)
  expect((await moneyOf(w, secret)).balance_nusd).toBe(Number(usd))
  await w.stop()
  await stub.stop()
})
