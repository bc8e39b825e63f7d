import { afterEach, describe, expect, test } from 'bun:test'
import { defaultHttpLimits, type Wire } from '../../../src/models/upstream/http.ts'
import { UpstreamFailure } from '../../../src/models/upstream/upstream.ts'
import { openDirect, openFetched } from '../../../src/models/upstream/wire/wire.ts'
import { promise } from '../../support/promise.ts'
import {
  type RawAnswer,
  type RawUpstream,
  rawAnswer,
  startRawUpstream,
} from '../../support/raw-upstream.ts'
import { until } from '../../support/runs.ts'

const started: RawUpstream[] = []
afterEach(async () => {
  for (const upstream of started.splice(0)) await upstream.stop()
})

async function serve(answer: RawAnswer, sharesConnections = false) {
  const upstream = await startRawUpstream(answer)
  started.push(upstream)
  return { upstream, wire: openDirect(upstream.url, { sharesConnections }) }
}

const ask = async (wire: Wire, account = 'a', body = '"hi"'): Promise<string> => {
  const { signal } = new AbortController()
  const answer = await wire.ask({ account, headers: {}, body, signal, limits: defaultHttpLimits })
  return await answer.text()
}
const reasonOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    (text) => `answered: ${text}`,
    (error: unknown) => (error instanceof UpstreamFailure ? error.reason : `${error}`),
  )
const echo: RawAnswer = (socket, _, body) => void socket.write(rawAnswer(body))

describe('a kept connection', () => {
  promise`E11`
  test('serves requests of one account only', async () => {
    const { upstream, wire } = await serve(echo)
    for (const account of ['a', 'b', 'a', 'b', 'c']) {
      expect(await ask(wire, account, `"${account}"`)).toBe(`"${account}"`)
    }
    expect(upstream.sockets).toHaveLength(3)
  })

  promise`E11`
  test('that received a second answer while idle is closed, even if no one polled it since', async () => {
    const { upstream, wire } = await serve(echo)
    expect(await ask(wire, 'a', '"first"')).toBe('"first"')
    // On loopback the bytes are in the client's buffer when this returns.
    upstream.sockets[0]?.write(rawAnswer('"first"'))
    expect(await ask(wire, 'a', '"second"')).toBe('"second"')
    expect(upstream.sockets).toHaveLength(2)
    await until('it to be closed', () => upstream.sockets[0]?.destroyed)
  })

  test('that receives bytes while idle is closed at once', async () => {
    const { upstream, wire } = await serve(echo)
    await ask(wire)
    upstream.sockets[0]?.write('H')
    await until('it to be closed', () => upstream.sockets[0]?.destroyed)
  })

  test.each([
    ['in the same segment', 0, false],
    ['a moment later', 5, false],
    ['in the same segment, to all accounts', 0, true],
    ['a moment later, to all accounts', 5, true],
  ])(
    'that brings an answer twice, %s, answers no later request with it',
    async (_, ms, isShared) => {
      const { wire } = await serve((socket, _, body) => {
        if (ms === 0) return void socket.write(rawAnswer(body) + rawAnswer(body))
        socket.write(rawAnswer(body))
        setTimeout(() => socket.write(rawAnswer(body)), ms)
      }, isShared)
      for (let i = 0; i < 10; i++) {
        expect(await ask(wire, isShared ? `${i % 3}` : 'a', `"${i}"`)).toBe(`"${i}"`)
        await Bun.sleep(2 * ms)
      }
    },
  )

  test('serves all accounts in turn where the operator trusts the server', async () => {
    const { upstream, wire } = await serve(echo, true)
    for (let i = 0; i < 300; i++) expect(await ask(wire, `${i}`, `"${i}"`)).toBe(`"${i}"`)
    expect(upstream.sockets).toHaveLength(1)
    // More at once than one account may keep, and all of them are kept.
    const crowd = () => Promise.all(Array.from({ length: 100 }, (_, i) => ask(wire, `${i}`)))
    await crowd()
    await crowd()
    expect(upstream.sockets).toHaveLength(100)
  })

  promise`E12`
  test('that its server closed before the next request was written is replaced', async () => {
    const { upstream, wire } = await serve(echo)
    await ask(wire)
    upstream.sockets[0]?.destroy()
    expect(await ask(wire, 'a', '"again"')).toBe('"again"')
    expect([upstream.sockets.length, upstream.heard()]).toEqual([2, 2])
  })

  promise`E12`
  test('that is closed after it heard a request fails it, and sends it to no other', async () => {
    const { upstream, wire } = await serve((socket, turn, body) => {
      if (turn > 0) socket.destroy()
      else socket.write(rawAnswer(body))
    })
    await ask(wire)
    expect(await reasonOf(ask(wire))).toBe('unreachable')
    expect([upstream.sockets.length, upstream.heard()]).toEqual([1, 2])
  })

  test('is not reused after it was idle for four seconds, and is closed soon', async () => {
    const { upstream, wire } = await serve(echo)
    await ask(wire)
    await Bun.sleep(4100)
    await ask(wire)
    expect(upstream.sockets).toHaveLength(2)
    await until('both to be closed', () => upstream.sockets.every((one) => one.destroyed), 12_000)
  }, 20_000)

  test.each([
    ['timeout=2, max=100', 1100, 2],
    ['max=100, timeout=30', 4100, 1],
    ['timeout=1', 0, 2],
    ['timeout=0', 0, 2],
  ])(
    'of a server that says Keep-Alive: %s is reused until a second before',
    async (said, ms, sockets) => {
      const { upstream, wire } = await serve((socket, _, body) => {
        socket.write(rawAnswer(body, `keep-alive: ${said}`))
      })
      await ask(wire)
      await Bun.sleep(ms)
      await ask(wire)
      expect(upstream.sockets).toHaveLength(sockets)
    },
    20_000,
  )

  test('is one of at most 64 that an account leaves idle', async () => {
    const { upstream, wire } = await serve((socket, _, body) => {
      setTimeout(() => socket.write(rawAnswer(body)), 50)
    })
    await Promise.all(Array.from({ length: 80 }, () => ask(wire)))
    const open = () => upstream.sockets.filter((socket) => !socket.destroyed).length
    await until('the surplus to be closed', () => open() <= 64)
    expect([upstream.sockets.length, open()]).toEqual([80, 64])
  })
})

promise`E11`
test('by fetch each request has a connection of its own', async () => {
  const { upstream } = await serve((socket, turn, body) => {
    // A pool would hand this to the second request of a connection.
    if (turn > 0) socket.write(rawAnswer('"of another"'))
    socket.write(rawAnswer(body))
  })
  const wire = openFetched(upstream.url)
  for (const account of ['a', 'b', 'a']) {
    expect(await ask(wire, account, `"${account}"`)).toBe(`"${account}"`)
  }
  expect(upstream.sockets).toHaveLength(3)
})

test('a text that needs more bytes than characters arrives whole, in one part or many', async () => {
  const { upstream, wire } = await serve(echo)
  const bodies = ['é', '日本', '🦊 é', 'é日🦊'.repeat(900_000)].map((text) => `"${text}"`)
  for (const body of bodies) {
    // It tells each byte that it heard as a character.
    const heard = Buffer.from(await ask(wire, 'a', body), 'latin1').toString()
    expect(heard === body).toBe(true)
  }
  expect(upstream.sockets).toHaveLength(1)
})
