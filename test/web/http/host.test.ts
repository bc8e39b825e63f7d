import { afterAll, describe, expect, test } from 'bun:test'
import { hostCheck, isLoopback } from '../../../src/web/http/host.ts'
import { promise } from '../../support/promise.ts'
import { goodKey, raw, startService } from './service.ts'

const service = startService()
const { port } = service
afterAll(service.stop)

promise`B20 H: A request for another Host is refused before any route.`
describe('421 misdirected_request, whatever the path and key', () => {
  const refused: [name: string, host: string][] = [
    ['empty', ''],
    ['one letter', 'a'],
    ['two letters', 'ab'],
    ['three letters', 'abc'],
    ['with @', 'ab@c'],
    ['ours after @', `a@localhost:${port}`],
    ['another name', 'evil.example'],
    ['another port', `localhost:${port - 1}`],
    ['no port', 'localhost'],
    ['loopback address without port', '127.0.0.1'],
    ['trailing dot', `localhost.:${port}`],
    ['ours as a prefix', 'gw.example.evil.example'],
    ['ours as a suffix', 'evilgw.example'],
    ['base_url with another port', 'gw.example:8443'],
    ['two in one', 'gw.example, gw.example'],
    ['with #', 'gw.example#'],
    ['with /', 'gw.example/'],
    ['with ?', 'gw.example?'],
  ]
  // A short Host moves where a naive router looks for the path: /zzzzzzz was swallowed once.
  for (const path of ['/v1/secret', '/zzzzzzz/v1/secret', '/nothing']) {
    test.each(refused)(`The path ${path} is refused under %s.`, async (_, host) => {
      const answer = await raw(
        port,
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${goodKey}\r\n\r\n`,
      )
      expect(answer.status).toBe(421)
      expect(JSON.parse(answer.body).error.type).toBe('misdirected_request')
      expect(answer.headers['x-request-id']).toMatch(/^req_[0-9a-z]{26}$/)
    })
  }

  test('A request without a Host on HTTP/1.0 is refused.', async () => {
    expect((await raw(port, 'GET /v1/secret HTTP/1.0\r\n\r\n')).status).toBe(421)
  })

  test('no Host on HTTP/1.1 is malformed already', async () => {
    expect((await raw(port, 'GET /v1/secret HTTP/1.1\r\n\r\n')).status).toBe(400)
  })

  test.each([`localhost:${port}`, 'evil.example'])('two Hosts, the second %s', async (second) => {
    const answer = await raw(
      port,
      `GET /v1/status HTTP/1.1\r\nHost: localhost:${port}\r\nHost: ${second}\r\n\r\n`,
    )
    expect(answer.status).toBe(421)
  })

  test('an absolute-form target does not stand in for the Host', async () => {
    const answer = await raw(
      port,
      `GET http://localhost:${port}/v1/status HTTP/1.1\r\nHost: evil.example\r\n\r\n`,
    )
    expect(answer.status).toBe(421)
  })

  test('no guarded handler was reached', () => {
    expect(service.count.reached).toBe(0)
  })
})

describe('our own names are served', () => {
  test.each([
    'gw.example',
    'GW.Example',
    'gw.example:443',
    `localhost:${port}`,
    `LOCALHOST:${port}`,
    `127.0.0.1:${port}`,
    `[::1]:${port}`,
  ])('The server answers under its own name %s.', async (host) => {
    const answer = await raw(port, `GET /v1/status HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    expect(answer.status).toBe(200)
  })

  test('a base_url whose host is one letter keeps its paths whole', async () => {
    const short = startService({}, 'http://a')
    const get = (path: string) => raw(short.port, `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    expect((await get('/v1/status')).status).toBe(200)
    expect((await get('/zzzzzzz/v1/status')).status).toBe(404)
    short.stop()
  })
})

describe('which names count', () => {
  test('loopback names only while listening on loopback', () => {
    const isOurs = hostCheck('http://gw.example:8080', { hostname: '0.0.0.0', port: 8080 })
    expect(isOurs('gw.example:8080')).toBe(true)
    expect(isOurs('localhost:8080')).toBe(false)
    expect(isOurs('gw.example')).toBe(false)
  })

  test('on port 80 a loopback name may leave it out', () => {
    const isOurs = hostCheck('http://localhost', { hostname: '::1', port: 80 })
    expect(['localhost', 'localhost:80', '[::1]', '127.0.0.1'].every(isOurs)).toBe(true)
  })

  test.each([
    ['127.0.0.1', true],
    ['127.8.9.1', true],
    ['::1', true],
    ['localhost', true],
    ['::', false],
    ['0.0.0.0', false],
    ['::ffff:127.0.0.1', true],
    ['example.com', false],
  ])('The host %s is loopback or not.', (hostname, expected) => {
    expect(isLoopback(hostname)).toBe(expected)
  })
})
