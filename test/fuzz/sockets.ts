import { connect } from 'node:net'
import { prng } from '../ledger/prng.ts'
import { cut, mutateBytes } from './mutate.ts'
import type { Effort, Tried } from './run.ts'

/** A server in a process of its own, and a secret that it must never tell. */
export type Served = { port: number; secret: string; isAlive(): boolean }

/** How long something that is not a whole request is left to the server, in ms. */
const patienceMs = 250
/** How long a good request may take beside all the others, in ms. */
const answerMs = 15_000
/** Sockets that are open at once. */
const width = 16
const mostFaults = 5

const lines = (...fields: string[]): string => `${fields.join('\r\n')}\r\n`

/** Requests as clients write them, to begin from. */
function goodRequests({ port, secret }: Served): string[] {
  const host = `Host: localhost:${port}`
  const auth = `Authorization: Bearer ${secret}`
  const json = '{"model":"counterfoil/echo-1","messages":[{"role":"user","content":"hi"}]}'
  const post = ['POST /v1/chat/completions HTTP/1.1', host, auth, 'Content-Type: application/json']
  const chunked = `${(20).toString(16)}\r\n${json.slice(0, 20)}\r\n${(json.length - 20).toString(16)};a=b\r\n${json.slice(20)}\r\n0\r\n\r\n`
  return [
    lines('GET /v1/status HTTP/1.1', host, ''),
    lines('GET / HTTP/1.1', host, 'Accept: text/html', 'Cookie: sid=abc; theme=dark', ''),
    lines('HEAD /livez HTTP/1.1', host, 'Connection: close', ''),
    lines('OPTIONS /v1/models HTTP/1.1', host, 'Origin: https://a.example', ''),
    lines('GET /v1/keys/self?x=%C3%A9 HTTP/1.1', host, auth, 'Range: bytes=0-5', ''),
    lines(...post, `Content-Length: ${json.length}`, '') + json,
    lines(...post, 'Transfer-Encoding: chunked', '') + chunked,
    lines(...post, 'Expect: 100-continue', `Content-Length: ${json.length}`, '') + json,
    lines('GET /livez HTTP/1.1', host, '') + lines('GET /readyz HTTP/1.1', host, ''),
    lines('GET /livez HTTP/1.1', host, 'Connection: Upgrade', 'Upgrade: websocket', ''),
  ]
}

/** A request inside of another, for anyone who reads where one ends in another way than we do. */
const inner = (port: number): string =>
  lines('GET /v1/models HTTP/1.1', `Host: localhost:${port}`, '')

/** Requests that two readers could read in two ways, and others that are none. */
export function oddRequests(served: Served): [what: string, request: string][] {
  const { port } = served
  const host = `Host: localhost:${port}`
  const type = 'Content-Type: application/json'
  const post = (...fields: string[]) => lines('POST /mcp HTTP/1.1', host, type, ...fields, '')
  const get = (...fields: string[]) => lines('GET /livez HTTP/1.1', ...fields, '')
  const smuggled = inner(port)
  return [
    [
      'a length and chunks',
      `${post('Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n${smuggled}`,
    ],
    [
      'chunks and a length',
      `${post('Transfer-Encoding: chunked', 'Content-Length: 4')}0\r\n\r\n${smuggled}`,
    ],
    ['two lengths', post('Content-Length: 0', `Content-Length: ${smuggled.length}`) + smuggled],
    ['two lengths in one', post(`Content-Length: 0, ${smuggled.length}`) + smuggled],
    ['a length with a sign', post(`Content-Length: +${smuggled.length}`) + smuggled],
    ['a length below nothing', post('Content-Length: -1') + smuggled],
    ['a length in hex', post('Content-Length: 0x10') + smuggled],
    ['an unknown coding', `${post('Transfer-Encoding: xchunked')}0\r\n\r\n${smuggled}`],
    ['chunked twice', `${post('Transfer-Encoding: chunked, identity')}0\r\n\r\n${smuggled}`],
    ['a space before the colon', `${post('Transfer-Encoding : chunked')}0\r\n\r\n${smuggled}`],
    ['a folded field', post('X: a\r\n Transfer-Encoding: chunked', 'Content-Length: 0') + smuggled],
    ['a chunk of no size', `${post('Transfer-Encoding: chunked')}\r\n${smuggled}`],
    ['a chunk of a size below nothing', `${post('Transfer-Encoding: chunked')}-1\r\n${smuggled}`],
    [
      'a chunk of a size beyond all',
      `${post('Transfer-Encoding: chunked')}${'f'.repeat(17)}\r\n${smuggled}`,
    ],
    [
      'a chunk that is longer than it says',
      `${post('Transfer-Encoding: chunked')}1\r\nab\r\n0\r\n\r\n`,
    ],
    ['a bare CR in a field', get(host, 'X: a\rY: b')],
    ['a zero byte in a field', get(host, 'X: a\0b')],
    ['a zero byte in the target', get(host).replace('/livez', '/li\0vez')],
    ['two hosts', get(host, 'Host: evil.example')],
    ['no host', get('X: y')],
    ['another host', get('Host: evil.example')],
    ['a host with a name before it', get(`Host: a@localhost:${port}`)],
    ['the whole address of another', get(host).replace('/livez', 'http://evil.example/livez')],
    ['an address for a tunnel', get(host).replace('GET /livez', 'CONNECT evil.example:443')],
    ['a target that is a star', get(host).replace('GET /livez', 'OPTIONS *')],
    ['a target without a slash', get(host).replace('/livez', 'livez')],
    ['a method in small letters', get(host).replace('GET', 'get')],
    ['an unknown method', get(host).replace('GET', 'X'.repeat(300))],
    ['an unknown version', get(host).replace('HTTP/1.1', 'HTTP/9.9')],
    ['no version', 'GET /livez\r\n\r\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['the hello of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a field of 100 kB', get(host, `X: ${'a'.repeat(100_000)}`)],
    ['a thousand fields', get(host, ...Array.from({ length: 1000 }, (_, i) => `X${i}: y`))],
    ['a target of 100 kB', get(host).replace('/livez', `/${'a'.repeat(100_000)}`)],
    ['line ends that are LF alone', get(host).replaceAll('\r\n', '\n')],
    ['line ends that are CR alone', get(host).replaceAll('\r\n', '\r')],
    ['nothing but line ends', '\r\n'.repeat(5000)],
  ]
}

/** Sends bytes that hardly anyone would call a request, and looks whether others are served. */
export async function trySockets(served: Served, seed: number, effort: Effort): Promise<Tried> {
  const tried: Tried = { name: 'sockets', inputs: 0, slowestMs: 0, grownMiB: 0, faults: [] }
  const end = 'ms' in effort ? performance.now() + effort.ms : Number.POSITIVE_INFINITY
  const most = 'inputs' in effort ? effort.inputs : Number.POSITIVE_INFINITY
  const good = goodRequests(served)
  const odd = oddRequests(served).map(([, request]) => request)
  while (tried.inputs < most && performance.now() < end && tried.faults.length < mostFaults) {
    const numbers = Array.from(
      { length: Math.min(width, most - tried.inputs) },
      () => tried.inputs++,
    )
    const answers = numbers.map(async (number) => {
      const random = prng(Bun.hash.crc32(`sockets/${seed}/${number}`))
      const text = random.pick(random.below(4) === 0 ? odd : good)
      const bytes = mutateBytes(random, Buffer.from(text, 'latin1'), good)
      const said = await exchange(served.port, cut(random, bytes), patienceMs)
      const faults = faultsOf(served, said)
      tried.faults.push(...faults.map((fault) => `sockets, ${seed}/${number}: ${fault}`))
    })
    await Promise.all(answers)
    const begun = performance.now()
    const fault = await notServed(served)
    tried.slowestMs = Math.max(tried.slowestMs, performance.now() - begun)
    if (fault)
      tried.faults.push(`after sockets, ${seed}/${numbers[0]} to ${numbers.at(-1)}: ${fault}`)
  }
  return tried
}

/** Why a good request is not answered; undefined when it is. */
export async function notServed(served: Served): Promise<string | undefined> {
  if (!served.isAlive()) return 'the server is gone'
  const request = lines('GET /livez HTTP/1.1', `Host: localhost:${served.port}`, '')
  const said = await exchange(served.port, [Buffer.from(request)], answerMs)
  return said.startsWith('HTTP/1.1 200 ') ? undefined : `a good request: ${said.slice(0, 100)}`
}

export const statusesIn = (said: string): number[] =>
  [...said.matchAll(/(?:^|\r\n|\})HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))

function faultsOf({ secret }: Served, said: string): string[] {
  const broken = statusesIn(said).find(
    (status) => status >= 500 && ![501, 503, 505].includes(status),
  )
  const faults = broken === undefined ? [] : [`${broken}: ${said.slice(-300)}`]
  return said.includes(secret) ? [...faults, 'an answer tells the secret'] : faults
}

/** Writes pieces and gives what came back until it is whole, the server closes, or time is up. */
export function exchange(
  port: number,
  pieces: readonly Uint8Array[],
  waitMs: number,
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let said = ''
  const socket = connect(port, '127.0.0.1')
  const done = () => {
    clearTimeout(timer)
    socket.destroy()
    resolve(said)
  }
  const timer = setTimeout(done, waitMs)
  socket.on('connect', async () => {
    for (const piece of pieces) {
      if (socket.destroyed) return
      socket.write(piece)
      await new Promise((next) => setImmediate(next))
    }
  })
  socket.on('data', (data) => {
    said += data.toString('latin1')
    if (waitMs > patienceMs && /\r\n\r\n[\s\S]/.test(said)) done()
  })
  socket.on('close', done)
  socket.on('error', done)
  return promise
}
