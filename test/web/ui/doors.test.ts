import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gunzipSync } from 'node:zlib'
import { assetPath } from '../../../src/web/http/assets.ts'
import { serveGallery } from '../../browser/gallery/serve.ts'
import { promise } from '../../support/promise.ts'

let origin = ''
let stop = async () => {}
beforeAll(() => {
  const served = serveGallery()
  origin = served.origin
  stop = served.stop
})
afterAll(() => stop())

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(origin + path, { headers, redirect: 'manual', decompress: false })

const csp =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; font-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; " +
  "frame-ancestors 'none'"

describe('assets', () => {
  const names = [
    'app.css',
    'htmx.js',
    'htmx-sse.js',
    'page.js',
    'wallet.js',
    'verify.js',
    'icon.svg',
  ]

  test.each(names)('%s never changes under its name, and is small', async (name) => {
    const answer = await get(assetPath(name), { 'accept-encoding': 'br, gzip' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    const body = gunzipSync(await answer.bytes())
    const hash = new Bun.CryptoHasher('sha256').update(body).digest('hex').slice(0, 16)
    expect(assetPath(name)).toBe(`/assets/${name.replace('.', `-${hash}.`)}`)
    const plain = await get(assetPath(name), { 'accept-encoding': 'identity' })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect(Buffer.from(await plain.bytes()).equals(body)).toBe(true)
  })

  test('a client that refuses gzip gets the plain bytes', async () => {
    for (const accepts of ['gzip;q=0', 'gzip; q=0.0, br', 'xgzip', 'br']) {
      const answer = await get(assetPath('app.css'), { 'accept-encoding': accepts })
      expect(answer.headers.get('content-encoding')).toBeNull()
    }
  })

  test('each font comes with its licence and is small, and the stylesheet names both by hash', async () => {
    const css = await (await get(assetPath('app.css'), { 'accept-encoding': 'identity' })).text()
    for (const font of ['geist', 'geist-mono']) {
      expect(css).toContain(assetPath(`${font}.woff2`))
      expect(css).toContain(assetPath(`${font}.LICENSE.txt`))
      expect((await (await get(assetPath(`${font}.woff2`))).bytes()).byteLength).toBeLessThan(
        25_000,
      )
    }
    expect(css).not.toMatch(/\{asset:|https?:/)
    const font = await get(assetPath('geist-mono.woff2'))
    expect(font.headers.get('content-type')).toBe('font/woff2')
  })

  test('browsers find the icons that they ask for unasked, and the manifest names those there are', async () => {
    for (const [path, type] of [
      ['/favicon.ico', 'image/x-icon'],
      ['/apple-touch-icon.png', 'image/png'],
    ] as const) {
      const answer = await get(path)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type])
      expect(answer.headers.get('cache-control')).toBe('public, max-age=86400')
    }
    const answer = await get(assetPath('manifest.webmanifest'), { 'accept-encoding': 'identity' })
    expect(answer.headers.get('content-type')).toBe('application/manifest+json')
    const { icons } = await answer.json()
    for (const { src, type } of icons) {
      expect((await get(src)).headers.get('content-type')).toBe(type)
    }
    const html = await (await get('/overview', { accept: 'text/html' })).text()
    expect(html).toContain(`<link rel="manifest" href="${assetPath('manifest.webmanifest')}">`)
    expect(html.match(/<meta name="theme-color" content="#[0-9a-f]{6}">/g)).toHaveLength(1)
  })

  const outside = [
    '/assets/',
    '/assets',
    '/assets/app.css',
    '/assets/app-0000000000000000.css',
    '/assets/.env',
    '/assets/.git/config',
    '/assets/app.css.map',
    '/assets/../package.json',
    '/assets/..%2fpackage.json',
    '/assets/%2e%2e/package.json',
    '/assets/%2e%2e%2fpackage.json',
    '/assets/..%5cpackage.json',
    '/assets/....//package.json',
    '/assets//etc/passwd',
    '/assets/%2fetc%2fpasswd',
    '/assets/app-%00.css',
    '/assets/%ff',
    '/assets/constructor',
    '/assets/__proto__',
    '/.env',
    '/.git/HEAD',
    '/package.json',
    '/src/main.ts',
    '/public/app.css',
    '/htmx.js',
    '/robots.txt.map',
  ]
  promise`C11 H: Only what is embedded is served as a file.`
  test.each(outside)('%s is nothing', async (path) => {
    expect((await get(path)).status).toBe(404)
  })
})

describe('GET of a page', () => {
  promise`C4 H: Every page has the strict content policy, and breaks it nowhere.`
  test('whole to a browser, with the CSP and never stored', async () => {
    const answer = await get('/overview', { accept: 'text/html', 'accept-encoding': 'gzip' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('content-security-policy')).toBe(csp)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('vary')).toBe('HX-Request, HX-Request-Type, Accept-Encoding')
    expect(answer.headers.get('cross-origin-opener-policy')).toBe('same-origin-allow-popups')
    expect(answer.headers.get('x-request-id')).toStartWith('req_')
    const html = gunzipSync(await answer.bytes()).toString()
    expect(html).toStartWith('<!doctype html><html lang="en" data-theme="system">')
    // htmx knows of three attributes that hold code, and the CSP of a fourth.
    expect(html).not.toMatch(/<[^>]*\s(style|on\w+|hx-on[\w:-]*)=|<style|="js:/)
  })

  test('its main part to htmx, the whole to htmx that fills the body', async () => {
    const part = await (await get('/overview', { 'hx-request': 'true' })).text()
    expect(part).toStartWith('<header class="head"><h1>Overview</h1>')
    const headers = { 'hx-request': 'true', 'hx-request-type': 'full' }
    expect(await (await get('/overview', headers)).text()).toStartWith('<!doctype html>')
  })

  test('in the colours that were chosen', async () => {
    const of = async (cookie: string) => (await get('/overview', { cookie })).text()
    expect(await of('theme=dark')).toContain('data-theme="dark"')
    expect(await of('a=b; theme=light; c=d')).toContain('data-theme="light"')
    expect(await of('theme="><script>')).toContain('data-theme="system"')
    expect(await of('xtheme=dark')).toContain('data-theme="system"')
  })
})

describe('POST /theme', () => {
  const post = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${origin}/theme`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers,
      redirect: 'manual',
    })

  test('303 back to the page, with a cookie that scripts do not see', async () => {
    const answer = await post({ theme: 'dark', back: '/keys?after=x' })
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe('/keys?after=x')
    expect(answer.headers.get('set-cookie')).toMatch(/^theme=dark; Path=\/; .*HttpOnly$/)
  })

  test.each(['//evil.example', 'https://evil.example', '/\\evil.example', 'javascript:x', ''])(
    'never to %p',
    async (back) => {
      expect((await post({ theme: 'dark', back })).headers.get('location')).toBe('/')
    },
  )

  test('400 for a theme there is not, 403 from elsewhere', async () => {
    expect((await post({ theme: 'pink' })).status).toBe(400)
    expect((await post({ theme: 'dark' }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  })
})

describe('404', () => {
  test('a page to a browser', async () => {
    const answer = await get('/nothing', { accept: 'text/html' })
    const html = await answer.text()
    expect(answer.status).toBe(404)
    expect(answer.headers.get('content-security-policy')).toBe(csp)
    expect(html).toContain('<h1>Nothing here</h1>')
    expect(html).toContain(answer.headers.get('x-request-id') ?? 'none')
  })

  test('a note to htmx', async () => {
    const answer = await get('/nothing', { 'hx-request': 'true' })
    expect(answer.status).toBe(404)
    expect(await answer.text()).toStartWith('<div class="note bad" role="alert">')
  })

  test('JSON to a program, under /v1 and /api', async () => {
    for (const path of ['/v1/nothing', '/api/nothing']) {
      expect((await (await get(path)).json()).error.type).toBe('not_found')
    }
  })
})
