import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { defaultHttpLimits } from '../../../src/models/upstream/http.ts'
import type { UpstreamFailure } from '../../../src/models/upstream/upstream.ts'
import { openDirect } from '../../../src/models/upstream/wire/wire.ts'
import { type Certified, makeAuthority } from '../../support/certificates.ts'
import { promise } from '../../support/promise.ts'
import { rawAnswer, startRawUpstream } from '../../support/raw-upstream.ts'
import { until } from '../../support/runs.ts'

const hasOpenssl = Bun.which('openssl') !== null
let authority: Awaited<ReturnType<typeof makeAuthority>>
const certified: Record<string, Certified> = {}
const servers: Server[] = []

beforeAll(async () => {
  if (!hasOpenssl) return
  authority = await makeAuthority()
  certified['name'] = await authority.certify('name', 'DNS:localhost')
  certified['address'] = await authority.certify('address', 'IP:127.0.0.1')
  certified['another'] = await authority.certify('another', 'DNS:another.example')
})
afterAll(() => authority?.remove())
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

type Answer = (socket: TLSSocket, turn: number, length: number) => void

async function serve(certificate: string, answer: Answer) {
  const sockets: TLSSocket[] = []
  const { key = '', cert = '' } = certified[certificate] ?? {}
  const server = createServer({ key, cert }, (socket) => {
    sockets.push(socket)
    let turn = 0
    let received = ''
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
      const end = received.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/.exec(received)?.[1])
      if (end === -1 || received.length < end + 4 + length) return
      received = ''
      answer(socket, turn++, length)
    })
  })
  server.on('tlsClientError', () => {})
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return { sockets, port: typeof address === 'object' ? address?.port : 0 }
}

/** What a process that trusts the authority (or does not) is answered, line by line. */
async function asked(lines: string[], isTrusted = true): Promise<string[]> {
  const trust = isTrusted ? { NODE_EXTRA_CA_CERTS: authority.path } : {}
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'tls-child.ts')], {
    env: { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0', ...trust },
    stdin: Buffer.from(lines.join('\n')),
    stdout: 'pipe',
  })
  const text = await new Response(child.stdout).text()
  await child.exited
  return text.trim().split('\n')
}

const hello: Answer = (socket) => void socket.write(rawAnswer('hello'))

describe('over TLS', () => {
  promise`E7`
  test.each([
    ['the first byte is late', 'timeout'],
    ['its caller gives up', 'aborted'],
  ])(
    'a connection to a server that never answers the handshake ends when %s',
    async (_, reason) => {
      const silent = await startRawUpstream(() => {})
      const caller = new AbortController()
      const wire = openDirect(silent.url.replace('http:', 'https:'))
      const limits = { ...defaultHttpLimits, ...(reason === 'timeout' && { firstByteMs: 300 }) }
      const asked = { account: 'a', headers: {}, body: '', signal: caller.signal, limits }
      const answer = wire.ask(asked).catch((error: UpstreamFailure) => error.reason)
      await until('a connection', () => silent.sockets.length === 1)
      if (reason === 'aborted') caller.abort()
      expect(await answer).toBe(reason as UpstreamFailure['reason'])
      await until('its end', () => silent.sockets.every(({ closed }) => closed))
      await silent.stop()
    },
  )
})

describe.skipIf(!hasOpenssl)('over TLS', () => {
  test('an upstream is asked under the name that its certificate holds', async () => {
    const named = await serve('name', hello)
    const numbered = await serve('address', hello)
    const lines = [
      `https://localhost:${named.port}/ a 2`,
      `https://127.0.0.1:${numbered.port}/ a 2`,
      `https://127.0.0.1:${named.port}/ a 2`,
    ]
    expect(await asked(lines)).toEqual(['hello', 'hello', 'unreachable'])
    expect(named.sockets[0]?.servername).toBe('localhost')
  })

  promise`E6`
  test('a certificate for another name or of an unknown authority gets no request', async () => {
    let heard = 0
    const count: Answer = (socket) => {
      heard++
      socket.write(rawAnswer('hello'))
    }
    const another = await serve('another', count)
    const named = await serve('name', count)
    expect(await asked([`https://localhost:${another.port}/ a 2`])).toEqual(['unreachable'])
    expect(await asked([`https://localhost:${named.port}/ a 2`], false)).toEqual(['unreachable'])
    expect(heard).toBe(0)
  })

  promise`E11`
  test('a kept connection serves one account, and none after bytes came while it was idle', async () => {
    const { port, sockets } = await serve('name', (socket, turn) => {
      const number = sockets.indexOf(socket)
      socket.write(rawAnswer(`${number}:${turn}`))
      // The last answer of the third connection comes twice.
      if (number === 1 && turn === 1) socket.write(rawAnswer('a duplicate'))
    })
    const url = `https://localhost:${port}/`
    const lines = ['a', 'b', 'a', 'b', 'b', 'a'].map((account) => `${url} ${account} 2`)
    expect(await asked(lines.toSpliced(4, 0, 'wait'))).toEqual([
      '0:0',
      '1:0',
      '0:1',
      '1:1',
      '2:0',
      '0:2',
    ])
  })

  promise`E12`
  test('a connection that is closed after it heard a request sends it to no other', async () => {
    let heard = 0
    const { port } = await serve('name', (socket, turn) => {
      heard++
      if (turn > 0) socket.destroy()
      else socket.write(rawAnswer('hello'))
    })
    const line = `https://localhost:${port}/ a 2`
    expect(await asked([line, line])).toEqual(['hello', 'unreachable'])
    expect(heard).toBe(2)
  })

  test('megabytes arrive whole in both directions, also at a slow reader', async () => {
    const size = 32 * 1024 * 1024
    const { port } = await serve('name', (socket, _, length) => {
      if (length > 0) return void socket.write(rawAnswer(`heard ${length}`))
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`)
      socket.write(Buffer.alloc(size, 'y'))
    })
    const url = `https://localhost:${port}/`
    expect(await asked([`${url} a 8000000`, `${url} a 0`, `${url} a 5`])).toEqual([
      'heard 8000000',
      `${size} bytes`,
      'heard 5',
    ])
  }, 30_000)
})
