import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { promise } from '../support/promise.ts'
import { pricedBuiltins } from '../support/runs.ts'
import { engines, testAccount, usd, type World, world } from '../support/world.ts'

promise`T10 C: No run is charged whose client is gone before its hold, as with two requests in one
  segment.`
describe.each(engines)('two requests in one segment, on %s', (engine) => {
  let w: World
  let secret: string
  beforeAll(async () => {
    w = await world({ engine, toml: pricedBuiltins })
    secret = (await w.key({ balance: 10n * usd })).secret
  }, 60_000)
  afterAll(() => w.stop())

  const post = (path: string, body: object): string => {
    const { host } = new URL(w.origin)
    const text = JSON.stringify(body)
    const lines = [
      `POST ${path} HTTP/1.1`,
      `Host: ${host}`,
      `Authorization: Bearer ${secret}`,
      'Content-Type: application/json',
      `Content-Length: ${text.length}`,
    ]
    return `${lines.join('\r\n')}\r\n\r\n${text}`
  }
  /** Sends bytes at once; returns the number of answers that came before the connection ended. */
  const send = (bytes: string): Promise<number> =>
    new Promise((resolve) => {
      const socket = connect(Number(new URL(w.origin).port), 'localhost')
      let heard = ''
      socket.on('data', (data) => {
        heard += data
      })
      socket.on('close', () => resolve(heard.split('HTTP/1.1 2').length - 1))
      socket.on('error', () => {})
      socket.write(bytes)
      setTimeout(() => socket.end(), 1000)
    })
  const runs = async (): Promise<number> =>
    (await (await w.call('/v1/runs?limit=100', { key: secret })).json()).data.length

  const model = 'counterfoil/echo-1'
  const messages = [{ role: 'user', content: 'hello' }]
  const doors: [string, object][] = [
    ['/v1/runs', { model, input: 'hello' }],
    ['/v1/runs', { model, input: 'hello', background: true }],
    ['/v1/chat/completions', { model, messages }],
    ['/v1/chat/completions', { model, messages, stream: true }],
    ['/v1/messages', { model, messages, max_tokens: 20 }],
    ['/v1/responses', { model, input: 'hello' }],
    ['/v1/embeddings', { model: 'counterfoil/embed-1', input: 'hello' }],
  ]
  test.each(doors)('charge for no run of %s that is not answered (%p)', async (path, body) => {
    const before = await runs()
    const answers = await send(post(path, body) + post(path, body))
    expect((await runs()) - before).toBe(answers)
    const account = await w.deps.accounts.find(testAccount)
    expect(account?.held).toBe(0n)
  })

  test('are both answered when they come one after the other on one connection', async () => {
    const before = await runs()
    const answers = [
      await w.call('/v1/runs', { key: secret, json: { model, input: 'a' } }),
      await w.call('/v1/runs', { key: secret, json: { model, input: 'b' } }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect((await runs()) - before).toBe(2)
  })
})
