import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expectSettled, modelsToml } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { engines, usd, type World, world } from '../support/world.ts'

const messages = [{ role: 'user', content: 'hi' }]

for (const engine of engines) {
  describe(`fit as a key's default and as a header, on ${engine}`, () => {
    let w: World
    let stub: StubUpstream
    let poor: { id: string; secret: string }
    beforeAll(async () => {
      stub = await startStubUpstream()
      w = await world({ engine, toml: modelsToml(stub.url, ['normal']) })
      await w.key({ balance: usd })
      const { key, secret } = await w.key({ capLimit: 500_000n, fit: true })
      poor = { id: key.id, secret }
    })
    afterAll(async () => {
      await expectSettled(w)
      await w.stop()
      await stub.stop()
    })

    const run = (more: object, said?: string, path = '/v1/chat/completions', key = poor.secret) =>
      w.call(path, {
        key,
        json: { model: 'stub/normal', messages, ...more },
        ...(said === undefined ? {} : { headers: { 'x-counterfoil-fit': said } }),
      })
    const statusOf = async (answer: Promise<Response>) => {
      const { status, body } = await answer
      await body?.cancel()
      return status
    }

    test('the header beats the body, the body beats the key', async () => {
      const { secret: strict } = await w.key({ capLimit: 500_000n })
      for (const path of ['/v1/chat/completions', '/v1/runs']) {
        const table: [key: string, more: object, said: string | undefined, status: number][] = [
          [poor.secret, {}, undefined, 200],
          [poor.secret, { fit: false }, undefined, 402],
          [poor.secret, { fit: true }, 'false', 402],
          [poor.secret, { fit: false }, 'True', 200],
          [strict, {}, undefined, 402],
          [strict, { fit: true }, undefined, 200],
          [strict, {}, 'true', 200],
          [strict, { fit: true }, 'false', 402],
        ]
        for (const [key, more, said, status] of table) {
          expect(await statusOf(run(more, said, path, key))).toBe(status)
        }
      }
    })

    test('the answer says what the default lowered to', async () => {
      const whole = await (await run({})).json()
      expect(whole.max_output_tokens).toBeLessThan(1000)
      const answer = await run({ stream: true })
      const streamed = await answer.text()
      expect(Number(/"max_output_tokens":(\d+)/.exec(streamed)?.[1])).toBeLessThan(1000)
      expect(answer.headers.get('x-counterfoil-max-tokens')).not.toBeNull()
    })

    test('a header that is neither true nor false is 400 and named', async () => {
      const answer = await run({}, 'yes')
      const { error } = await answer.json()
      expect([answer.status, error.param]).toEqual([400, 'X-Counterfoil-Fit'])
    })

    test('is read, patched and cleared by its owner, and binds from the next run on', async () => {
      const { secret, key } = await w.key({ scopes: ['runs:write', 'keys:mint', 'keys:read'] })
      const minted = await w.call('/v1/keys', {
        key: secret,
        json: { name: 'child', cap: { limit_nusd: 500_000 }, limits: { fit: true } },
      })
      const child = await minted.json()
      expect([minted.status, child.limits.fit, child.parent_id]).toEqual([201, true, key.id])
      const ask = () => statusOf(run({}, undefined, '/v1/chat/completions', child.secret))
      const patch = (fit: boolean | null) =>
        w.call(`/v1/keys/${child.id}`, { key: secret, json: { limits: { fit } }, method: 'PATCH' })
      expect(await ask()).toBe(200)
      expect((await (await patch(false)).json()).limits.fit).toBe(false)
      expect(await ask()).toBe(402)
      expect((await (await patch(true)).json()).limits.fit).toBe(true)
      expect(await ask()).toBe(200)
      expect((await (await patch(null)).json()).limits.fit).toBe(false)
      expect(await ask()).toBe(402)
      const self = await (await w.call('/v1/keys/self', { key: poor.secret })).json()
      expect(self.limits.fit).toBe(true)
    })
  })
}
