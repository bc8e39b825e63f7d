import { afterAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { fault, promise } from '../../support/promise.ts'
import { goodKey, startService } from './service.ts'

const { origin, port, stop } = startService()
afterAll(stop)

/** How far a slow client gets with its request before it says nothing more. */
const beginnings = [
  'P',
  `POST /v1/runs HTTP/1.1\r\nHost: localhost:${port}\r\nX-Slow: `,
  `POST /v1/runs HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: ${goodKey}\r\n` +
    'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
]

describe('clients that stop in the middle of a request', () => {
  promise`J7 H: Clients that send their head or body slowly do not keep others out. Missing: a bound
    on connections of one address before they send the head of a request: Bun does not tell of them,
    so that is for a proxy or a firewall, as install.md says.`
  fault`33: clients send their head or body slowly, or stop in it → they are given up after a time
    and keep no other client out`
  test('600 slow clients keep no other client out.', async () => {
    const open = Array.from({ length: 600 }, (_, i) => begin(beginnings[i % 3] ?? ''))
    const sockets = await Promise.all(open)
    const json = { authorization: goodKey, 'content-type': 'application/json' }
    const asked = Array.from({ length: 50 }, async (_, i) => {
      const answer = i % 2 ? fetch(`${origin}/v1/status`) : send('{"a":1}', json)
      return (await answer).status
    })
    expect(new Set(await Promise.all(asked))).toEqual(new Set([200]))
    for (const socket of sockets) socket.destroy()
    expect((await send('{"a":1}', json)).status).toBe(200)
  }, 30_000)
})

const send = (body: string, headers: Record<string, string>) =>
  fetch(`${origin}/v1/runs`, { method: 'POST', headers, body })

const begin = (text: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port }, () => {
      socket.write(text, () => resolve(socket))
    })
    socket.on('error', reject)
  })
