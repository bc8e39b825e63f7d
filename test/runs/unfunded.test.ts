import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { promise } from '../support/promise.ts'
import { until } from '../support/runs.ts'
import { usd, type World, world } from '../support/world.ts'

const path = '/v1/chat/completions'
const echo = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'hi' }] }
let made = 0

promise`T4`
describe('an account without money', () => {
  let w: World
  beforeAll(async () => {
    w = await world({ toml: '[limits]\nfree_writes_per_day = 12\n' })
  })
  afterAll(() => w.stop())
  const fresh = (balance = 0n) =>
    w.key({ account: `0x${(++made).toString(16).padStart(40, 'e')}`, balance })

  /** Sends the head of a request and none of its body; gives what comes back, and how to go on. */
  async function begin(key: string) {
    const { port, hostname } = new URL(w.origin)
    const socket = connect(Number(port), hostname)
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString()
    })
    const length = JSON.stringify(echo).length
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${key}\r\n` +
        `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`,
    )
    return {
      text: () => text,
      status: () => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0),
      finish: () => socket.write(JSON.stringify(echo)),
      end: () => socket.destroy(),
    }
  }

  test('has two runs at once, and is refused a third before its body is read', async () => {
    const { secret } = await fresh()
    const open = [await begin(secret), await begin(secret)]
    await Bun.sleep(100)
    const third = await begin(secret)
    await until('an answer', () => third.status() > 0)
    expect(third.status()).toBe(429)
    expect(third.text()).toContain('concurrency_limited')
    expect(third.text().toLowerCase()).toContain('retry-after: 1')
    for (const one of open) one.finish()
    for (const one of open) await until('an answer', () => one.status() > 0)
    expect(open.map((one) => one.status())).toEqual([200, 200])
    for (const one of [...open, third]) one.end()
    expect((await w.call(path, { key: secret, json: echo })).status).toBe(200)
  })

  test('that used its budget up is refused before a body is read, and served once it has paid', async () => {
    const { secret, key } = await fresh()
    const ask = () => w.call(path, { key: secret, json: echo })
    while ((await ask()).ok);
    const early = await begin(secret)
    await until('an answer', () => early.status() > 0)
    expect([early.status(), early.text().includes('free_writes')]).toEqual([429, true])
    early.end()
    await w.key({ account: key.accountId, balance: usd })
    await until('a run', async () => (await ask()).status === 200)
  })

  test('becomes one with money by a deposit, which has the places of its plan', async () => {
    const { secret } = await fresh(usd)
    const open = await Promise.all(Array.from({ length: 5 }, () => begin(secret)))
    await Bun.sleep(100)
    for (const one of open) one.finish()
    for (const one of open) await until('an answer', () => one.status() > 0)
    expect(open.map((one) => one.status())).toEqual([200, 200, 200, 200, 200])
    for (const one of open) one.end()
  })
})
