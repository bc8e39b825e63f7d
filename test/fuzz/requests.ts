import type { Json } from '../../src/kernel/canonical.ts'
import type { Prng } from '../ledger/prng.ts'
import { mutateJson, mutateText } from './mutate.ts'
import { maybe, type Route, type Service } from './service.ts'

/** A request as it is sent; the method and the path are those of a route. */
export type Made = { route: Route; target: string; init: RequestInit & { headers: Headers } }

/** The longest target that the server accepts; longer ones reach no route. */
const longestTarget = 8000

/** Makes a request to some route: mostly well formed, with something changed somewhere. */
export function makeRequest(service: Service, prng: Prng, cookie: string): Made {
  const route = prng.pick(service.routes)
  const target = targetOf(service, prng, route)
  const headers = new Headers()
  addWho(headers, service, prng, cookie)
  addRest(headers, prng)
  if (route.path === '/mcp') headers.set('accept', 'application/json, text/event-stream')
  const init: Made['init'] = { method: route.method, headers, redirect: 'manual' }
  if (route.method !== 'GET') {
    const { type, body } = bodyOf(service, prng, route)
    if (type !== undefined) headers.set('content-type', headerOf(type))
    if (body !== undefined) init.body = body
  }
  return { route, target, init }
}

function targetOf({ ids, queries }: Service, prng: Prng, { path }: Route): string {
  const own = ids.filter((id) => fits(path, id))
  const filled = path.replace(/:\w+|\*/g, () => {
    const id = prng.pick(own.length > 0 && prng.below(4) > 0 ? own : ids)
    const text = prng.below(3) === 0 ? mutateText(prng, id, ids).slice(0, 400) : id
    return prng.below(4) === 0 ? loosely(text) : encodeURIComponent(text.toWellFormed())
  })
  const query = maybe(prng, queries)
  const text = query && prng.below(3) > 0 ? mutateText(prng, query, queries) : query
  const target = text === undefined ? filled : `${filled}?${loosely(text)}`
  return target.slice(0, longestTarget)
}

/** Whether an id names what a path is about. */
function fits(path: string, id: string): boolean {
  if (id.startsWith('0x')) return path.includes('accounts')
  const [noun = ''] = id.split('_')
  if (noun === 'rcpt') return /receipts|\/r\//.test(path)
  return noun === id ? /passports|plans|sitemap|docs/.test(path) : path.includes(noun)
}

/** As a careless program writes it: only what no client can send is left out. */
const loosely = (text: string): string =>
  text.toWellFormed().replace(/[^!-~]|#/gu, (char) => encodeURIComponent(char))

function addWho(headers: Headers, service: Service, prng: Prng, cookie: string): void {
  const key = `Bearer ${service.secret}`
  const spoilt = () => headerOf(mutateText(prng, key, [key]))
  switch (prng.below(14)) {
    case 0:
      break
    case 1:
      headers.set('authorization', spoilt())
      break
    case 2:
      headers.set('cookie', headerOf(mutateText(prng, cookie, [cookie])))
      break
    case 3:
      headers.set('authorization', key)
      break
    default:
      headers.set('authorization', key)
      headers.set('cookie', cookie)
  }
}

/** Headers that something of ours reads, each with what it may say. */
const said: readonly [name: string, values: readonly string[]][] = [
  ['accept', ['text/html', 'application/json', '*/*', 'application/json, text/event-stream']],
  ['hx-request', ['true', 'false']],
  ['hx-target', ['main', '#list']],
  ['sec-fetch-site', ['same-origin', 'none', 'cross-site', 'same-site']],
  ['origin', ['null', 'http://localhost', 'https://evil.example']],
  ['idempotency-key', ['a', '0c9d1b0e-6f0a']],
  ['traceparent', ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01']],
  ['x-forwarded-for', ['203.0.113.7', '::1, 10.0.0.1']],
  ['if-none-match', ['*', 'W/"x"']],
  ['range', ['bytes=0-1', 'bytes=-5,9-']],
  ['content-encoding', ['identity', 'gzip']],
  ['accept-encoding', ['gzip', 'gzip;q=0']],
  ['last-event-id', ['5', '-1']],
  ['mcp-protocol-version', ['2025-06-18', '2024-11-05']],
  ['mcp-session-id', ['x']],
  ['user-agent', ['Mozilla/5.0 Firefox/140.0', 'curl/8']],
]

function addRest(headers: Headers, prng: Prng): void {
  for (let times = prng.below(5); times > 0; times--) {
    const [name, values] = prng.pick(said)
    const value = prng.pick(values)
    headers.set(name, prng.below(4) === 0 ? headerOf(mutateText(prng, value, values)) : value)
  }
}

/** One line of bytes, as long as the server takes. */
const headerOf = (text: string): string =>
  text
    .slice(0, 4000)
    .replace(/[^\t\x20-\x7e\xa0-\xff]/g, (char) =>
      String.fromCharCode(0xa1 + (char.charCodeAt(0) % 94)),
    )

type Body = { type: string | undefined; body: string | FormData | undefined }

function bodyOf({ bodies, bodiesOf }: Service, prng: Prng, route: Route): Body {
  const own = bodiesOf(route)
  const value = prng.pick(own.length > 0 && prng.below(6) > 0 ? own : bodies)
  const isChanged = prng.below(4) > 0
  const isForm = !route.path.startsWith('/v1') && prng.below(2) === 0
  if (isForm) return formOf(prng, value, isChanged)
  const text = isChanged ? mutateJson(prng, value) : JSON.stringify(value)
  switch (prng.below(24)) {
    case 0:
      return { type: undefined, body: undefined }
    case 1:
      return { type: mutateText(prng, 'application/json; charset=utf-8'), body: text }
    case 2:
      return { type: 'text/plain', body: text }
    default:
      return { type: 'application/json', body: text }
  }
}

function formOf(prng: Prng, value: Json, isChanged: boolean): Body {
  const fields = Object.entries(typeof value === 'object' && value !== null ? value : {})
  const texts = fields.map(([name, field]): [string, string] => {
    const text = typeof field === 'string' ? field : JSON.stringify(field)
    return [name, isChanged && prng.below(2) === 0 ? mutateText(prng, text) : text]
  })
  if (prng.below(6) === 0) {
    const form = new FormData()
    for (const [name, text] of texts) {
      if (prng.below(3) === 0) form.set(name, new Blob([text]), 'a.json')
      else form.set(name, text)
    }
    // The boundary is fetch's to say.
    return { type: undefined, body: form }
  }
  const text = new URLSearchParams(texts).toString()
  return {
    type: 'application/x-www-form-urlencoded',
    body: isChanged && prng.below(3) === 0 ? mutateText(prng, text) : text,
  }
}
