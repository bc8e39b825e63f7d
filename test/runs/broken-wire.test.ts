import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { fault } from '../support/promise.ts'
import {
  chunkOf,
  eventsOf,
  expectSettled,
  frameOf,
  lastRun,
  modelToml,
  upstreamToml,
} from '../support/runs.ts'
import { usd, type World, world } from '../support/world.ts'

/** What is written to the socket, by the name of the model, after the request came. */
const wires: Record<string, (socket: Socket) => void> = {
  /** The second word ends after the first of the three bytes of its last character. */
  character(socket) {
    const torn = Buffer.from(`data: {"choices":[{"index":0,"delta":{"content":"漢`).subarray(0, -2)
    begin(socket, said('first'))
    setTimeout(() => socket.end(chunked(torn)), 20)
  },
  /** Less than the chunk was to hold. */
  chunk(socket) {
    begin(socket, said('first'))
    setTimeout(() => socket.end(`fff\r\n${said('second')}`), 20)
  },
  twice(socket) {
    const usage = (n: number) =>
      frameOf({ choices: [], usage: { prompt_tokens: n, completion_tokens: n } })
    begin(socket, `${said('first')}${chunkOf({}, 'stop')}${usage(2)}${usage(2 ** 40)}`)
    setTimeout(() => socket.end(`${chunked('data: [DONE]\n\n')}0\r\n\r\n`), 20)
  },
  fields: (socket) => pour(socket, (i) => `x-${i}: y\r\n`),
  field: (socket) => pour(socket, (i) => (i === 0 ? 'x-endless: ' : 'y'.repeat(16_384))),
}

let upstream: Server
let poured = 0
let w: World
let secret: string

beforeAll(async () => {
  upstream = createServer((socket) => {
    socket.on('error', () => {})
    let request = ''
    socket.on('data', (bytes) => {
      request += bytes
      const model = /"model":"(\w+)"/.exec(request)?.[1] ?? ''
      if (!request.endsWith('}') || !wires[model]) return
      request = ''
      wires[model](socket)
    })
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const address = upstream.address()
  const port = typeof address === 'object' ? address?.port : 0
  const nowhere = `http://${'x'.repeat(64)}.invalid/v1`
  const toml = [
    upstreamToml('wire', `http://127.0.0.1:${port}/v1`, 'timeout_first_byte_ms = 20_000'),
    upstreamToml('nowhere', nowhere),
    ...Object.keys(wires).map((name) => modelToml(`wire/${name}`, `"wire:${name}"`)),
    modelToml('nowhere/any', '"nowhere:any"'),
  ].join('')
  w = await world({ toml })
  secret = (await w.key({ balance: 10n * usd })).secret
})
afterAll(async () => {
  await expectSettled(w)
  await w.stop()
  upstream.close()
})

const chat = (model: string, stream = true) => {
  const messages = [{ role: 'user', content: 'hello' }]
  return w.call('/v1/chat/completions', { key: secret, json: { model, messages, stream } })
}

fault`26: an upstream stops inside of a chunk or of a character → an error in band, and whole JSON
  before it`
describe('a stream that is cut', () => {
  test.each(['character', 'chunk'])(
    'inside of a %s: what is told is whole JSON, an error is last, what came is charged',
    async (name) => {
      const answer = await chat(`wire/${name}`)
      const events = eventsOf(await answer.text()).map((event) => JSON.parse(event))
      const words = events.flatMap(({ choices }) => choices?.[0]?.delta?.content ?? [])
      expect(words.join('')).toStartWith('first')
      expect(words.join('')).not.toContain('\ufffd')
      expect(events.at(-1).error.type).toBe('upstream_error')
      const run = await lastRun(w)
      expect([run.outcome, run.cost > 0n, run.cost <= run.hold]).toEqual(['partial', true, true])
    },
  )
})

fault`27`
test('usage that is told twice is charged once, at most the hold', async () => {
  const text = await (await chat('wire/twice')).text()
  expect(text).toContain('[DONE]')
  const run = await lastRun(w)
  expect([run.outcome, run.cost <= run.hold]).toEqual(['complete', true])
  expect(text).toContain(`"cost_nusd":${run.cost}`)
})

fault`28`
describe('a head that does not end', () => {
  test.each(['fields', 'field'])('of %s is given up soon: a 502 at no charge', async (name) => {
    poured = 0
    for (const stream of [false, true]) {
      const answer = await chat(`wire/${name}`, stream)
      expect([answer.status, (await answer.json()).error.type]).toEqual([502, 'upstream_error'])
      expect((await lastRun(w)).cost).toBe(0n)
    }
    expect(poured).toBeLessThan(64 * 1024 * 1024)
  })
})

fault`24`
test('a name that no one knows is a 502 at no charge', async () => {
  for (const stream of [false, true]) {
    const answer = await chat('nowhere/any', stream)
    expect([answer.status, (await answer.json()).error.type]).toEqual([502, 'upstream_error'])
    expect((await lastRun(w)).cost).toBe(0n)
  }
})

const said = (content: string): string => chunkOf({ content })

const chunked = (text: string | Buffer): Buffer => {
  const bytes = Buffer.from(text)
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from('\r\n'),
  ])
}

function begin(socket: Socket, text: string): void {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked'
  socket.write(`${head}\r\n\r\n`)
  socket.write(chunked(text))
}

/** Writes as much as is taken, until no one is there any more. */
function pour(socket: Socket, part: (index: number) => string): void {
  socket.write('HTTP/1.1 200 OK\r\n')
  let index = 0
  const more = () => {
    for (let i = 0; i < 64; i++) {
      if (socket.destroyed) return
      const text = part(index++)
      poured += text.length
      if (!socket.write(text)) return void socket.once('drain', more)
    }
    setImmediate(more)
  }
  more()
}
