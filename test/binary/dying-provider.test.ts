import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fund, makeHome, noBinary } from '../support/binary.ts'
import { until } from '../support/runs.ts'

setDefaultTimeout(120_000)

type Finding = { part: string; status: string; message: string; fix: string | null }

describe.skipIf(noBinary)('doctor beside a running server', () => {
  test('says which provider is not paid, though its list of models is free', async () => {
    const provider = createServer((request, response) => {
      request.resume()
      const isList = request.url === '/v1/models'
      response.writeHead(isList ? 200 : 402, { 'content-type': 'application/json' })
      response.end(isList ? '{"data":[{"id":"any"}]}' : '{"error":{"message":"no credit"}}')
    })
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
    const { port } = provider.address() as AddressInfo
    const home = await makeHome(`[[upstreams]]
id = "far"
base_url = "http://127.0.0.1:${port}/v1"
[[models]]
id = "far/any"
kind = "chat"
route = ["far:any"]
context_tokens = 1000
max_output_tokens = 100
input = "$0.15/M"
output = "$0.60/M"
`)
    try {
      const server = await home.start()
      const secret = await fund(home, '1.00')
      const json = { model: 'far/any', messages: [{ role: 'user', content: 'hi' }] }
      const refused = await server.call('/v1/chat/completions', { key: secret, json })
      expect(refused.status).toBe(502)
      const found = await until('the finding', async () => {
        const { stdout } = await home.cli('doctor', '--json')
        const { findings } = JSON.parse(stdout) as { findings: Finding[] }
        return findings.find(({ part }) => part === 'upstreams')
      })
      expect(found).toMatchObject({
        status: 'fail',
        message: expect.stringContaining('402'),
        fix: expect.stringContaining('pay our account'),
      })
    } finally {
      await home.remove()
      provider.close()
    }
  })
})
