import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { systemClock } from '../../../src/kernel/clock.ts'
import { makeIds } from '../../../src/kernel/ids.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { type DownloadOptions, downloadResponse } from '../../../src/web/http/download.ts'
import type { Listen } from '../../../src/web/http/host.ts'
import { makeRoot } from '../../../src/web/http/root.ts'
import { serve } from '../../../src/web/http/serve.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { until } from '../../support/runs.ts'

const listen: Listen = { hostname: '127.0.0.1', port: 0 }
const bugs: unknown[] = []
const seen = { opened: 0, pieces: 0, ended: 0, finished: 0 }
const piece = `${'x'.repeat(99_999)}\n`

/** Files by name; each counts what it gives and that it ended. */
const files: Record<string, () => Generator<string>> = {
  empty: function* () {},
  short: function* () {
    yield 'é,1\r\n'
    yield 'b,2\r\n'
  },
  endless: function* () {
    for (;;) yield piece
  },
  broken: function* () {
    yield piece
    throw new Error('the disk is gone')
  },
}

async function* read(name: string): AsyncGenerator<string> {
  try {
    for (const text of files[name]?.() ?? []) {
      seen.pieces++
      yield text
      await new Promise((resume) => setImmediate(resume))
    }
  } finally {
    seen.finished++
  }
}

const app = makeRoot({
  baseUrl: 'https://gw.example',
  listen,
  ids: makeIds(systemClock, systemRandom()),
  log: { error: () => undefined },
}).get('/v1/file/:name', ({ request, set, server, params, headers }) => {
  const options: DownloadOptions = {
    onBug: (error) => bugs.push(error),
    ...JSON.parse(headers['x-options'] ?? '{}'),
  }
  const file = {
    fileName: 'a file.csv',
    contentType: 'text/csv; charset=utf-8',
    open(signal: AbortSignal) {
      seen.opened++
      signal.addEventListener('abort', () => seen.ended++)
      return read(params.name)
    },
  }
  return downloadResponse({ request, set, server }, file, options)
})
const server = serve(app, listen)
const get = (name: string, init: RequestInit = {}) =>
  fetch(`http://localhost:${server.port}/v1/file/${name}`, init)

beforeEach(() => {
  Object.assign(seen, { opened: 0, pieces: 0, ended: 0, finished: 0 })
  bugs.length = 0
})
afterAll(() => server.stop(true))

/** A client that asks and then reads nothing. */
const deafClient = (name: string, options: object) => {
  const socket = connect({ host: '127.0.0.1', port: server.port ?? 0 })
  socket.on('error', () => undefined).pause()
  const lines = ['GET', ` /v1/file/${name} HTTP/1.1\r\nHost: localhost:${server.port}\r\n`]
  socket.write(`${lines.join('')}X-Options: ${JSON.stringify(options)}\r\n\r\n`)
  return socket
}

/** Waits until nothing more is read for a while. */
async function untilStill(): Promise<number> {
  let before = -1
  await until(
    'the file to wait',
    async () => {
      before = seen.pieces
      await Bun.sleep(150)
      return seen.pieces === before && before > 0
    },
    10_000,
  )
  return before
}

describe('a download', () => {
  test('arrives whole, as a file with a name', async () => {
    const answer = await get('short')
    expect(await answer.text()).toBe('é,1\r\nb,2\r\n')
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="a file.csv"')
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(seen).toEqual({ opened: 1, pieces: 2, ended: 1, finished: 1 })
    expect(await (await get('empty')).text()).toBe('')
    expect(seen.ended).toBe(2)
  })

  test('is not opened for HEAD', async () => {
    const answer = await get('endless', { method: 'HEAD' })
    expect([answer.status, await answer.text(), seen.opened]).toEqual([200, '', 0])
  })

  test('is read no faster than its client reads', async () => {
    const socket = deafClient('endless', {})
    const still = await untilStill()
    // What the sockets of both ends and our own buffer hold.
    expect(still * piece.length).toBeLessThan(30e6)
    socket.resume()
    await until('more to be read', () => seen.pieces > still + 100)
    socket.destroy()
    await until('the end', () => seen.ended === 1 && seen.finished === 1)
  }, 20_000)

  test('ends when its client goes, read or unread', async () => {
    for (let round = 0; round < 10; round++) {
      const gone = new AbortController()
      const answer = await get('endless', { signal: gone.signal })
      if (round % 2 === 0) await answer.body?.getReader().read()
      gone.abort()
    }
    await until('the ends', () => seen.ended === 10 && seen.finished === 10)
    expect(bugs).toEqual([])
  })

  test('ends when its client takes nothing for the deadline', async () => {
    const socket = deafClient('endless', { writeDeadlineMs: 300 })
    await until('the end', () => seen.ended === 1 && seen.finished === 1)
    socket.destroy()
    expect(bugs).toEqual([])
  })

  test('that breaks does not look whole, and is told', async () => {
    expect(await outcomeOf(get('broken').then((answer) => answer.text()))).toThrow()
    expect(bugs).toEqual([new Error('the disk is gone')])
    expect(seen).toMatchObject({ ended: 1, finished: 1 })
  })
})
