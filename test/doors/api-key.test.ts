import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { promise } from '../support/promise.ts'
import { type Doors, serveDoors } from './doors.ts'

promise`S8 C: A key in x-api-key is the key where the protocol defines it, and nowhere else; two
  different keys are refused, in words that clients show.`
describe('a key at the door of Messages', () => {
  let doors: Doors
  let w: Doors['w']
  let secret: string
  beforeAll(async () => {
    doors = await serveDoors()
    ;({ w, secret } = doors)
  })
  afterAll(() => doors.stop())

  describe('a key as x-api-key', () => {
    const base = { 'content-type': 'application/json' }
    const asked = JSON.stringify({
      model: 'test/anthropic',
      max_tokens: 50,
      messages: [{ role: 'user', content: 'a' }],
    })
    const post = async (path: string, headers: Record<string, string>) => {
      const all = { ...base, ...headers }
      const answer = await w.call(path, { method: 'POST', headers: all, body: asked })
      const body = await answer.json()
      return { status: answer.status, headers: answer.headers, error: body.error ?? {} }
    }
    const paths = ['/v1/messages', '/v1/messages/count_tokens']

    test.each(paths)('is the key at %s, alone and beside the same bearer', async (path) => {
      const bearer = { authorization: `Bearer ${secret}` }
      const ways = [{ 'x-api-key': secret }, { 'x-api-key': secret, ...bearer }, bearer]
      for (const headers of [...ways, { 'x-api-key': '', ...bearer }]) {
        expect((await post(path, headers)).status).toBe(200)
      }
    })

    test.each(paths)('is refused at %s beside another bearer, not retried', async (path) => {
      const other = secret.slice(0, -1) + (secret.endsWith('x') ? 'y' : 'x')
      for (const [bearer, key] of [
        [secret, other],
        [other, secret],
        [secret, 'sk-ant-of-someone'],
      ] as const) {
        const refused = await post(path, { authorization: `Bearer ${bearer}`, 'x-api-key': key })
        expect([refused.status, refused.error.type]).toEqual([401, 'authentication_error'])
        expect(refused.error.details.type).toBe('invalid_key')
        expect(refused.error.message).toContain('two different keys')
        expect(refused.error.message.toLowerCase()).not.toContain('x-api-key')
        expect(refused.headers.get('x-should-retry')).toBe('false')
      }
    })

    test('that is unknown is told both ways to send one, in words that Claude Code shows', async () => {
      const unknown: Record<string, string> = { 'x-api-key': 'sk-ant-of-someone' }
      for (const headers of [unknown, {}]) {
        const { status, error } = await post('/v1/messages', headers)
        expect([status, error.type]).toEqual([401, 'authentication_error'])
        expect(error.message).toContain('ANTHROPIC_API_KEY')
        expect(error.message.toLowerCase()).not.toContain('x-api-key')
        expect(error.message).toContain('Authorization: Bearer sk-service-')
      }
    })

    promise`S8`
    test('does not work as a key at the doors of other protocols, which say where it does', async () => {
      for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/runs', '/v1/quotes']) {
        const { status, error } = await post(path, { 'x-api-key': secret })
        expect([path, status, error.type]).toEqual([path, 401, 'invalid_key'])
        expect(error.message).toContain('ANTHROPIC_AUTH_TOKEN')
      }
    })

    test("works in Anthropic's client, which sends it so", async () => {
      const client = new Anthropic({ apiKey: secret, authToken: null, baseURL: w.origin })
      const { content } = await client.messages.create({
        model: 'test/anthropic',
        max_tokens: 50,
        messages: [{ role: 'user', content: 'a' }],
      })
      expect(content.length).toBeGreaterThan(0)
    })

    test('that is wrong is told at once by a client with its ordinary retries', async () => {
      const options = { apiKey: `${secret}x`, authToken: null, baseURL: w.origin }
      const began = performance.now()
      const asked = new Anthropic(options).messages.create({
        model: 'test/anthropic',
        max_tokens: 50,
        messages: [{ role: 'user', content: 'a' }],
      })
      const error = await asked.then(
        () => undefined,
        (one: unknown) => one,
      )
      expect(error).toBeInstanceOf(Anthropic.AuthenticationError)
      expect(performance.now() - began).toBeLessThan(1000)
    })
  })
})
