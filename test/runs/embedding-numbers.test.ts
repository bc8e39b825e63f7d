import { expect, test } from 'bun:test'
import { embeddingToml, expectSettled, moneyOf, upstreamToml } from '../support/runs.ts'
import { startStubUpstream } from '../support/stub-upstream.ts'
import { usd, world } from '../support/world.ts'

test('an embedding with a number beyond a double is a 502 that costs nothing', async () => {
  const stub = await startStubUpstream({
    handler: (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('{"object":"list","data":[{"index":0,"embedding":[1e999]}],"model":"x"}')
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
