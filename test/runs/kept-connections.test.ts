import { afterEach, describe, expect, test } from 'bun:test'
import { promise } from '../support/promise.ts'
import {
  completionOf,
  type RawAnswer,
  type RawUpstream,
  rawAnswer,
  startRawUpstream,
} from '../support/raw-upstream.ts'
import { allRuns, expectSettled, modelToml, until, upstreamToml } from '../support/runs.ts'
import { usd, type World, world } from '../support/world.ts'

const accounts = ['0x1111111111111111111111111111111111111111', `0x${'22'.repeat(20)}`] as const
let upstream: RawUpstream
let second: RawUpstream
let w: World
let keys: string[] = []

/** A service with the model `raw/one` at this upstream, and `raw/two` with another one behind it. */
async function serve(answer: RawAnswer): Promise<void> {
  upstream = await startRawUpstream(answer)
  second = await startRawUpstream((socket) => {
    socket.write(rawAnswer(completionOf('from the second')))
  })
  const toml = [
    upstreamToml('raw', upstream.url),
    upstreamToml('second', second.url),
    modelToml('raw/one', '"raw:one"'),
    modelToml('raw/two', '"raw:two", "second:two"'),
  ].join('')
  w = await world({ toml })
  keys = []
  for (const account of accounts) {
    keys.push((await w.key({ account, balance: 10n * usd })).secret)
  }
}

afterEach(async () => {
  await expectSettled(w)
  await w.stop()
  await upstream.stop()
  await second.stop()
})

const chat = async (owner: number, content: string, model = 'raw/one') => {
  const json = { model, messages: [{ role: 'user', content }], max_tokens: 10 }
  const answer = await w.call('/v1/chat/completions', { key: keys[owner] ?? '', json })
  return { status: answer.status, body: await answer.json() }
}
const textOf = ({ body }: { body: { choices?: { message: { content: string } }[] } }) =>
  body.choices?.[0]?.message.content

/** An upstream's answer repeats the last word of its request. */
const answerTo = (body: string): string =>
  rawAnswer(completionOf(JSON.parse(body).messages[0].content))

describe('an upstream that sends one answer twice on a kept connection', () => {
  promise`E11 C: A connection to an upstream carries requests of one account; bytes that answer no
    request close it.`
  test('when the next request comes: no other account’s run returns it', async () => {
    let last = ''
    await serve((socket, turn, body) => {
      if (turn > 0) socket.write(last)
      last = answerTo(body)
      socket.write(last)
    })
    expect(textOf(await chat(0, 'a secret of the first account'))).toStartWith('a secret')
    const found = await chat(1, 'hello')
    expect([found.status, textOf(found)]).toEqual([200, 'hello'])
    expect((await allRuns(w)).map(({ outcome }) => outcome)).toEqual(['complete', 'complete'])
  })

  promise`E11`
  test('while the next run waits: runs of two accounts in turn get their own answers', async () => {
    await serve((socket, _, body) => {
      const text = answerTo(body)
      setTimeout(() => socket.write(text), 20)
      setTimeout(() => socket.write(text), 30)
    })
    for (let i = 0; i < 20; i++) {
      expect(textOf(await chat(i % 2, `request ${i}`))).toBe(`request ${i}`)
    }
  })
})

describe('an upstream that hears a run on a kept connection and closes it', () => {
  const closing: RawAnswer = (socket, turn, body) => {
    if (turn > 0) socket.destroy()
    else socket.write(answerTo(body))
  }

  promise`E12 C: An upstream hears a run once: a request that was written is not sent again.`
  test('hears it once: the run is a 502 that costs nothing', async () => {
    await serve(closing)
    expect((await chat(0, 'first')).status).toBe(200)
    const found = await chat(0, 'second')
    expect([found.status, found.body.error.type]).toEqual([502, 'upstream_error'])
    expect(upstream.heard()).toBe(2)
    expect((await allRuns(w)).at(-1)?.cost).toBe(0n)
  })

  promise`E12`
  test('hears it once: the next upstream of the route is asked', async () => {
    await serve(closing)
    await chat(0, 'first', 'raw/two')
    expect(textOf(await chat(0, 'second', 'raw/two'))).toBe('from the second')
    expect([upstream.heard(), second.heard()]).toEqual([2, 1])
  })

  test('a connection that was closed before the run is not used for it', async () => {
    await serve((socket, _, body) => void socket.write(answerTo(body)))
    await chat(0, 'first')
    upstream.sockets[0]?.destroy()
    await until('the close', () => upstream.sockets[0]?.destroyed)
    expect(textOf(await chat(0, 'second'))).toBe('second')
    expect(upstream.heard()).toBe(2)
  })
})

promise`E13 C: An answer that two readers could part differently is an upstream error and closes its
  connection.`
test('an answer that readers disagree on is a 502 at no charge, and closes its connection', async () => {
  const body = completionOf('hello')
  const chunk = `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n`
  const coded = (coding: string, rest: string) =>
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: ${coding}\r\n\r\n${rest}\r\n`
  const answers = [
    coded('chunked\x0b', chunk),
    coded('\xa0chunked', chunk),
    coded('chunked\r\nTransfer-Encoding: chunked', chunk),
    coded('chunked', chunk.replace('\r', '\t\r')),
    coded('chunked', `${chunk}Content-Length: 5\r\n`),
  ]
  let next = 0
  await serve((socket) => void socket.write(answers[next++] ?? '', 'latin1'))
  for (const _ of answers) {
    const found = await chat(0, 'hello')
    expect([found.status, found.body.error.type]).toEqual([502, 'upstream_error'])
  }
  expect(upstream.sockets).toHaveLength(answers.length)
  await until('all to be closed', () => upstream.sockets.every((socket) => socket.destroyed))
  expect((await allRuns(w)).every(({ cost }) => cost === 0n)).toBe(true)
})
