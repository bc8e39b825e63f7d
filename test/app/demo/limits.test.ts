import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { promise } from '../../support/promise.ts'
import { keyOf, runOf, type SmallDemo, smallDemo } from './demo.ts'

setDefaultTimeout(120_000)

/** Small enough to be reached, and each by one test alone. */
const limits = {
  bodyBytes: 4096,
  bytes: { all: 200_000, each: 20_000 },
  requestsPerMinute: 120,
  writesPerMinute: 60,
  writes: { all: 1000, each: 50 },
  visitors: { all: 16, each: 3 },
  runsPerMinute: 4,
  runs: { all: 100, each: 6 },
  keys: { all: 50, each: 3 },
  shares: { all: 50, each: 1 },
  passports: { all: 50, each: 1 },
}

promise`R3 H: What the public can do with the demonstration is bounded: visitors, requests, bytes,
  runs, keys, shares and passports; nothing goes to other servers.`
describe('the limits of a demonstration', () => {
  let demo: SmallDemo
  beforeAll(async () => {
    demo = await smallDemo(limits)
  }, 120_000)
  afterAll(() => demo?.end())

  /** The 429 of the product's error body that names the next reset. */
  async function expectLimit(answer: Response, words: string): Promise<void> {
    const { error } = await answer.json()
    const at = demo.current().deps.demo?.resetsAt ?? 0
    const hour = `${new Date(at).toISOString().slice(11, 16)} UTC`
    expect([answer.status, error.type, error.message]).toEqual([
      429,
      'rate_limited',
      `${words} The demo is reset at ${hour}.`,
    ])
    expect(error.metadata.resets_at).toBe(new Date(at).toISOString())
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  }

  test('a network has so many new visitors', async () => {
    for (let i = 0; i < limits.visitors.each; i++) {
      expect((await demo.visitor('192.0.2.1')).answer.status).toBe(303)
    }
    const { answer } = await demo.visitor('192.0.2.1')
    expect(answer.status).toBe(429)
    expect(await answer.text()).toContain('no places for new visitors left for your network')
    expect((await demo.visitor('192.0.2.2')).answer.status).toBe(303)
  })

  test('an account has so many keys', async () => {
    const visitor = await demo.visitor('192.0.2.3')
    for (let i = 0; i < limits.keys.each; i++) {
      expect((await keyOf(visitor, `key ${i}`)).answer.status).toBe(201)
    }
    const { answer } = await keyOf(visitor, 'one more')
    await expectLimit(answer, 'This demo has no keys left for your account.')
  })

  test('an account has so many runs a minute, by whichever key', async () => {
    const visitor = await demo.visitor('192.0.2.4')
    const keys = [await keyOf(visitor, 'a'), await keyOf(visitor, 'b')]
    const json = { model: 'acme/small', input: 'Hello', max_output_tokens: 20 }
    const ask = (i: number) => demo.call('/v1/runs', { key: keys[i % 2]?.secret ?? '', json })
    const answers: Response[] = []
    for (let i = 0; i <= limits.runsPerMinute; i++) answers.push(await ask(i))
    const last = answers.pop() as Response
    expect(answers.map(({ status }) => status)).not.toContain(429)
    await expectLimit(last, 'Too many requests. Wait as long as Retry-After says.')
  })

  test('an account has so many runs, shares and passports', async () => {
    const visitor = await demo.visitor('192.0.2.5')
    const { secret } = await keyOf(visitor)
    const ids: string[] = []
    while (ids.length < 2) ids.push((await (await runOf(demo, secret)).json()).id)
    const share = (id: string) =>
      visitor.call(`/api/portal/receipts/${id.replace('run_', 'rcpt_')}/share`, {
        json: { visibility: 'public' },
      })
    expect((await share(ids[0] ?? '')).status).toBe(200)
    await expectLimit(await share(ids[1] ?? ''), 'This demo has no shares left for your account.')
    const claim = (handle: string) =>
      visitor.call('/api/portal/passports', {
        json: { handle, display_name: handle, kind: 'person' },
      })
    expect((await claim('first-of-mine')).status).toBe(201)
    await expectLimit(await claim('second'), 'This demo has no passports left for your account.')
  })

  test('a body has so many bytes, and a network so many in all', async () => {
    const visitor = await demo.visitor('192.0.2.6')
    const { secret } = await keyOf(visitor)
    const send = (bytes: number) =>
      visitor.call('/v1/chat/completions', {
        headers: { authorization: `Bearer ${secret}` },
        json: { model: 'none', messages: [{ role: 'user', content: 'x'.repeat(bytes) }] },
      })
    expect((await send(5000)).status).toBe(413)
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) {
      const answer = await send(3500)
      statuses.push(answer.status)
      if (answer.status !== 429) continue
      await expectLimit(answer, 'This demo has no bytes to send left for your network address.')
    }
    expect(statuses.filter((status) => status === 404).length).toBeGreaterThan(1)
    expect(statuses.at(-1)).toBe(429)
  })

  test('a network has so many changes, and pages are still shown', async () => {
    const visitor = await demo.visitor('192.0.2.7')
    let last: Response | undefined
    for (let i = 0; i < limits.writes.each; i++) {
      last = await visitor.call('/api/auth/nonce', { json: {} })
    }
    await expectLimit(last as Response, 'This demo has no changes left for your network address.')
    expect((await visitor.call('/dashboard')).status).toBe(200)
  })

  test('a network has so many requests a minute', async () => {
    const visitor = await demo.visitor('192.0.2.8')
    const answers = await Promise.all(
      Array.from({ length: limits.requestsPerMinute + 10 }, () => visitor.call('/v1/models')),
    )
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    const words = 'Too many requests. Wait as long as Retry-After says.'
    await expectLimit(refused[0] as Response, words)
  })

  test('no network takes the places of all: the demonstration has so many visitors', async () => {
    const statuses: number[] = []
    for (let i = 0; i < limits.visitors.all; i++) {
      statuses.push((await demo.visitor(`192.0.3.${i}`)).answer.status)
    }
    expect(statuses).toContain(303)
    expect(statuses.at(-1)).toBe(429)
  })
})
