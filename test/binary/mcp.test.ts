import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { clients } from '../front/mcp/clients.ts'
import { fund, type Home, makeHome, noBinary, type Server } from '../support/binary.ts'

describe.skipIf(noBinary)('MCP clients against the executable', () => {
  let home: Home
  let server: Server
  let secret: string
  beforeAll(async () => {
    home = await makeHome()
    secret = await fund(home, '1.00')
    server = await home.start()
  }, 60_000)
  afterAll(() => home?.remove())

  test.each(Object.entries(clients))('%s runs, reads and verifies', async (_, connect) => {
    const client = await connect(server.origin, secret)
    try {
      expect((await client.tools()).map(({ name }) => name)).toContain('run')
      const ran = await client.call('run', { model: 'counterfoil/echo-1', input: 'from a tool' })
      expect(ran.body).toMatchObject({ status: 'succeeded', kind: 'chat' })
      const id = ran.body['receipt_id']
      const { visibility: _visibility, ...receipt } = (await client.call('get_receipt', { id }))
        .body
      const verdict = await client.call('verify_receipt', { receipt })
      expect(verdict.body).toMatchObject({ valid: true, receipt_id: id })
      expect((await client.call('get_proof', { id })).body).toMatchObject({ receipt_id: id })
      expect((await client.call('key_self')).body).toMatchObject({ object: 'key' })
      expect((await client.call('usage')).body).toMatchObject({ object: 'usage' })
    } finally {
      await client.close()
    }
    const stranger = await connect(server.origin)
    try {
      expect((await stranger.call('list_models')).isError).toBe(false)
      expect((await stranger.call('key_self')).body).toMatchObject({
        error: { type: 'invalid_key' },
      })
    } finally {
      await stranger.close()
    }
  })

  test('the reference is inside of it', async () => {
    const document = await server.get('/openapi.json')
    expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: server.origin }] })
  })
})
