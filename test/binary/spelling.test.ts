import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  fund,
  type Home,
  makeHome,
  noBinary,
  type Server,
  unknownSecret,
} from '../support/binary.ts'
import { promise } from '../support/promise.ts'
import { raw } from '../web/http/service.ts'

/** Traps T1 and T2: what a Host header can do to a path, on raw sockets, on the binary. */
describe.skipIf(noBinary)('no spelling of a request reaches a keyed handler without a key', () => {
  let home: Home
  let server: Server
  let secret = ''

  beforeAll(async () => {
    home = await makeHome('[limits]\nfailed_auth_per_minute = 1_000_000\n')
    secret = await fund(home, '10.00')
    server = await home.start()
  })
  afterAll(() => home?.remove())

  const send = (method: string, target: string, headers: string[], version = 'HTTP/1.1') => {
    const body = method === 'POST' ? '{"model":"counterfoil/echo-1","input":"hi"}' : ''
    const length = body ? [`Content-Length: ${body.length}`, 'Content-Type: application/json'] : []
    const lines = [`${method} ${target} ${version}`, ...headers, ...length, 'Connection: close']
    return raw(server.port, `${lines.join('\r\n')}\r\n\r\n${body}`)
  }

  const hosts = (): [name: string, headers: string[]][] => [
    ['ours', [`Host: localhost:${server.port}`]],
    ['ours in capitals', [`HOST: LOCALHOST:${server.port}`]],
    ['our address', [`Host: 127.0.0.1:${server.port}`]],
    ['none', []],
    ['empty', ['Host:']],
    ['two', [`Host: localhost:${server.port}`, 'Host: evil.example']],
    ['two alike', [`Host: localhost:${server.port}`, `Host: localhost:${server.port}`]],
    ['two, ours last', ['Host: a', `Host: localhost:${server.port}`]],
    ['joined by a comma', [`Host: localhost:${server.port}, localhost:${server.port}`]],
    ['a letter', ['Host: a']],
    ['two letters', ['Host: ab']],
    ['three letters', ['Host: abc']],
    ['with a user', ['Host: a@b']],
    ['ours with a user', [`Host: a@localhost:${server.port}`]],
    ['ours without the port', ['Host: localhost']],
    ['ours with another port', ['Host: localhost:1']],
    ['ours with a dot', [`Host: localhost.:${server.port}`]],
    ['ours with a path', [`Host: localhost:${server.port}/v1/status?`]],
    ['ours with a hash', [`Host: localhost:${server.port}#`]],
    ['a path', ['Host: /']],
    ['a space inside', [`Host: localhost:${server.port} x`]],
    ['another', ['Host: evil.example']],
  ]

  const targets = (): [method: string, target: string][] => {
    const paths = ['/v1/keys/self', '/v1/balance', '/v1/runs', '/v1/receipts']
    const spelt = paths.flatMap((path) => [
      path,
      `/${path}`,
      path.replace('/v1/', '/v1//'),
      path.replace('/v1/', '//v1/'),
      path.replace('/v1/', '/./v1/'),
      path.replace('/v1/', '/v1/./'),
      path.replace('/v1/', '/x/../v1/'),
      path.replace('/v1/', '/v1/status/../'),
      path.replace('/v1/', '/%2e/v1/'),
      path.replace('/v1/', '/x/%2e%2e/v1/'),
      path.replace('/v1/', '/v1%2f'),
      path.replace('/v1/', '/V1/'),
      path.replace('/v1', '/%76%31'),
      path.replace('/v1/', '\\v1\\'),
      `${path}/`,
      `${path};x`,
      `${path};/v1/status`,
      `${path}%00`,
      `${path}%20`,
      `${path}.json`,
      `${path}?/v1/status`,
      `${path}#/v1/status`,
      // With a Host of up to three letters Elysia starts to look for the path too late.
      `/zzzzzzz${path}`,
      `/zzzzzzzz${path}`,
      `/v1/status${path}`,
      `http://localhost:${server.port}${path}`,
      `http://a${path}`,
      `http://a/zzzzzzz${path}`,
      `HTTP://LOCALHOST:${server.port}${path}`,
      `http://a@b${path}`,
      path.slice(1),
      `*${path}`,
    ])
    const reads = spelt.flatMap((target): [string, string][] => [
      ['GET', target],
      ['HEAD', target],
    ])
    return [...reads, ...spelt.map((target): [string, string] => ['POST', target])]
  }

  promise`A16 C: No other spelling of a request reaches a guarded route.`
  test('whatever the Host and the path', async () => {
    const reached: string[] = []
    const seen = new Map<number, number>()
    for (const [name, headers] of hosts()) {
      const answers = await Promise.all(
        targets().map(async ([method, target]) => {
          const answer = await send(method, target, headers)
          return { method, target, answer }
        }),
      )
      for (const { method, target, answer } of answers) {
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
        // 400 is the parser's own. NaN: it closed without a word.
        const refused = [400, 401, 404, 405, 421, 505].includes(answer.status)
        const silent = Number.isNaN(answer.status)
        if (!refused && !silent)
          reached.push(`${method} ${target} (Host ${name}): ${answer.status}`)
        if (/key_[0-9a-z]{26}|balance_nusd|"object":"list"|chat\.completion/.test(answer.body)) {
          reached.push(`${method} ${target} (Host ${name}): ${answer.body.slice(0, 200)}`)
        }
      }
    }
    expect(reached).toEqual([])
    // The guard itself was met, not only the Host's.
    expect(seen.get(401)).toBeGreaterThan(10)
    expect(seen.get(421)).toBeGreaterThan(1000)
    const runs = await server.call('/v1/runs', { key: secret })
    expect(((await runs.json()) as { data: unknown[] }).data).toEqual([])
  }, 60_000)

  test('HTTP/1.0 without a Host is refused', async () => {
    const answer = await send('GET', '/v1/keys/self', [], 'HTTP/1.0')
    expect([400, 421]).toContain(answer.status)
  })

  promise`B20`
  test('another Host is answered 421 with the error body, two Hosts never 200', async () => {
    for (const host of ['a', 'a@b', 'evil.example', 'localhost:1']) {
      const { status, body } = await send('GET', '/v1/status', [`Host: ${host}`])
      expect(status).toBe(421)
      expect(JSON.parse(body).error.type).toBe('misdirected_request')
    }
    const ours = `Host: localhost:${server.port}`
    expect((await send('GET', '/v1/status', [ours])).status).toBe(200)
    expect([400, 421]).toContain((await send('GET', '/v1/status', [ours, 'Host: b'])).status)
  })

  promise`A16`
  test('a good key through the odd spellings opens nothing else than its own route', async () => {
    const key = `Authorization: Bearer ${secret}`
    const ours = `Host: localhost:${server.port}`
    expect((await send('GET', '/v1/keys/self', [ours, key])).status).toBe(200)
    for (const target of ['/v1/keys/self/', '//v1/keys/self', '/v1/keys/self;x', '/V1/keys/self']) {
      expect((await send('GET', target, [ours, key])).status).toBe(404)
    }
    for (const host of ['Host: a', 'Host: ab', 'Host: abc', 'Host: a@b']) {
      expect((await send('GET', '/zzzzzzz/v1/keys/self', [host, key])).status).toBe(421)
    }
  })

  describe('an Authorization header that is none', () => {
    const malformed = (): [name: string, lines: string[]][] => [
      ['missing', []],
      ['empty', ['Authorization:']],
      ['blank', ['Authorization:    ']],
      ['scheme alone', ['Authorization: Bearer']],
      ['scheme and a blank', ['Authorization: Bearer ']],
      ['no scheme', [`Authorization: ${secret}`]],
      ['another scheme', [`Authorization: Basic ${btoa(`${secret}:`)}`]],
      ['Token', [`Authorization: Token ${secret}`]],
      ['two blanks', [`Authorization: Bearer  ${secret}`]],
      ['a tab', [`Authorization: Bearer\t${secret}`]],
      ['no blank', [`Authorization: Bearer${secret}`]],
      ['a colon', [`Authorization: Bearer: ${secret}`]],
      ['quotes', [`Authorization: Bearer "${secret}"`]],
      ['angle brackets', [`Authorization: Bearer <${secret}>`]],
      ['a comma and more', [`Authorization: Bearer ${secret}, Bearer ${secret}`]],
      ['two headers', [`Authorization: Bearer ${secret}`, `Authorization: Bearer ${secret}`]],
      ['two, the second empty', [`Authorization: Bearer ${secret}`, 'Authorization:']],
      ['a word behind', [`Authorization: Bearer ${secret} x`]],
      ['the key cut', [`Authorization: Bearer ${secret.slice(0, -1)}`]],
      ['the key longer', [`Authorization: Bearer ${secret}0`]],
      ['another prefix', [`Authorization: Bearer ${secret.replace('service', 'live')}`]],
      ['the prefix in capitals', [`Authorization: Bearer ${secret.replace('sk-', 'SK-')}`]],
      ['a wrong checksum', [`Authorization: Bearer ${spoil(secret, -1)}`]],
      ['a wrong character', [`Authorization: Bearer ${spoil(secret, 20)}`]],
      ['unknown', [`Authorization: Bearer ${unknownSecret}`]],
      ['latin-1', [`Authorization: Bearer ${secret.slice(0, -1)}\xe9`]],
      ['SQL', [`Authorization: Bearer sk-service-' or '1'='1' --`]],
      ['8 kB', [`Authorization: Bearer sk-service-${'a'.repeat(8000)}`]],
    ]

    promise`A3 H: Every header that does not hold a known key gets the same 401.`
    test('is answered alike, byte for byte but for the request id', async () => {
      const answers = new Map<string, string[]>()
      for (const [name, lines] of malformed()) {
        const answer = await send('GET', '/v1/keys/self', [
          `Host: localhost:${server.port}`,
          ...lines,
        ])
        expect([name, answer.status]).toEqual([name, 401])
        const text = JSON.stringify(answer)
          .replaceAll(/req_[0-9a-z]{26}/g, 'req')
          .replace(/"date":"[^"]*"/, '')
        answers.set(text, [...(answers.get(text) ?? []), name])
      }
      expect([...answers.values()]).toHaveLength(1)
      expect(malformed().length).toBeGreaterThanOrEqual(25)
    })

    test("is answered with the way out where the key is in the header of Anthropic's", async () => {
      const lines = [`Host: localhost:${server.port}`, `X-Api-Key: ${secret}`]
      const answer = await send('GET', '/v1/keys/self', lines)
      expect(answer.status).toBe(401)
      expect(JSON.stringify(answer)).toContain('set ANTHROPIC_AUTH_TOKEN')
    })

    test('is refused by the parser where it cannot be read at all', async () => {
      const ours = `Host: localhost:${server.port}`
      for (const line of [
        `Authorization: Bearer ${secret}\0`,
        `Authorization: Bearer ${secret}\n\tx`,
        `Authorization : Bearer ${secret}`,
        `Authorization: Bearer ${'a'.repeat(20_000)}`,
      ]) {
        const { status, body } = await send('GET', '/v1/keys/self', [ours, line])
        expect(Number.isNaN(status) || status >= 400).toBe(true)
        expect(body).not.toContain('key_')
      }
    })

    test('only the scheme may be spelt in any case', async () => {
      for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
        const lines = [`Host: localhost:${server.port}`, `authorization: ${scheme} ${secret}`]
        expect((await send('GET', '/v1/keys/self', lines)).status).toBe(200)
      }
    })
  })
})

/** Another character of the alphabet in one place. */
function spoil(secret: string, at: number): string {
  const i = at < 0 ? secret.length + at : at
  return `${secret.slice(0, i)}${secret[i] === 'x' ? 'y' : 'x'}${secret.slice(i + 1)}`
}
