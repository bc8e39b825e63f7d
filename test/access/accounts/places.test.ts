import { describe, expect, test } from 'bun:test'
import { isLocalPath, nextPage, signInPath } from '../../../src/access/accounts/next-page.ts'
import { endOf, idleMs, isLive } from '../../../src/access/accounts/session.ts'
import { beginSignIn, isSignatureOf } from '../../../src/access/accounts/sign-in.ts'
import {
  checkIssued,
  checkSite,
  checkTimes,
  parseSiwe,
  type SiweMessage,
  writeSiwe,
} from '../../../src/access/accounts/siwe.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { assertSameOrigin } from '../../../src/web/http/same-origin.ts'

const now = Date.UTC(2026, 10, 21, 12)
const at = (ms: number) => new Date(now + ms).toISOString()
const baseUrl = 'https://gw.example'
const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

const good: SiweMessage = {
  ...{ domain: 'gw.example', address, uri: baseUrl, version: '1', chainId: 4663 },
  ...{ nonce: 'n'.repeat(32), issuedAt: at(0) },
}

/** Why it is refused, as the metadata says, or the type; undefined when it is not. */
async function reasonOf(ask: () => unknown): Promise<unknown> {
  try {
    await ask()
    return undefined
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.detail.metadata?.['reason'] ?? error.type
  }
}

describe('a sign-in text is for this place', () => {
  test.each([
    ['as we write it', {}, undefined],
    ['with our scheme', { scheme: 'https' }, undefined],
    ['with another scheme', { scheme: 'http' }, 'scheme'],
    ['for another domain', { domain: 'gw.example.evil' }, 'domain'],
    ['for another port', { domain: 'gw.example:8443' }, 'domain'],
    ['for a page of ours', { uri: `${baseUrl}/signin` }, undefined],
    ['for a query of ours', { uri: `${baseUrl}?a` }, undefined],
    ['for a fragment of ours', { uri: `${baseUrl}#a` }, undefined],
    ['for a host that begins like ours', { uri: `${baseUrl}.evil/` }, 'uri'],
    ['for another site', { uri: 'https://evil.example' }, 'uri'],
    ['of another version', { version: '2' }, 'version'],
    ['for another chain', { chainId: 1 }, 'chain_id'],
    ['without the checksum', { address: address.toLowerCase() }, 'address'],
  ] as [string, Partial<SiweMessage>, string | undefined][])(
    'A text that names a place %s is judged as expected.',
    async (_, other, reason) => {
      expect(await reasonOf(() => checkSite({ ...good, ...other }, baseUrl))).toBe(reason)
    },
  )
})

describe('a sign-in text is for now', () => {
  test.each([
    ['without times', {}, undefined],
    ['a moment before its end', { expirationTime: at(1) }, undefined],
    ['at its end', { expirationTime: at(0) }, 'expired'],
    ['with an invalid end time', { expirationTime: 'soon' }, 'expired'],
    ['at its begin', { notBefore: at(0) }, undefined],
    ['a moment before its begin', { notBefore: at(1) }, 'not_before'],
    ['with an invalid begin time', { notBefore: 'soon' }, 'not_before'],
  ] as [string, Partial<SiweMessage>, string | undefined][])(
    'A text %s is judged as expected.',
    async (_, other, reason) => {
      expect(await reasonOf(() => checkTimes({ ...good, ...other }, now))).toBe(reason)
    },
  )

  const minute = 60_000
  test.each([
    ['when its nonce was made, less a minute', { issuedAt: at(-5000 - minute) }, undefined],
    ['a moment before that', { issuedAt: at(-5001 - minute) }, 'issued_at'],
    ['a minute from now', { issuedAt: at(minute) }, undefined],
    ['a moment after that', { issuedAt: at(minute + 1) }, 'issued_at'],
    ['at no time', { issuedAt: undefined }, 'issued_at'],
  ] as [string, Partial<SiweMessage>, string | undefined][])(
    'written %s',
    async (_, other, reason) => {
      expect(await reasonOf(() => checkIssued({ ...good, ...other }, now - 5000, now))).toBe(reason)
    },
  )
})

describe('a sign-in text has a size', () => {
  const text = writeSiwe({ baseUrl, address, nonce: 'n'.repeat(32), issuedAt: now, expiresAt: now })
  test('of at most 2048 bytes, which are counted as bytes', async () => {
    expect(await reasonOf(() => parseSiwe('a'.repeat(2048)))).toBe('grammar')
    expect(await reasonOf(() => parseSiwe('a'.repeat(2049)))).toBe('size')
    expect(await reasonOf(() => parseSiwe('ä'.repeat(1025)))).toBe('size')
  })

  test('of at most 40 lines', async () => {
    expect(await reasonOf(() => parseSiwe('\n'.repeat(39)))).toBe('grammar')
    expect(await reasonOf(() => parseSiwe('\n'.repeat(40)))).toBe('size')
  })

  test('A sign-in text is accepted in one form alone.', async () => {
    expect((await parseSiwe(text)).domain).toBe('gw.example')
    expect(await reasonOf(() => parseSiwe(`${text}\n`))).toBeOneOf(['grammar', 'not_canonical'])
  })
})

describe('a sign-in begins', () => {
  const begin = (wanted: string | undefined) => {
    const added: unknown[] = []
    const nonces = { add: async (row: unknown) => void added.push(row) }
    const random = { bytes: (count: number) => new Uint8Array(count) }
    const deps = { nonces, random, clock: { now: () => now }, settings: { baseUrl } }
    const asked = { address: wanted, browser: 'b' }
    return beginSignIn(deps as unknown as Parameters<typeof beginSignIn>[0], asked)
  }

  test('with an address as the text is made for it, and without one', async () => {
    expect((await begin(address)).message).toContain(address)
    expect((await begin(undefined)).message).toBeUndefined()
  })

  test.each(['', '0x', `${address}0`, address.replace('F', 'f'), address.slice(2)])(
    'A sign-in is refused for an invalid address: %j',
    async (wanted) => {
      expect(await reasonOf(() => begin(wanted))).toBe('invalid_request')
    },
  )
})

test('An invalid signature belongs to no address', async () => {
  const asked = { address, message: 'a' }
  expect(await isSignatureOf({ ...asked, signature: '0x' })).toBe(false)
  expect(await isSignatureOf({ ...asked, signature: `0x${'00'.repeat(65)}` })).toBe(false)
})

describe('a session lives', () => {
  test('until its end or a day without use, whichever is first', () => {
    expect(endOf({ expiresAt: now + 5, lastSeenAt: now })).toBe(now + 5)
    expect(endOf({ expiresAt: now + 2 * idleMs, lastSeenAt: now })).toBe(now + idleMs)
    expect(isLive({ expiresAt: now + 5, lastSeenAt: now }, now + 4)).toBe(true)
    expect(isLive({ expiresAt: now + 5, lastSeenAt: now }, now + 5)).toBe(false)
  })
})

describe('where a sign-in leads', () => {
  test('a path has at most 2048 characters', () => {
    expect(isLocalPath(`/${'x'.repeat(2047)}`)).toBe(true)
    expect(isLocalPath(`/${'x'.repeat(2048)}`)).toBe(false)
    expect([nextPage(null), nextPage('')]).toEqual(['/dashboard', '/dashboard'])
  })

  test('The path of the sign-in page carries the nonce and the next page if given', () => {
    expect(signInPath()).toBe('/signin')
    expect(signInPath('/a')).toBe('/signin?next=%2Fa')
    expect(signInPath(undefined, 'n1')).toBe('/signin?nonce=n1')
    expect(signInPath('/a', 'n1')).toBe('/signin?nonce=n1&next=%2Fa')
  })
})

describe('an unsafe request', () => {
  const asked = (headers: Record<string, string>, method = 'POST') =>
    reasonOf(() => assertSameOrigin({ method, headers: new Headers(headers) }, baseUrl))

  test.each([
    [{ 'sec-fetch-site': 'same-origin' }, undefined],
    [{ 'sec-fetch-site': 'none' }, undefined],
    [{ 'sec-fetch-site': 'same-site' }, 'csrf_failed'],
    [{ 'sec-fetch-site': 'cross-site' }, 'csrf_failed'],
    [{ 'sec-fetch-site': 'cross-site', origin: baseUrl }, 'csrf_failed'],
    [{ 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }, undefined],
    [{ origin: baseUrl }, undefined],
    [{ origin: 'https://evil.example' }, 'csrf_failed'],
    [{ origin: `${baseUrl}:8443` }, 'csrf_failed'],
    [{ origin: 'null' }, 'csrf_failed'],
    [{}, undefined],
  ] as [Record<string, string>, string | undefined][])(
    'An unsafe request with the headers %j is judged as expected.',
    async (headers, refused) => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        expect(await asked(headers, method)).toBe(refused)
      }
      for (const method of ['GET', 'HEAD', 'OPTIONS']) {
        expect(await asked(headers, method)).toBeUndefined()
      }
    },
  )
})
