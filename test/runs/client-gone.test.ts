import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  expectSettled,
  inputPrice,
  lastRun,
  modelToml,
  until,
  upstreamToml,
} from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

describe('a client that hangs up while its whole answer is made', () => {
  const waiting: ((status: number) => void)[] = []
  let held: StubUpstream
  let next: StubUpstream
  let w: World
  let secret: string

  beforeAll(async () => {
    held = await startStubUpstream({
      handler: async (_, response) => {
        const status = await new Promise<number>((resolve) => waiting.push(resolve))
        const message = { role: 'assistant', content: 'late' }
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }))
      },
    })
    next = await startStubUpstream()
    const toml =
      upstreamToml('held', held.url) +
      upstreamToml('next', next.url) +
      modelToml('held/any', '"held:any", "next:normal"')
    w = await world({ toml })
    secret = (await w.key({ balance: usd })).secret
  })
  afterAll(async () => {
    await w.stop()
    await held.stop()
    await next.stop()
  })

  /** Hangs up once the upstream has the run, which then answers with `status`, or never. */
  async function hangUp(status: number | undefined): Promise<void> {
    const leave = new AbortController()
    const answer = w.call('/v1/chat/completions', {
      key: secret,
      json: { model: 'held/any', messages: [{ role: 'user', content: 'hello' }] },
      signal: leave.signal,
    })
    const gone = answer.then(
      () => false,
      () => true,
    )
    await until('the upstream to be asked', () => waiting.length > 0)
    leave.abort()
    expect(await gone).toBe(true)
    // Long enough for the server to see its connection end, shorter than it waits to listen.
    await Bun.sleep(10)
    const release = waiting.pop()
    if (status !== undefined) release?.(status)
    await until('the run to end', () => w.deps.live.count() === 0)
  }

  // 48 bytes went upstream; where the client chose the end, three are a token.
  const input = 16n * inputPrice
  test.each([
    ['answers without a usage', 200, input],
    ['fails', 500, 0n],
    ['stays silent', undefined, input],
  ])('pays for its input alone when the upstream %s', async (_, status, cost) => {
    await hangUp(status)
    const ended = await lastRun(w)
    expect([ended.outcome, ended.error?.type]).toEqual(['cancelled', 'conflict'])
    // On a busy machine the client may be missed before the upstream fails.
    expect([cost, input]).toContain(ended.cost)
    const message = ended.error?.message ?? ''
    expect(message.includes('Nothing was charged')).toBe(ended.cost === 0n)
    await until('the upstream to be let go', () => held.counts.active === 0)
    await expectSettled(w)
  })

  test('leaves the next upstream of its route unasked', () => {
    expect(next.counts.requests).toBe(0)
  })
})
