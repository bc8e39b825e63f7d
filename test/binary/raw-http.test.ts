import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  exchange,
  notServed,
  oddRequests,
  type Served,
  statusesIn,
  trySockets,
} from '../fuzz/sockets.ts'
import { binary, fund, type Home, makeHome, noBinary, type Server } from '../support/binary.ts'

describe.skipIf(noBinary)(`bytes that are not request, at ${binary.split('/').at(-1)}`, () => {
  let home: Home
  let server: Server
  let served: Served
  beforeAll(async () => {
    home = await makeHome()
    const secret = await fund(home, '5.00')
    server = await home.start()
    let isAlive = true
    void server.exited.then(() => {
      isAlive = false
    })
    served = { port: server.port, secret, isAlive: () => isAlive }
  }, 60_000)
  afterAll(() => home?.remove())

  // The list is made with any port; the bytes with the server's own.
  const named = oddRequests({ port: 1, secret: '', isAlive: () => true })
  test.each(named.map(([what], at) => [what, at] as const))(
    '%s: what could be a second request is none, and the next one is answered',
    async (_, at) => {
      const request = oddRequests(served)[at]?.[1] ?? ''
      const said = await exchange(served.port, [Buffer.from(request, 'latin1')], 250)
      const statuses = statusesIn(said)
      // What was read may be answered before what follows breaks off: that closes the connection.
      expect(statuses.slice(1).filter((status) => status !== 400)).toEqual([])
      expect(statuses.filter((status) => status >= 500 && status !== 505)).toEqual([])
      // The request inside of another asks for this list.
      expect(said).not.toContain('counterfoil/echo-1')
      expect(await notServed(served)).toBeUndefined()
    },
  )

  test('spoilt in every place and cut in pieces: the server lives and answers', async () => {
    const { faults } = await trySockets(served, 4663, { inputs: 400 })
    expect(faults).toEqual([])
  }, 60_000)

  test('afterwards nothing is held and the ledger is balanced', async () => {
    const status = await server.get('/v1/status')
    expect(status.ledger).toBe('balanced')
    const balance = await server.get('/v1/balance', served.secret)
    expect(balance.held_nusd).toBe(0)
  })
})
