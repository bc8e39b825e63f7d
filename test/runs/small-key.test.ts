import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { expectSettled, lastRun, upstreamToml } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

const modelToml = (name: string, more: string) => `[[models]]
id = "acme/${name}"
route = ["stub:${name}"]
kind = "chat"
context_tokens = 200_000
max_output_tokens = 32_000
input_pusd = 3_000_000
output_pusd = 15_000_000
${more}
`

describe('a key with $0.06 and a prompt of $0.0253', () => {
  let w: World
  let stub: StubUpstream
  let content: string
  let tokens: number
  beforeAll(async () => {
    content = (await Bun.file('docs/api.md').text()).slice(0, 21_500)
    tokens = countTokens(content) + 7
    // What it says brings the cost to $0.0253.
    const output = Math.floor((25_300_000 - tokens * 3_000) / 15_000)
    stub = await startStubUpstream({
      handler: (_, response) => {
        response.setHeader('content-type', 'application/json')
        const answer = {
          choices: [
            { index: 0, message: { role: 'assistant', content: 'Done.' }, finish_reason: 'stop' },
          ],
          usage: { prompt_tokens: tokens, completion_tokens: output },
        }
        response.end(JSON.stringify(answer))
      },
    })
    const toml =
      upstreamToml('stub', stub.url) +
      modelToml('exact', 'tokenizer = "o200k_base"') +
      modelToml('thirds', 'hold_bytes_per_token = 3') +
      modelToml('bytes', '')
    w = await world({ toml })
    await w.key({ balance: usd })
  })
  afterAll(async () => {
    await expectSettled(w)
    await w.stop()
    await stub.stop()
  })

  const run = async (model: string) => {
    const { secret } = await w.key({ capLimit: 60_000_000n })
    const messages = [{ role: 'user', content }]
    const json = { model: `acme/${model}`, messages, max_tokens: 1000 }
    return w.call('/v1/chat/completions', { key: secret, json })
  }

  test.each(['exact', 'thirds'])('run with a bound that is near the cost: %s', async (model) => {
    expect((await run(model)).status).toBe(200)
    const { cost, hold, lines } = await lastRun(w)
    expect(Number(cost)).toBeWithin(25_280_000, 25_300_001)
    expect(hold).toBeLessThan(60_000_000n)
    expect(lines[0]).toMatchObject({ meter: 'input', quantity: tokens })
  })

  test('do not where a token is a byte', async () => {
    const answer = await run('bytes')
    expect([answer.status, (await answer.json()).error.type]).toEqual([402, 'cap_exceeded'])
  })
})
