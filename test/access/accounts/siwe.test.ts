import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { promise } from '../../support/promise.ts'
import { type World, world } from '../../support/world.ts'
import { askNonce, browser, siweText, wallet } from './wallet.ts'

const start = Date.UTC(2026, 10, 21, 12)
const at = (ms: number): string => new Date(start + ms).toISOString()
const lower = wallet.address.toLowerCase()

/** Parts of a text by what the server's origin is; the signature is always the wallet's own. */
type Change = Parameters<typeof siweText>[2]
type Make = Change | ((origin: string, nonce: string) => Change | string)
type Case = [what: string, make: Make, expected: number | string]

const opening = (domain: string) => `${domain} wants you to sign in with your Ethereum account:`

const wrongPlace: Case[] = [
  ['another domain', { opening: opening('evil.example') }, 'domain'],
  ['a domain that ours begins', (o) => ({ opening: opening(`${hostOf(o)}0`) }), 'domain'],
  ['a domain that ends in ours', (o) => ({ opening: opening(`x${hostOf(o)}`) }), 'domain'],
  ['our domain without its port', { opening: opening('localhost') }, 'domain'],
  ['our domain with another port', { opening: opening('localhost:1') }, 'domain'],
  ['our domain in capitals', (o) => ({ opening: opening(hostOf(o).toUpperCase()) }), 'domain'],
  ['a dot after our domain', (o) => ({ opening: opening(hostOf(o).replace(':', '.:')) }), 'domain'],
  ['a user before our domain', (o) => ({ opening: opening(`me@${hostOf(o)}`) }), 'domain'],
  [
    'our address in place of our name',
    (o) => ({ opening: opening(`127.0.0.1:${portOf(o)}`) }),
    'domain',
  ],
  ['an IPv6 address as its domain', (o) => ({ opening: opening(`[::1]:${portOf(o)}`) }), 'domain'],
  [
    'a domain with a percent escape',
    (o) => ({ opening: opening(`loc%61lhost:${portOf(o)}`) }),
    'domain',
  ],
  ['the scheme of another site', (o) => ({ opening: opening(`https://${hostOf(o)}`) }), 'scheme'],
  ['a scheme of its own', (o) => ({ opening: opening(`ftp://${hostOf(o)}`) }), 'scheme'],
  ['a URI of another site', { uri: 'URI: https://evil.example' }, 'uri'],
  ['a URI that ours begins', (o) => ({ uri: `URI: ${o}0/` }), 'uri'],
  ['a URI with our origin as its user', (o) => ({ uri: `URI: ${o}@evil.example` }), 'uri'],
  ['a URI with another scheme', (o) => ({ uri: `URI: ${o.replace('http', 'https')}` }), 'uri'],
  ['a URI with another port', { uri: 'URI: http://localhost:1/' }, 'uri'],
  ['a URI in capitals', (o) => ({ uri: `URI: ${o.toUpperCase()}` }), 'uri'],
  ['a URI without an authority', { uri: 'URI: did:key:xyz' }, 'uri'],
  ['another chain', { chainId: 'Chain ID: 1' }, 'chain_id'],
  ['our chain and one digit more', { chainId: 'Chain ID: 46630' }, 'chain_id'],
  ['a chain beyond a double', { chainId: `Chain ID: ${'9'.repeat(400)}` }, 400],
]

const wrongForm: Case[] = [
  ['leading zeros in the chain id', { chainId: 'Chain ID: 0004663' }, 'not_canonical'],
  ['a chain id in hex', { chainId: 'Chain ID: 0x1237' }, 'grammar'],
  ['a chain id with a sign', { chainId: 'Chain ID: +4663' }, 'grammar'],
  ['version 2', { version: 'Version: 2' }, 'grammar'],
  ['version 1.0', { version: 'Version: 1.0' }, 'grammar'],
  ['an address in lower case', { address: lower }, 'grammar'],
  ['an address in capitals', { address: `0x${lower.slice(2).toUpperCase()}` }, 'grammar'],
  ['one letter of the address in the other case', { address: swapCase(wallet.address) }, 'grammar'],
  ['an address of 41 digits', { address: `${wallet.address}0` }, 'grammar'],
  ['an address without 0x', { address: wallet.address.slice(2) }, 'grammar'],
  ['labels in lower case', (o) => ({ uri: `uri: ${o}` }), 'grammar'],
  ['a space too much after a label', { version: 'Version:  1' }, 'grammar'],
  ['no space after a label', { version: 'Version:1' }, 'grammar'],
  ['a field twice', { version: 'Version: 1\nVersion: 1' }, 'grammar'],
  ['a second nonce at the end', (_, n) => ({ more: `Nonce: ${n}` }), 'grammar'],
  ['fields in another order', { version: 'Chain ID: 4663', chainId: 'Version: 1' }, 'grammar'],
  [
    'CRLF at the ends of lines',
    (o, n) => siweText(n, o, {}, start).replaceAll('\n', '\r\n'),
    'grammar',
  ],
  ['a line break at the end', (o, n) => `${siweText(n, o, {}, start)}\n`, 'grammar'],
  ['text after the end', { more: 'and all my money' }, 'grammar'],
  ['a space before the start', (o, n) => ` ${siweText(n, o, {}, start)}`, 'grammar'],
  ['a byte-order mark', (o, n) => `\ufeff${siweText(n, o, {}, start)}`, 'grammar'],
  ['a zero byte', { statement: '\nI\0sign in.\n' }, 'grammar'],
  ['a statement of two lines', { statement: '\nI sign in.\nReally.\n' }, 'grammar'],
  ['a statement beyond ASCII', { statement: '\nIch möchte hinein.\n' }, 'grammar'],
  [
    'fields inside of the statement',
    (o) => ({ statement: `\nhi\n\nURI: ${o}\nVersion: 1\n` }),
    'grammar',
  ],
  ['no blank line before its fields', { statement: '\nI sign in.' }, 'grammar'],
  ['a day that never is', { issuedAt: 'Issued At: 2026-11-31T12:00:00Z' }, 'grammar'],
  ['a time in words', { issuedAt: 'Issued At: today' }, 'grammar'],
  ['an end that is never', { more: 'Expiration Time: never' }, 'grammar'],
  ['an empty end', { more: 'Expiration Time: ' }, 'grammar'],
  [
    'an end after its request id',
    { more: `Request ID: a\nExpiration Time: ${at(1000)}` },
    'grammar',
  ],
  ['a resource that is not a URI', { more: 'Resources:\n- not a uri' }, 'grammar'],
  ['nothing', () => '', 'grammar'],
  ['a megabyte of one label, cut to 2 KiB', () => 'URI: '.repeat(400), 'grammar'],
  ['no nonce', { nonce: 'Nonce: ' }, 'grammar'],
  ['a nonce that was never given', { nonce: `Nonce: ${'0'.repeat(32)}` }, 'nonce'],
  ['its nonce in capitals', (_, n) => ({ nonce: `Nonce: ${n.toUpperCase()}a` }), 'nonce'],
  ['more than 40 lines', { more: `Resources:${'\n- a:b'.repeat(40)}` }, 413],
  ['more than 2,048 bytes', { statement: `\n${'x'.repeat(2048)}\n` }, 413],
]

const wrongTime: Case[] = [
  ['written two minutes from now', { issuedAt: `Issued At: ${at(120_000)}` }, 'issued_at'],
  ['written before its nonce', { issuedAt: `Issued At: ${at(-120_000)}` }, 'issued_at'],
  ['expired a moment ago', { more: `Expiration Time: ${at(0)}` }, 'expired'],
  [
    'expired elsewhere on the clock',
    { more: 'Expiration Time: 2026-11-21T12:30:00+01:00' },
    'expired',
  ],
  ['not good before a moment from now', { more: `Not Before: ${at(1)}` }, 'not_before'],
]

const right: Case[] = [
  ['as it is', {}, 200],
  ['no statement', { statement: '\n' }, 200],
  ['the scheme of this site', (o) => ({ opening: opening(o) }), 200],
  [
    'a URI of this site with a path and a query',
    (o) => ({ uri: `URI: ${o}/signin?next=%2F` }),
    200,
  ],
  ['a time without milliseconds', { issuedAt: 'Issued At: 2026-11-21T12:00:00Z' }, 200],
  ['a time of another zone', { issuedAt: 'Issued At: 2026-11-21T13:00:30+01:00' }, 200],
  ['a clock 50 s ahead', { issuedAt: `Issued At: ${at(50_000)}` }, 200],
  ['a clock 50 s behind', { issuedAt: `Issued At: ${at(-50_000)}` }, 200],
  [
    'an end and a start around now',
    { more: `Expiration Time: ${at(1)}\nNot Before: ${at(0)}` },
    200,
  ],
  [
    'a request id and resources',
    { more: 'Request ID: x-1\nResources:\n- ipfs://a\n- https://b.c/d' },
    200,
  ],
]

promise`B2 C: Texts that differ from ours in any detail are refused, although honestly signed.`
promise`B3 C: Domain, URI, version and chain of a text are exactly ours.`
promise`B6 H: The times in a text are honoured, with one minute of skew.`
promise`B7 H: The signature is checked over the bytes that came, which read back to themselves.`
describe('POST /api/auth/verify, each text honestly signed', () => {
  let service: World
  beforeAll(async () => {
    service = await world({ now: start })
  })
  afterAll(() => service.stop())

  const verify = async (make: Make) => {
    const own = browser(service)
    const asked = await own.call('/api/auth/nonce', { json: {} })
    const { nonce } = (await asked.json()) as { nonce: string }
    const change = typeof make === 'function' ? make(service.origin, nonce) : make
    const text =
      typeof change === 'string' ? change : siweText(nonce, service.origin, change, start)
    const signature = await wallet.signMessage({ message: text })
    const answer = await own.call('/api/auth/verify', { json: { message: text, signature } })
    return { status: answer.status, body: (await answer.json()) as Answer, own }
  }

  type Answer = { account?: string; error?: { type: string; metadata?: { reason?: string } } }

  const statusOf = (reason: string) =>
    reason === 'grammar' || reason === 'not_canonical' ? 400 : 403

  describe.each([
    ['for another place', wrongPlace],
    ['in another form', wrongForm],
    ['for another time', wrongTime],
  ])('refuses one %s', (_, cases) => {
    test.each(cases)('The text is refused: %s.', async (_what, make, expected) => {
      const { status, body, own } = await verify(make)
      expect(own.jar.has('sid')).toBe(false)
      if (typeof expected === 'number') return expect(status).toBe(expected)
      expect([status, body.error?.metadata?.reason]).toEqual([statusOf(expected), expected])
    })
  })

  describe('takes', () => {
    test.each(right)('The text is accepted: %s.', async (_, make, expected) => {
      const { status, body } = await verify(make)
      expect([status, body.account]).toEqual([Number(expected), wallet.address])
    })
  })

  test('a text that is refused leaves its nonce for the right one', async () => {
    const own = browser(service)
    const { nonce } = await askNonce(own)
    const send = async (change: Change) => {
      const message = siweText(nonce, service.origin, change, start)
      const signature = await wallet.signMessage({ message })
      return (await own.call('/api/auth/verify', { json: { message, signature } })).status
    }
    expect(await send({ chainId: 'Chain ID: 1' })).toBe(403)
    expect(await send({})).toBe(200)
  })
})

describe('POST /api/auth/verify', () => {
  let service: World
  beforeAll(async () => {
    service = await world({ now: start })
  })
  afterAll(() => service.stop())

  const signatures: [what: string, make: (good: string) => unknown, status: number][] = [
    ['one byte short', (good) => good.slice(0, -2), 400],
    ['one byte long', (good) => `${good}00`, 400],
    ['half a byte long', (good) => `${good}0`, 400],
    ['without 0x', (good) => good.slice(2), 400],
    ['of no hex', (good) => `${good.slice(0, -1)}g`, 400],
    ['empty', () => '', 400],
    ['a number', () => 5, 400],
    ['compact (EIP-2098)', (good) => good.slice(0, 130), 400],
    ['all zero', (good) => `0x${good.slice(2).replace(/./g, '0')}`, 403],
    ['with a recovery id of 5', (good) => `${good.slice(0, -2)}05`, 403],
    ['with its other recovery id', (good) => `${good.slice(0, -2)}${flip(good.slice(-2))}`, 403],
    ['in capitals', (good) => `0x${good.slice(2).toUpperCase()}`, 200],
    [
      'with a recovery id that counts from 0',
      (good) => `${good.slice(0, -2)}${fromZero(good)}`,
      200,
    ],
  ]
  promise`B8`
  test.each(signatures)('A signature %s gets the expected answer.', async (_, make, status) => {
    const own = browser(service)
    const { message } = await askNonce(own)
    const signature = make(await wallet.signMessage({ message }))
    const answer = await own.call('/api/auth/verify', { json: { message, signature } })
    expect(answer.status).toBe(status)
  })

  const bodies: [what: string, body: unknown][] = [
    ['an object as the message', { message: { domain: 'localhost' }, signature: '0x' }],
    ['a list as the message', { message: ['a'], signature: '0x' }],
    ['no message', { signature: `0x${'0'.repeat(130)}` }],
    ['a field that is not known', { message: '', signature: '', account: wallet.address }],
    ['a list', []],
    ['null', null],
  ]
  promise`B9 H: A text to sign in with is a string, never an object.`
  test.each(bodies)('The body is a 400 invalid_request: %s.', async (_, json) => {
    const answer = await service.call('/api/auth/verify', { json })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request' } })
  })

  promise`B18`
  test('415: another type of body', async () => {
    const headers = { 'content-type': 'text/plain' }
    const answer = await service.call('/api/auth/verify', { method: 'POST', body: '{}', headers })
    expect(answer.status).toBe(415)
  })

  test('413: more than 16,384 bytes', async () => {
    const headers = { 'content-type': 'application/json' }
    const asked = [16_384, 16_385].map(async (size) => {
      const init = { method: 'POST', body: '{}'.padEnd(size), headers }
      return (await service.call('/api/auth/nonce', init)).status
    })
    expect(await Promise.all(asked)).toEqual([200, 413])
  })

  promise`B8 H: Input that is too long is refused before it is read.`
  promise`J8`
  test('413: a megabyte is not read and does not delay other requests', async () => {
    const before = performance.now()
    const message = 'URI: '.repeat(200_000)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        service.call('/api/auth/verify', { json: { message, signature: '0x' } }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([413, 413, 413, 413, 413])
    expect((await service.call('/livez')).status).toBe(200)
    // The parser of others would take minutes for it: seconds leave room for a busy machine.
    expect(performance.now() - before).toBeLessThan(3000)
  })
})

const hostOf = (origin: string): string => new URL(origin).host
const portOf = (origin: string): string => new URL(origin).port

function swapCase(address: string): string {
  const last = address.search(/[a-fA-F](?=[^a-fA-F]*$)/)
  const letter = address.charAt(last)
  const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
  return address.slice(0, last) + other + address.slice(last + 1)
}

const flip = (v: string): string => (v === '1b' ? '1c' : '1b')
const fromZero = (signature: string): string => (signature.endsWith('1b') ? '00' : '01')
