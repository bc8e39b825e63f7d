import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Doors, serveDoors } from './doors.ts'

describe('paths and methods that are not served', () => {
  let doors: Doors
  let w: Doors['w']
  beforeAll(async () => {
    doors = await serveDoors()
    ;({ w } = doors)
  })
  afterAll(() => doors.stop())

  describe('a path that is not served says what is', () => {
    const words = async (path: string): Promise<string> => {
      const answer = await w.call(path, { method: 'POST', headers: { accept: '*/*' } })
      const { error } = await answer.json()
      expect(answer.status).toBe(404)
      return error.message
    }

    test('of OpenAI', async () => {
      expect(await words('/v1/images/generations')).toContain('is not served here')
      expect(await words('/v1/nothing')).toContain('POST /v1/chat/completions')
    })

    test.each([
      ['/chat/completions', '/v1/chat/completions'],
      ['/messages/count_tokens', '/v1/messages/count_tokens'],
      ['/v1/chat/completions/', '/v1/chat/completions'],
      ['//v1//messages', '/v1/messages'],
      ['/v1/v1/messages', '/v1/messages'],
      ['/v1/messages/v1/messages', '/v1/messages'],
      ['/v1/chat/completions/chat/completions', '/v1/chat/completions'],
      ['/v2/responses', '/v1/responses'],
      ['/api/v1/embeddings', '/v1/embeddings'],
      ['/anthropic/v1/messages', '/v1/messages'],
    ])('%s names %s', async (path, right) => {
      expect(await words(path)).toContain(right)
    })

    test('with a word where an id is, is not there for another method either', async () => {
      for (const path of ['/v1/responses/review', '/v1/models/test/openai:predict']) {
        expect(await words(path)).toContain('There is no such path')
      }
    })

    test('to a browser too', async () => {
      for (const path of ['/v1/none', '/v1beta/none', '/api/tags', '/v2/chat', '/openai']) {
        const answer = await w.call(path, {
          headers: { accept: 'text/html', 'hx-request': 'true' },
        })
        const { error } = await answer.json()
        expect([answer.status, error.type]).toEqual([404, 'not_found'])
        expect(error.message).toContain('POST /v1/chat/completions')
      }
    })
  })

  test('a method that a path does not take is told which it takes', async () => {
    for (const [method, path, taken] of [
      ['GET', '/v1/chat/completions', 'POST'],
      ['GET', '/v1/responses', 'POST'],
      ['POST', '/v1/models', 'GET'],
    ] as const) {
      const answer = await w.call(path, { method, headers: { accept: 'text/html' } })
      const { error } = await answer.json()
      expect([answer.status, error.message]).toEqual([405, `Send ${taken} to this path.`])
      expect(answer.headers.get('allow')).toContain(taken)
    }
  })
})
