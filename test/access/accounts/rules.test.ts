import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { browserName } from '../../../src/access/accounts/browser-name.ts'
import { isLocalPath, nextPage, signInPath } from '../../../src/access/accounts/next-page.ts'
import { nonceStore } from '../../../src/access/accounts/store/nonce.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { parseForm } from '../../../src/web/http/fields.ts'
import { engines, freshDb } from '../../support/world.ts'

describe('where a sign-in leads', () => {
  test.each([
    '/',
    '/dashboard',
    '/dashboard/keys?limit=5&after=key_1#top',
    '/a//b',
    '/@user',
    '/https://evil.example',
    '/%2f%2fevil.example',
  ])('A sign-in leads to the local path %s.', (path) => {
    expect([isLocalPath(path), nextPage(path)]).toEqual([true, path])
  })

  test.each([
    '',
    'dashboard',
    'https://evil.example',
    'http:evil.example',
    'HTTPS://evil.example/',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    ' //evil.example',
    '/\r\nSet-Cookie: a=b',
    '/a\\b',
    '/a b',
    '/ä',
    '/\u0000',
    'javascript:alert(1)',
    'data:text/html,x',
    '?next=//evil.example',
    '#//evil.example',
    './/evil.example',
    '@evil.example',
    `/${'x'.repeat(2048)}`,
  ])('A sign-in never leads to %j.', (path) => {
    expect([isLocalPath(path), nextPage(path), signInPath(path)]).toEqual([
      false,
      '/dashboard',
      '/signin',
    ])
  })
})

describe('a form', () => {
  test('is read as it was typed', () => {
    expect(parseForm('a=1&b=x+y%26z&c=&d')).toEqual({ a: '1', b: 'x y&z', c: '', d: '' })
    expect(parseForm('text=a%0D%0Ab%0Ac')).toEqual({ text: 'a\nb\nc' })
    expect(Object.keys(parseForm('__proto__=x'))).toEqual(['__proto__'])
  })

  test.each(['a=1&a=2', 'a=%00', '%00=a', 'a=1&b=2&a=1'])('%s is refused', (text) => {
    expect(() => parseForm(text)).toThrow(Refusal)
  })
})

describe('a browser is called', () => {
  const linux = 'Mozilla/5.0 (X11; Linux x86_64)'
  test.each([
    [`${linux} Gecko/20100101 Firefox/145.0`, 'Firefox on Linux'],
    [
      `${linux} AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36`,
      'Chrome on Linux',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/142.0 Safari/537.36 Edg/142.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile Safari/604.1',
      'Safari on iOS',
    ],
    ['curl/8.5.0', 'curl'],
    ['something else', 'something else'],
    ['', 'Unknown program'],
  ])('The browser of the user agent %s is named.', (userAgent, name) => {
    expect(browserName(userAgent)).toBe(name)
  })
})

test('the wallet script has at most 10 kB on the wire', async () => {
  const flags = ['--target=browser', '--format=esm', '--minify']
  const built = Bun.spawnSync([process.execPath, 'build', 'src/browser/wallet.ts', ...flags])
  expect(built.success).toBe(true)
  expect(Bun.gzipSync(new Uint8Array(built.stdout)).byteLength).toBeLessThan(10_000)
})

describe.each(engines)('nonces on %s', (engine) => {
  let opened: Awaited<ReturnType<typeof freshDb>>
  beforeAll(async () => {
    opened = await freshDb(engine)
  }, 30_000)
  afterAll(async () => {
    await opened.db.close()
    await opened.drop()
  })

  test('are never more than a bound, and the oldest go first', async () => {
    const { db } = opened
    const store = nonceStore(db, 50)
    const blank = { browserHash: 'b', accountId: null, message: null, issuedAt: 0 }
    for (let i = 0; i < 260; i++) {
      await store.add({ ...blank, nonce: `n${i}`, expiresAt: i + 1 })
      const held = await db.read((q) => rows(q.select().from(db.tables.signInNonces)))
      expect(held.length).toBeLessThanOrEqual(50)
      expect(held.some(({ nonce }) => nonce === `n${i}`)).toBe(true)
      expect(Math.min(...held.map(({ expiresAt }) => expiresAt))).toBeGreaterThan(i - 50)
    }
  })
})
