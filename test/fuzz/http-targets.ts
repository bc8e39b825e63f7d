import { browserName } from '../../src/access/accounts/browser-name.ts'
import { nextPage } from '../../src/access/accounts/next-page.ts'
import { readPlace } from '../../src/billing/statement/movement.ts'
import {
  readExportQuery,
  readReportQuery,
  readSumsQuery,
} from '../../src/billing/usage/api/usage-query.ts'
import { parseAddress } from '../../src/kernel/network-address.ts'
import { parseBlock } from '../../src/kernel/network-block.ts'
import { readTrace } from '../../src/kernel/trace.ts'
import { readFilter } from '../../src/runs/api/list-query.ts'
import { acceptsGzip } from '../../src/web/http/assets.ts'
import { parseSound, readJson } from '../../src/web/http/body.ts'
import { clientAddress, rateKey, trustedProxies } from '../../src/web/http/client-address.ts'
import { readCookie } from '../../src/web/http/cookies.ts'
import { isKnown } from '../../src/web/http/etag.ts'
import { parseForm, readFields, readFieldsAndFiles, readForm } from '../../src/web/http/fields.ts'
import { readParts } from '../../src/web/http/form-parts.ts'
import { hostCheck } from '../../src/web/http/host.ts'
import { readIdempotencyKey } from '../../src/web/http/idempotency-key.ts'
import { findJsonError } from '../../src/web/http/json-position.ts'
import { queryOf, readPage } from '../../src/web/http/query.ts'
import { assertSameOrigin } from '../../src/web/http/same-origin.ts'
import { isSafeUrl } from '../../src/web/ui/safe-url.ts'
import { themeOf } from '../../src/web/ui/theme.ts'
import type { Prng } from '../ledger/prng.ts'
import { cut } from './mutate.ts'
import { must, type Target } from './run.ts'

const base = 'https://gw.example'
const limits = { limitBytes: 64 * 1024 }
const now = Date.UTC(2026, 10, 21)

/** What a header can hold of a text: one line of bytes, as many as the server takes. */
const headerOf = (text: string): string =>
  text
    .slice(0, 16 * 1024)
    .replace(/[^\t\x20-\x7e\xa0-\xff]/g, (char) =>
      String.fromCharCode(0xa1 + (char.charCodeAt(0) % 94)),
    )

/** The server takes no longer target. */
const targetOf = (text: string) => ({ url: `${base}${text.slice(0, 16 * 1024)}` }) as Request

const asked = (headers: Record<string, string>, method = 'GET'): Request =>
  new Request(`${base}/v1/status`, { method, headers })

/** A request whose body comes in pieces, as a socket gives them. */
function sent(prng: Prng, bytes: Uint8Array, type: string): Request {
  const pieces = cut(prng, bytes)
  const body = new ReadableStream({
    pull(controller) {
      const piece = pieces.shift()
      if (piece) controller.enqueue(piece)
      else controller.close()
    },
  })
  const whole = { 'content-type': type, 'content-length': String(bytes.length) }
  return prng.below(2) === 0
    ? new Request(base, { method: 'POST', body, headers: { 'content-type': type } })
    : new Request(base, { method: 'POST', body: Buffer.from(bytes), headers: whole })
}

const formType = 'application/x-www-form-urlencoded'
const boundary = 'multipart/form-data; boundary=x1'
const parts =
  '--x1\r\nContent-Disposition: form-data; name="text"\r\n\r\nhello\r\n--x1\r\n' +
  'Content-Disposition: form-data; name="file"; filename="r.json"\r\nContent-Type: ' +
  'application/json\r\n\r\n{"type":"counterfoil.receipt"}\r\n--x1--\r\n'
const json =
  '{"model":"counterfoil/echo-1","messages":[{"role":"user","content":"\\u2602 it"}],"n":1}'

const bytesOf = (...texts: string[]) => texts.map((text) => Buffer.from(text))

/** Bodies, headers and queries. */
export const httpTargets: readonly Target[] = [
  {
    name: 'JSON body',
    goodBytes: bytesOf(json, '[]', '{"a":{"b":[1,2.5,-3e2,null,true]}}'),
    async read(bytes, prng) {
      const { value } = await readJson(sent(prng, bytes, 'application/json'), limits)
      must(JSON.stringify(value) !== undefined, 'it is JSON')
    },
  },
  {
    name: 'JSON in a field',
    good: [json, '[[["x"]]]', '"\\ud83d\\ude00"'],
    read: (text) => must(JSON.stringify(parseSound(text)).isWellFormed(), 'well-formed'),
  },
  {
    name: 'place of a fault in JSON',
    good: [json, `[${json},`, '{"a":"\\u00zz"}'],
    read(text) {
      const place = findJsonError(text)
      if (!place) return
      const { offset, line, column } = place
      must(offset >= 0 && offset <= text.length && line >= 1 && column >= 1, 'a place in it')
    },
  },
  {
    name: 'form',
    good: ['name=a&cap=5.00&scope.runs=true', 'a=%C3%A9+b&c=%0A', ''],
    read: (text) => must(!Object.values(parseForm(text)).join().includes('\0'), 'no zero byte'),
  },
  {
    name: 'form body',
    goodBytes: bytesOf('name=a&cap=5.00', 'text=%7B%22a%22%3A1%7D'),
    read: async (bytes, prng) => {
      await readFields(sent(prng, bytes, formType), limits)
      await readForm(sent(prng, bytes, `${formType}; charset=UTF-8`), limits)
    },
  },
  {
    name: 'multipart body',
    goodBytes: bytesOf(parts),
    read: async (bytes, prng) => {
      await readParts(sent(prng, bytes, boundary), limits)
      const { files } = await readFieldsAndFiles(sent(prng, bytes, boundary), limits)
      must(
        files.every(({ bytes: read }) => read.length <= bytes.length),
        'no file has more bytes than the body',
      )
    },
  },
  {
    name: 'Content-Type',
    good: ['application/json', 'application/json; charset=utf-8', 'application/json;a=b; c="d"'],
    read: (text) =>
      readJson(
        new Request(base, {
          method: 'POST',
          body: json,
          headers: { 'content-type': headerOf(text) },
        }),
        limits,
      ),
  },
  {
    name: 'Content-Type of a form',
    good: [boundary, 'multipart/form-data; boundary="x1"'],
    read: (text) =>
      readForm(
        new Request(base, {
          method: 'POST',
          body: parts,
          headers: { 'content-type': headerOf(text) },
        }),
        limits,
      ),
  },
  {
    name: 'Cookie',
    good: ['__Host-sid=abc; theme=dark', 'sid=abc;signin=def', 'a=b; theme=light'],
    read(text) {
      const request = asked({ cookie: headerOf(text) })
      const found = readCookie(request.headers, 'sid', base)
      must(found === undefined || !found.includes(';'), 'one value')
      themeOf(request)
    },
  },
  {
    name: 'Host',
    good: ['gw.example', 'gw.example:443', 'localhost:4663', '[::1]:4663'],
    read(text) {
      const isOurs = hostCheck(base, { hostname: '127.0.0.1', port: 4663 })(text)
      must(!isOurs || /^[a-z0-9.:[\]]+$/i.test(text), 'a name of ours')
    },
  },
  {
    name: 'X-Forwarded-For',
    good: [
      '203.0.113.7',
      '198.51.100.1, 10.0.0.1',
      '[2001:db8::1]:443, 10.0.0.2',
      '::ffff:1.2.3.4',
    ],
    read(text) {
      const trusted = trustedProxies(['10.0.0.0/8', '::1'])
      const server = { requestIP: () => ({ address: '10.0.0.9' }) }
      const address = clientAddress(asked({ 'x-forwarded-for': headerOf(text) }), server, trusted)
      must(parseAddress(address) !== undefined, 'an address')
      must(rateKey(address).length < 50, 'a short key')
      parseBlock(text)
    },
  },
  {
    name: 'network block',
    good: ['10.0.0.0/8', '::/0', '2001:db8::/32', '192.0.2.1'],
    read(text) {
      const block = parseBlock(text)
      must(block === undefined || (block.bits >= 0 && block.bits <= 128), 'bits of it')
    },
  },
  {
    name: 'traceparent',
    good: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
    read(text) {
      const trace = readTrace(headerOf(text), headerOf(`vendor=${text}`))
      must(trace === undefined || /^[0-9a-f-]{55}$/.test(trace.parent), 'one form')
    },
  },
  {
    name: 'Idempotency-Key',
    good: ['0c9d1b0e-6f0a-4f2c', 'a'],
    read: (text) => readIdempotencyKey(asked({ 'idempotency-key': headerOf(text) }).headers),
  },
  {
    name: 'Accept-Encoding, If-None-Match, User-Agent',
    good: [
      'gzip, deflate;q=0.5',
      'gzip;q=0, *',
      '"abc", W/"def"',
      'Mozilla/5.0 Version/17 Safari/6',
    ],
    read(text) {
      const header = headerOf(text)
      acceptsGzip(asked({ 'accept-encoding': header }))
      isKnown(asked({ 'if-none-match': header }), { headers: {} }, 'x')
      must(browserName(header.slice(0, 256)).length <= 40, 'short')
    },
  },
  {
    name: 'Origin, Sec-Fetch-Site',
    good: ['sec-fetch-site: same-origin', 'sec-fetch-site: none', `origin: ${base}`],
    read(text) {
      const [, name = 'origin', value = ''] =
        /^(origin|sec-fetch-site): ?([\s\S]*)$/.exec(text) ?? []
      const headers = new Headers([[name, headerOf(value)]])
      assertSameOrigin({ method: 'POST', headers }, base)
      must([base, 'none', 'same-origin'].includes(headerOf(value).trim()), 'our own pages')
    },
  },
  {
    name: 'query of a list',
    good: [
      'limit=20&after=key_01k1j8dq00v5x3c7n9m2p4r6t8',
      'status=succeeded&tag=team:a&from=2026-01-01',
    ],
    read(text) {
      const query = queryOf(targetOf(`?${text}`))
      const { limit } = readPage(query)
      must(limit >= 1 && limit <= 100, 'a limit')
      const { from, to } = readFilter(query, Date.now())
      must(
        [from, to].every((at) => at === undefined || Number.isFinite(at)),
        'times',
      )
      for (const value of query.values()) readPlace(value)
    },
  },
  {
    name: 'query of usage',
    good: [
      'from=2026-11-01&to=2026-11-20&group_by=day,key',
      'from=2026-01-01T00:00:00.000Z&to=2026-01-02T00:00:00%2B02:00',
      'format=focus&as_of=12',
      'days=30&page=2',
    ],
    read(text, prng) {
      const query = queryOf(targetOf(`?${text}`))
      const readers = [
        () => readSumsQuery(query, now),
        () => readReportQuery(query, now),
        () => readExportQuery(query),
      ]
      const { from, to } = (readers[prng.below(3)] ?? readers[0])?.() ?? { from: 0, to: 0 }
      must(Number.isFinite(from) && !Number.isNaN(to) && from <= to, 'a range')
    },
  },
  {
    name: 'request target',
    good: ['/v1/keys?limit=5', '/v1/receipts/rcpt_x?a=b?c=d#e'],
    read: (text) => readPage(queryOf(targetOf(text))),
  },
  {
    name: 'next page, link',
    good: ['/dashboard/keys?x=1', 'https://a.example/b', 'mailto:a@b.example'],
    read(text) {
      const next = nextPage(text)
      must(new URL(next, 'https://a.example').host === 'a.example', 'a path of ours')
      const isSafe = isSafeUrl('a', 'href', text)
      const protocol = URL.parse(text, 'https://a.example')?.protocol ?? 'https:'
      must(!isSafe || /^(https?|mailto|ethereum):$/.test(protocol), 'no script')
    },
  },
]
