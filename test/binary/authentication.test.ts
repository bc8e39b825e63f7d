import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  expectRefusal,
  grant,
  type Home,
  type MadeKey,
  makeHome,
  makeKey,
  must,
  noBinary,
  type Server,
  someAccount,
  unknownSecret,
} from '../support/binary.ts'
import { promise } from '../support/promise.ts'

const chatBody = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'hello' }] }

/** Every keyed route there is, with a body that would run. */
const keyed: [method: string, path: string, json?: object][] = [
  ['GET', '/v1/keys/self'],
  ['GET', '/v1/balance'],
  ['GET', '/v1/models/counterfoil%2Fecho-1'],
  ['GET', '/v1/runs'],
  ['GET', '/v1/runs/run_00000000000000000000000000'],
  ['GET', '/v1/runs/run_00000000000000000000000000/events'],
  ['GET', '/v1/receipts'],
  ['GET', '/v1/keys'],
  ['GET', '/v1/usage'],
  ['GET', '/v1/plans'],
  ['GET', '/v1/deposits'],
  ['POST', '/v1/runs/run_00000000000000000000000000/cancel'],
  ['POST', '/v1/chat/completions', chatBody],
  ['POST', '/v1/embeddings', { model: 'counterfoil/embed-1', input: 'hello' }],
  ['POST', '/v1/runs', { model: 'counterfoil/echo-1', input: 'hello' }],
]

/** Keyless routes that answer everybody alike; those of one receipt follow below. */
const open = [
  '/v1/status',
  '/v1/signer',
  '/v1/models',
  '/v1/anchors',
  '/v1/explorer/stats',
  '/v1/explorer/recent',
  '/v1/passports',
]

describe.skipIf(noBinary)('the authentication table, on the binary', () => {
  let home: Home
  let server: Server
  const keys: Record<string, MadeKey> = {}

  const make = async (name: string, ...more: string[]) => {
    const made = await makeKey(home, {}, '--name', name, ...more)
    keys[name] = made
    return made
  }

  beforeAll(async () => {
    home = await makeHome('[limits]\nfailed_auth_per_minute = 1_000_000\n')
    await grant(home, '10.00')
    await make('usable')
    await make('expired', '--expires', '1s')
    const parent = await make('parent')
    const child = await make('child of revoked', '--parent', parent.id)
    await make('grandchild of revoked', '--parent', child.id)
    // Longer than the next command takes on a busy machine.
    const short = await make('short parent', '--expires', '6s')
    await make('child of expired', '--parent', short.id)
    const both = await make('revoked and expired', '--expires', '6s')
    const revoked = await make('revoked')
    for (const { id } of [parent, both, revoked]) await must(home, 'key', 'revoke', id)
    server = await home.start()
    await Bun.sleep(Math.max(0, Date.parse(both.expires_at) - Date.now() + 5))
  })
  afterAll(() => home?.remove())

  const ask = (method: string, path: string, json?: object, key?: string, headers = {}) =>
    server.call(path, {
      method,
      headers,
      ...(json ? { json } : {}),
      ...(key ? { key } : {}),
    })

  const unusable: [name: string, status: number, type: string][] = [
    ['expired', 403, 'key_expired'],
    ['child of expired', 403, 'key_expired'],
    ['revoked', 403, 'key_revoked'],
    ['child of revoked', 403, 'key_revoked'],
    ['grandchild of revoked', 403, 'key_revoked'],
    ['revoked and expired', 403, 'key_revoked'],
  ]

  describe.each(keyed)('%s %s', (method, path, json) => {
    test('without a key is 401 invalid_key', async () => {
      const answer = await ask(method, path, json)
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
      await expectRefusal(answer, 401, 'invalid_key')
    })

    promise`A3`
    test('with an unknown key is 401 invalid_key', async () => {
      // Right form and checksum, and no one's: of another server.
      const answer = await ask(method, path, json, unknownSecret)
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
      await expectRefusal(answer, 401, 'invalid_key')
    })

    promise`A4`
    test.each(unusable)('with a key that is %s is %i %s', async (name, status, type) => {
      const answer = await ask(method, path, json, keys[name]?.secret)
      await expectRefusal(answer, status, type)
    })

    test('with a usable key is none of these', async () => {
      const answer = await ask(method, path, json, keys['usable']?.secret)
      expect([200, 404]).toContain(answer.status)
      await answer.body?.cancel()
    })
  })

  describe('keyless routes', () => {
    const anyHeader = [
      undefined,
      '',
      'Bearer',
      'Bearer nonsense',
      'Basic dTpw',
      `Bearer ${'x'.repeat(5000)}`,
    ]
    const headersOf = () => [
      ...anyHeader,
      `Bearer ${unknownSecret}`,
      ...Object.values(keys).map(({ secret }) => `Bearer ${secret}`),
    ]

    test.each(open)('The keyless route %s ignores any Authorization header.', async (path) => {
      for (const authorization of headersOf()) {
        const answer = await server.call(path, { headers: authorization ? { authorization } : {} })
        expect(answer.status).toBe(200)
        await answer.body?.cancel()
      }
    })

    test('a verification ignores any header', async () => {
      const receipt = await someReceipt()
      for (const authorization of headersOf()) {
        const headers = new Headers(authorization ? { authorization } : {})
        const answer = await server.call('/v1/receipts/verify', { json: receipt, headers })
        expect(answer.status).toBe(200)
        expect(((await answer.json()) as { valid: boolean }).valid).toBe(true)
      }
    })

    test('a private receipt opens for a usable key of its owner, for all others it is not there', async () => {
      const { path } = await someRun()
      for (const authorization of headersOf()) {
        const answer = await server.call(path, { headers: authorization ? { authorization } : {} })
        if (authorization === `Bearer ${keys['usable']?.secret}`) {
          expect(answer.status).toBe(200)
          await answer.body?.cancel()
        } else await expectRefusal(answer, 404, 'receipt_not_found')
      }
      const stranger = await makeKey(home, { account: `0x${'ab'.repeat(20)}` })
      const answer = await server.call(path, { key: stranger.secret })
      await expectRefusal(answer, 404, 'receipt_not_found')
    })

    test('the terminal ignores any header', async () => {
      for (const authorization of headersOf()) {
        const headers = new Headers(authorization ? { authorization } : {})
        const answer = await server.call('/v1/terminal/run', { json: { command: 'help' }, headers })
        expect(answer.status).toBe(200)
        await answer.body?.cancel()
      }
    })

    test('a passport that no one has is not there, with any key or none', async () => {
      for (const key of [undefined, keys['usable']?.secret, keys['revoked']?.secret]) {
        await expectRefusal(
          await ask('GET', '/v1/passports/someone', undefined, key),
          404,
          'not_found',
        )
      }
    })
  })

  describe('refusals come in order', () => {
    const wrongHost = { host: 'evil.example' }

    test('the Host before the route', async () => {
      await expectRefusal(
        await ask('GET', '/v1/nothing', undefined, undefined, wrongHost),
        421,
        'misdirected_request',
      )
      await expectRefusal(
        await ask('POST', '/v1/keys/self', undefined, undefined, wrongHost),
        421,
        'misdirected_request',
      )
    })

    test('the route before the key', async () => {
      await expectRefusal(await ask('GET', '/v1/nothing'), 404, 'not_found')
      const answer = await ask('DELETE', '/v1/keys/self')
      expect(answer.headers.get('allow')).toContain('GET')
      await expectRefusal(answer, 405, 'method_not_allowed')
      await expectRefusal(await ask('GET', '/v1/receipts/verify'), 405, 'method_not_allowed')
    })

    test('the key before the body', async () => {
      const bad: RequestInit[] = [
        { headers: { 'content-type': 'application/json' }, body: '{"model":' },
        { headers: { 'content-type': 'text/plain' }, body: 'hello' },
        { headers: { 'content-type': 'application/json' }, body: `"${'x'.repeat(33_600_000)}"` },
      ]
      const types = ['invalid_request', 'unsupported_media_type', 'payload_too_large']
      for (const [i, init] of bad.entries()) {
        const post = (key?: string) =>
          server.call('/v1/runs', { method: 'POST', ...init, ...(key ? { key } : {}) })
        await expectRefusal(await post(), 401, 'invalid_key')
        await expectRefusal(await post(keys['revoked']?.secret), 403, 'key_revoked')
        const answer = await post(keys['usable']?.secret)
        await expectRefusal(answer, [400, 415, 413][i] ?? 0, types[i] ?? '')
      }
    })
  })

  const someRun = async () => {
    const answer = await server.call('/v1/chat/completions', {
      key: keys['usable']?.secret ?? '',
      json: chatBody,
    })
    const { receipt } = (await answer.json()) as { receipt: { id: string } }
    return { path: `/v1/receipts/${receipt.id}` }
  }

  const someReceipt = async () => {
    const { path } = await someRun()
    return (await server.call(path, { key: keys['usable']?.secret ?? '' })).json()
  }
})

test.skipIf(noBinary)(
  '1,000 bad keys from one address: 300 are 401, the rest 429; a good key still works',
  async () => {
    await using home = await makeHome()
    const { secret } = await makeKey(home, { account: someAccount })
    const server = await home.start()
    const counted: Record<number, number> = {}
    for (let batch = 0; batch < 20; batch++) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          server.call('/v1/keys/self', {
            key: i % 2 === 0 ? unknownSecret : `${unknownSecret.slice(0, -1)}x`,
          }),
        ),
      )
      for (const answer of answers) {
        counted[answer.status] = (counted[answer.status] ?? 0) + 1
        if (answer.status === 429) {
          expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
          await expectRefusal(answer, 429, 'rate_limited')
        } else await expectRefusal(answer, 401, 'invalid_key')
      }
      const good = await server.call('/v1/keys/self', { key: secret })
      expect(good.status).toBe(200)
      await good.body?.cancel()
    }
    // The limit refills evenly while the requests run: a few more than 300.
    expect(counted[401]).toBeGreaterThanOrEqual(300)
    expect(counted[429]).toBeGreaterThan(400)
    const status = await server.call('/v1/status')
    expect(status.status).toBe(200)
  },
  30_000,
)
