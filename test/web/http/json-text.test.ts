/** Answers of JSON text: the same to a client as the object that the text is of. */
import { afterAll, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { systemClock } from '../../../src/kernel/clock.ts'
import { makeIds } from '../../../src/kernel/ids.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { answerText, jsonText } from '../../../src/web/http/json-text.ts'
import { makeRoot } from '../../../src/web/http/root.ts'
import { serve } from '../../../src/web/http/serve.ts'

const said = { 'x-cost-nusd': '28', 'cache-control': 'public, max-age=5', 'x-count': 3 }
const body = { id: 'run', choices: [{ index: 0, text: 'ü' }] }
const text = JSON.stringify(body)
const listen = { hostname: '127.0.0.1', port: 0 }
const app = makeRoot({
  baseUrl: 'http://localhost',
  listen,
  ids: makeIds(systemClock, systemRandom()),
  log: { error: () => {} },
}).use(
  new Elysia()
    .get('/v1/object', ({ set }) => {
      Object.assign(set.headers, said)
      return body
    })
    .get('/v1/text', ({ set }) => {
      Object.assign(set.headers, said)
      return answerText(set, text)
    })
    .get('/v1/later', ({ set }) => {
      Object.assign(set.headers, said)
      return jsonText(set, Promise.resolve(text))
    }),
)
const server = serve(app, listen)
afterAll(() => server.stop(true))

const ask = async (path: string, method = 'GET') => {
  const answer = await fetch(`http://127.0.0.1:${listen.port}${path}`, { method })
  const headers = Object.fromEntries([...answer.headers].sort())
  const { 'x-request-id': id, date: _, ...rest } = headers
  expect(id).toMatch(/^req_/)
  return { status: answer.status, body: await answer.text(), headers: rest }
}

test('Text is answered with the bytes and the headers of its object, at once or later', async () => {
  const object = await ask('/v1/object')
  expect(object.headers).toMatchObject({ 'cache-control': 'public, max-age=5', 'x-count': '3' })
  expect(object.headers['referrer-policy']).toBe('no-referrer')
  expect(await ask('/v1/text')).toEqual(object)
  expect(await ask('/v1/later')).toEqual(object)
})

test('The headers of one answer do not stay for the next', async () => {
  const first = await fetch(`http://127.0.0.1:${listen.port}/v1/text`)
  const second = await fetch(`http://127.0.0.1:${listen.port}/v1/text`)
  expect(first.headers.get('x-request-id')).not.toBe(second.headers.get('x-request-id'))
  expect(answerText({ headers: {} }, text).headers.get('x-cost-nusd')).toBeNull()
})

test('HEAD of a text has the headers and no body', async () => {
  const { status, body: none, headers } = await ask('/v1/text', 'HEAD')
  expect([status, none, headers['x-cost-nusd']]).toEqual([200, '', '28'])
})
