import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { changeKey } from '../../src/access/keys/change.ts'
import { newAccount } from '../ledger/office.ts'
import { messagesDoor } from '../support/doors.ts'
import { allRuns, expectSettled, modelToml, moneyOf, until, upstreamToml } from '../support/runs.ts'
import { speechAt } from '../support/stub-speech.ts'
import { type StubUpstream, startStubUpstream, stubUsage } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

describe('count_tokens before a server of its protocol', () => {
  let stub: StubUpstream
  let w: World
  let secret: string
  let held = Promise.withResolvers<void>()

  beforeAll(async () => {
    stub = await startStubUpstream({
      async handler({ path, body }, response) {
        const name = String(body['model'])
        response.setHeader('content-type', 'application/json')
        if (!path.endsWith('/count_tokens')) {
          response.end(JSON.stringify(speechAt(path, name).whole('Hi', stubUsage)))
        } else if (name === 'fails') response.writeHead(500).end('{}')
        else if (name === 'odd') response.end('{"input_tokens":-1.5}')
        else if (name === 'stalls') return
        else {
          if (name === 'waits') await held.promise
          response.end('{"input_tokens":4663}')
        }
      },
    })
    const kind = 'kind = "anthropic"\nbreaker_failures = 1'
    const names = ['counts', 'fails', 'odd', 'stalls', 'waits']
    const far = upstreamToml('far', stub.url, kind) + upstreamToml('chat', stub.url)
    const models = names.map((name) => modelToml(`far/${name}`, `"far:${name}"`)).join('')
    w = await world({ toml: far + models + modelToml('chat/counts', '"chat:counts"') })
    secret = (await w.key({ balance: usd })).secret
  })
  afterAll(async () => {
    held.resolve()
    await expectSettled(w)
    await w.stop()
    await stub.stop()
  })

  const body = { messages: [{ role: 'user', content: 'How is the weather in Rome?' }] }
  const count = (model: string, more: object = {}, key = secret) =>
    w.call('/v1/messages/count_tokens', {
      key,
      json: { model, ...body, ...more },
      headers: { 'anthropic-beta': 'some-beta' },
    })
  const countedBy = async (key: string): Promise<number> =>
    (await (await count('far/waits', {}, key)).json()).input_tokens
  const counted = async (model: string): Promise<number> =>
    (await (await count(model)).json()).input_tokens
  /** What our own count says. */
  const ours = () => counted('chat/counts')

  test('is that of the server, which gets what it counts by', async () => {
    const system = [{ type: 'text', text: 'Short.', cache_control: { type: 'ephemeral' } }]
    const answer = await count('far/counts', { system, max_tokens: 5, temperature: 1, unheard: 1 })
    expect(await answer.json()).toEqual({ input_tokens: 4663 })
    const { path, body: sent, headers } = stub.calls.at(-1) ?? {}
    expect(path).toBe('/v1/messages/count_tokens')
    expect(sent as unknown).toEqual({ model: 'counts', ...body, system })
    expect(headers?.['anthropic-beta']).toBe('some-beta')
  })

  test.each(['fails', 'odd', 'stalls'])(
    'is our own where the server %s',
    async (name) => {
      const own = await ours()
      expect(own).toBeGreaterThan(5)
      const before = stub.calls.length
      // The name of the model is among the bytes that are counted.
      expect(Math.abs((await counted(`far/${name}`)) - own)).toBeLessThan(3)
      expect(stub.calls.length).toBe(before + 1)
    },
    20_000,
  )

  test('is our own above 32 questions at once, and above four of one account', async () => {
    held = Promise.withResolvers()
    const before = stub.counts.requests
    const secrets = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const { secret: theirs } = await w.key({ account: newAccount(), balance: usd })
        return theirs
      }),
    )
    const first = secrets[0] ?? ''
    const ofOne = Array.from({ length: 6 }, () => countedBy(first))
    await until('the questions of one', () => stub.counts.requests === before + 4)
    await countedBy(first)
    expect(stub.counts.requests).toBe(before + 4)
    const asked = secrets.slice(1).flatMap((one) => [1, 2, 3, 4].map(() => countedBy(one)))
    await until('the questions', () => stub.counts.requests === before + 32)
    // The others have their answer by now, or get it without the server.
    await countedBy(secret)
    expect(stub.counts.requests).toBe(before + 32)
    held.resolve()
    const all = await Promise.all([...ofOne, ...asked])
    expect(all.filter((tokens) => tokens === 4663)).toHaveLength(32)
  })

  test('is our own for an account without money, and the server is not asked', async () => {
    const { secret: poor } = await w.key({ account: newAccount() })
    const before = stub.counts.requests
    const own = await ours()
    const answer = await count('far/counts', {}, poor)
    expect(Math.abs((await answer.json()).input_tokens - own)).toBeLessThan(3)
    expect(stub.counts.requests).toBe(before)
  })

  test('fails no circuit, costs nothing and leaves no run', async () => {
    const money = await moneyOf(w, secret)
    for (let times = 0; times < 3; times++) await count('far/fails')
    expect([await moneyOf(w, secret), await allRuns(w)]).toEqual([money, []])
    const json = messagesDoor.body({ model: 'far/counts', text: 'Hi' })
    expect((await w.call('/v1/messages', { key: secret, json })).status).toBe(200)
  })

  test('asks for no model that the key may not use', async () => {
    const { secret: narrow } = await w.key({ models: ['chat/*'] })
    const before = stub.calls.length
    const answer = await count('far/counts', {}, narrow)
    expect([answer.status, stub.calls.length]).toEqual([403, before])
    expect(messagesDoor.read(await answer.text()).error).toBe('model_not_allowed')
  })

  test('is our own for a key whose cap is spent, or one above it, and for a key that may not run', async () => {
    const account = newAccount()
    const { key: root } = await w.key({ account, balance: usd, capLimit: usd })
    const { secret: child } = await w.key({ account, parentId: root.id, capLimit: usd })
    const { secret: reader } = await w.key({ account, scopes: ['runs:read'] })
    const { secret: rich } = await w.key({ account })
    const json = messagesDoor.body({ model: 'far/counts', text: 'Hi' })
    expect((await w.call('/v1/messages', { key: child, json })).status).toBe(200)
    const before = stub.counts.requests
    expect((await (await count('far/counts', {}, child)).json()).input_tokens).toBe(4663)
    expect((await (await count('far/counts', {}, rich)).json()).input_tokens).toBe(4663)
    const { window } = await w.deps.keys.show(root.id, w.deps.clock.now())
    const change = { capLimit: window?.spent ?? 0n }
    await changeKey(w.deps, { keyId: root.id, actor: 'test', change })
    for (const secret of [child, reader]) {
      expect((await (await count('far/counts', {}, secret)).json()).input_tokens).toBeLessThan(4663)
    }
    expect(stub.counts.requests).toBe(before + 2)
  })
})
