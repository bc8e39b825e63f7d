import { afterEach, describe, expect, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { defaultHttpLimits, type HttpLimits, type Wire } from '../../../src/models/upstream/http.ts'
import { UpstreamFailure } from '../../../src/models/upstream/upstream.ts'
import { openBody, takeBody } from '../../../src/models/upstream/wire/message-body.ts'
import { readHead } from '../../../src/models/upstream/wire/message-head.ts'
import { openDirect } from '../../../src/models/upstream/wire/wire.ts'
import { promise } from '../../support/promise.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { until } from '../../support/runs.ts'

const headOf = (...fields: string[]): string => ['HTTP/1.1 200 OK', ...fields].join('\r\n')

describe('the head of an answer', () => {
  const good: [fields: string[], says: object][] = [
    [['Content-Length: 5'], { length: 5, isChunked: false, isKept: true }],
    [['Transfer-Encoding: Chunked'], { length: undefined, isChunked: true, isKept: true }],
    [['Content-Length: 5', 'Connection: close'], { isKept: false }],
    [['Content-Length: 5', 'Connection: x', 'Connection: Close'], { isKept: false }],
    [[], { length: undefined, isChunked: false, isKept: false }],
    // No list of tokens, so it may mean anything.
    [['Content-Length: 5', 'Connection: keep-alive; close'], { isKept: false }],
    [['Content-Length: 5', 'Content-Encoding: gzip'], { encoding: 'gzip' }],
    [['Content-Length: 5', 'Content-Encoding: identity'], { encoding: undefined }],
  ]
  test.each(good)('The head with the fields %p is read.', (fields, says) => {
    expect(readHead(headOf(...fields))).toMatchObject({ status: 200, ...says })
  })

  test.each([
    ['HTTP/1.0 200 OK\r\nContent-Length: 5', false],
    ['HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive', true],
    ['HTTP/1.1 204 No Content', true],
    ['HTTP/1.1 204 No Content\r\nConnection: close', false],
    ['HTTP/1.1 204 No Content\r\nContent-Length: 0', false],
    ['HTTP/1.1 304 Not Modified', false],
  ])('%p says whether its connection stays', (head, isKept) => {
    expect(readHead(head)?.isKept).toBe(isKept)
  })

  promise`E13`
  test.each([
    'HTTP/2 200',
    'HTTP/1.1 2000 OK',
    'ICY 200 OK',
    '',
    headOf('Content-Length: 5', 'Content-Length: 6'),
    headOf('Content-Length: 5', 'Transfer-Encoding: chunked'),
    headOf('Content-Encoding: gzip', 'Content-Encoding: gzip'),
    headOf('Content-Length: -5'),
    headOf('Content-Length: 5, 5'),
    headOf('Content-Length : 5'),
    headOf('A: b', ' Content-Length: 5'),
    headOf('Transfer-Encoding: gzip, chunked'),
    headOf('no colon'),
    headOf('A: b\nContent-Length: 5'),
    'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked',
  ])('The text %p is not a head.', (head) => {
    expect(readHead(head)).toBeUndefined()
  })
})

describe('a body in chunks', () => {
  const chunked = { status: 200, length: undefined, isChunked: true, isKept: true }
  const open = () => openBody({ ...chunked, encoding: undefined })
  const whole = Buffer.from('5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nX: y\r\n\r\n')

  test('is the same in every split', () => {
    for (let size = 1; size <= whole.length; size++) {
      const body = open()
      let text = ''
      for (let at = 0; at < whole.length; at += size) {
        text += takeBody(body, whole.subarray(at, at + size))?.toString() ?? ''
      }
      expect([text, body.state, body.hasMore]).toEqual(['hello world', 'over', false])
    }
  })

  test('A body in chunks tells the bytes that follow it.', () => {
    const body = open()
    takeBody(body, Buffer.concat([whole, Buffer.from('HTTP/1.1 200 OK')]))
    expect([body.state, body.hasMore]).toEqual(['over', true])
  })

  test.each([
    'x\r\n',
    '-1\r\n',
    '\r\n',
    '5\nhello',
    '123456789\r\n',
    '5\r\nhello!\r\n',
    'f'.repeat(2000),
  ])('The body %p is a broken one in chunks.', (text) => {
    const body = open()
    takeBody(body, Buffer.from(text))
    expect(body.state).toBe('broken')
  })
})

describe('a connection', () => {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) server.close()
  })

  /** A server that answers request after request of each connection. */
  async function serve(answer: (socket: Socket, turn: number) => void) {
    const sockets: Socket[] = []
    const server = createServer((socket) => {
      sockets.push(socket)
      let turn = 0
      socket.on('error', () => {})
      socket.on('data', (bytes) => {
        if (bytes.toString('latin1').endsWith('"end"')) answer(socket, turn++)
      })
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    return { sockets, wire: openDirect(`http://127.0.0.1:${port}/v1`) }
  }
  const ask = (wire: Wire, limits: Partial<HttpLimits> = {}, body = '"end"', account = 'a') => {
    const { signal } = new AbortController()
    return wire.ask({
      account,
      headers: {},
      body,
      signal,
      limits: { ...defaultHttpLimits, ...limits },
    })
  }
  const failureOf = async (work: Promise<unknown>): Promise<string> => {
    const error = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    return error instanceof UpstreamFailure ? error.reason : `no failure: ${error}`
  }
  const hello = `${headOf('Content-Length: 5')}\r\n\r\nhello`

  test('A connection serves request after request.', async () => {
    const { sockets, wire } = await serve((socket) => socket.write(hello))
    for (let i = 0; i < 5; i++) expect(await (await ask(wire)).text()).toBe('hello')
    expect(sockets).toHaveLength(1)
  })

  test('that opens after its call was given up is closed', async () => {
    const { sockets, wire } = await serve((socket) => socket.write(hello))
    const stop = new AbortController()
    const { signal } = stop
    const asked = wire.ask({
      account: 'a',
      headers: {},
      body: '"end"',
      signal,
      limits: defaultHttpLimits,
    })
    stop.abort()
    expect(await failureOf(asked)).toBe('aborted')
    await until('it was seen and closed', () => sockets.every((socket) => socket.destroyed))
    expect(await (await ask(wire)).text()).toBe('hello')
    await until('the first one closed', () => sockets.filter((one) => !one.destroyed).length === 1)
  })

  test('A client that gave up before reading gets no part of a whole answer.', async () => {
    const { wire } = await serve((socket) => socket.write(hello))
    const stop = new AbortController()
    const { signal } = stop
    const answer = await wire.ask({
      account: 'a',
      headers: {},
      body: '"end"',
      signal,
      limits: defaultHttpLimits,
    })
    stop.abort()
    expect(await failureOf(answer.text())).toBe('aborted')
  })

  test('an answer that began in time may take longer than its beginning may', async () => {
    const { wire } = await serve((socket) => {
      socket.write(`${headOf('Content-Length: 5')}\r\n\r\nhe`)
      setTimeout(() => socket.write('llo'), 2500)
    })
    expect(await (await ask(wire, { firstByteMs: 2000 })).text()).toBe('hello')
  })

  test('whose answer has no body by its status serves no other request', async () => {
    const { sockets, wire } = await serve((socket) =>
      socket.write(`HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n`),
    )
    for (let i = 0; i < 2; i++) expect(await (await ask(wire)).text()).toBe('')
    expect(sockets).toHaveLength(2)
  })

  test('that is new and closed without an answer is not tried again', async () => {
    const { sockets, wire } = await serve((socket) => socket.destroy())
    expect(await failureOf(ask(wire))).toBe('unreachable')
    expect(sockets).toHaveLength(1)
  })

  test.each([
    ['says that it ends', `${headOf('Content-Length: 5', 'Connection: close')}\r\n\r\nhello`],
    ['brings more than its answer', `${hello}HTTP/1.1 200 OK`],
  ])('that %s serves no other request', async (_, text) => {
    const { sockets, wire } = await serve((socket) => socket.write(text))
    for (let i = 0; i < 2; i++) expect(await (await ask(wire)).text()).toBe('hello')
    expect(sockets).toHaveLength(2)
  })

  test('a body without a length ends with it', async () => {
    const { wire } = await serve((socket) => socket.end(`${headOf()}\r\n\r\nhello`))
    expect(await (await ask(wire)).text()).toBe('hello')
  })

  test('an answer that was told to wait for is waited for', async () => {
    const { wire } = await serve((socket) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${hello}`))
    expect(await (await ask(wire)).text()).toBe('hello')
  })

  test('a body that came packed is unpacked, and counted as what it holds', async () => {
    const packed = gzipSync('x'.repeat(1_000_000))
    const head = headOf('Content-Encoding: gzip', `Content-Length: ${packed.length}`)
    const { wire } = await serve((socket) =>
      socket.write(Buffer.concat([Buffer.from(`${head}\r\n\r\n`), packed])),
    )
    expect(await (await ask(wire)).text()).toHaveLength(1_000_000)
    const answer = await ask(wire, { streamBytes: 500_000 })
    expect(await failureOf(answer.flow(() => true))).toBe('too_large')
  })

  test('of a packed body that was given up no one says that its server cut it', async () => {
    const packed = gzipSync('x'.repeat(100_000))
    const head = headOf('Content-Encoding: gzip', `Content-Length: ${packed.length}`)
    const { wire } = await serve((socket) => socket.write(`${head}\r\n\r\n`))
    const answer = await ask(wire, { totalMs: 100 })
    await Bun.sleep(200)
    expect(await failureOf(answer.read())).toBe('too_long')
  })

  test('a request of megabytes arrives whole', async () => {
    const { wire } = await serve((socket) => socket.write(hello))
    const body = `"${'x'.repeat(8_000_000)}"end"`
    expect(await (await ask(wire, {}, body)).text()).toBe('hello')
  })

  test('the one who sends waits for the one who reads, and all arrives', async () => {
    const size = 64 * 1024 * 1024
    let written = 0
    const { wire } = await serve((socket) => {
      socket.write(`${headOf(`Content-Length: ${size}`)}\r\n\r\n`)
      const fill = () => {
        while (written < size) {
          written += 65_536
          if (!socket.write(Buffer.alloc(65_536))) return void socket.once('drain', fill)
        }
      }
      fill()
    })
    const answer = await ask(wire, { streamBytes: size })
    const { promise: mayGo, resolve: go } = Promise.withResolvers<boolean>()
    let received = 0
    const flowing = answer.flow((bytes) => {
      received += bytes.length
      return received === bytes.length ? mayGo : true
    })
    await Bun.sleep(300)
    expect(written).toBeLessThan(size)
    go(true)
    await flowing
    expect(received).toBe(size)
  })

  test('a server that falls silent while someone waits is given up, a slow reader is not', async () => {
    const { wire } = await serve((socket) => socket.write(`${headOf()}\r\n\r\nhello`))
    const answer = await ask(wire, { idleMs: 100 })
    const slow = answer.flow(() => Bun.sleep(300).then(() => true))
    const begun = Bun.nanoseconds()
    expect(await failureOf(slow)).toBe('timeout')
    expect((Bun.nanoseconds() - begun) / 1e6).toBeGreaterThan(390)
  })

  test('what takes may leave, and what it throws is thrown', async () => {
    const { sockets, wire } = await serve((socket) => socket.write(`${headOf()}\r\n\r\nhello`))
    const left = await ask(wire)
    await left.flow(() => false)
    left.stop()
    const fault = new Error('a fault')
    const broken = await ask(wire)
    const thrown = broken.flow(() => {
      throw fault
    })
    expect(await rejectionOf(thrown)).toBe(fault)
    broken.stop()
    await until('the connections closed', () => sockets.every((socket) => socket.destroyed))
  })
})
