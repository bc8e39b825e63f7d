import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import {
  expectRefusal,
  fund,
  type Home,
  makeHome,
  noBinary,
  type Server,
} from '../support/binary.ts'
import { fault, promise } from '../support/promise.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'

const stalled = 600

describe.skipIf(noBinary)('upstreams that stall, on the binary', () => {
  let stub: StubUpstream
  let home: Home
  let server: Server
  let key = ''

  const start = async (limits: string) => {
    home = await makeHome(`${limits}\n${modelsAt(stub.url)}`)
    key = await fund(home, '100.00')
    server = await home.start()
  }
  beforeAll(async () => {
    stub = await startStubUpstream()
  })
  afterAll(async () => {
    await stub?.stop()
  })

  promise`D22`
  test('the process started itself again with room for every run that may be admitted', async () => {
    await start('')
    try {
      const environ = readFileSync(`/proc/${server.pid}/environ`, 'latin1').split('\0')
      expect(environ).toContain('BUN_CONFIG_MAX_HTTP_REQUESTS=65535')
      expect(readFileSync(`/proc/${server.pid}/cmdline`, 'latin1').split('\0')[1]).toBe('serve')
    } finally {
      await home.remove()
    }
  })

  fault`30`
  test(`${stalled} stalled streams do not starve a run to another model`, async () => {
    await start('')
    const streams = hangingRequests(server, key)
    try {
      // Half never answers, half says a word and stalls: both keep their upstream connection.
      for (let i = 0; i < stalled; i++) streams.open(i % 2 === 0 ? 'stub/stall' : 'stub/stall-1')
      await until(() => stub.counts.active === stalled)
      const asked = performance.now()
      const answer = await server.call('/v1/chat/completions', { key, json: chat('stub/normal') })
      const tookMs = performance.now() - asked
      expect(answer.status).toBe(200)
      expect(((await answer.json()) as Completion).choices[0]?.message.content).toContain('quick')
      // Far below any timeout that would have freed a place.
      expect(tookMs).toBeLessThan(5000)
      expect(streams.statuses.filter((status) => status !== 200)).toEqual([])
    } finally {
      streams.close()
      await until(() => stub.counts.active === 0)
      await home.remove()
    }
  }, 30_000)

  promise`D22 C: Beyond what a server takes at once, a run is refused at once.`
  fault`30: more streams stall than are admitted → further runs are 503 at once; other
    requests go on [share]`
  test('above admission a run is refused at once with 503; an ended one makes room', async () => {
    await start('[limits]\nadmission = 5')
    const streams = hangingRequests(server, key)
    try {
      for (let i = 0; i < 5; i++) streams.open('stub/stall-1')
      await until(() => stub.counts.active === 5 && streams.statuses.length === 5)
      for (const stream of [false, true]) {
        const json = { ...chat('counterfoil/echo-1'), stream }
        const answer = await server.call('/v1/chat/completions', { key, json })
        expect(answer.headers.get('retry-after')).toBe('1')
        await expectRefusal(answer, 503, 'unavailable')
      }
      const held = await balanceOf(server, key)
      expect(held.held_nusd).toBeGreaterThan(0)
      streams.close()
      await until(async () => (await balanceOf(server, key)).held_nusd === 0)
      const json = chat('counterfoil/echo-1')
      const answer = await server.call('/v1/chat/completions', { key, json })
      expect(answer.status).toBe(200)
      await answer.body?.cancel()
    } finally {
      streams.close()
      await home.remove()
    }
  }, 30_000)
})

type Completion = { choices: { message: { content: string } }[] }

const chat = (model: string) => ({ model, messages: [{ role: 'user', content: 'hi' }] })

/** A stub upstream as a priced model for each of its behaviours. */
const modelsAt = (url: string) => {
  const models = ['stall', 'stall-1', 'normal'].map(
    (name) => `
[[models]]
id = "stub/${name}"
route = ["stub:${name}"]
kind = "chat"
context_tokens = 1000
max_output_tokens = 100
input_pusd = 150_000
output_pusd = 600_000`,
  )
  return [`[[upstreams]]\nid = "stub"\nbase_url = "${url}"`, ...models].join('\n')
}

const balanceOf = async (server: Server, key: string) =>
  (await server.get('/v1/balance', key)) as { held_nusd: number }

/** Streams left open, by a client without a limit of its own. */
function hangingRequests(server: Server, key: string) {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  const open = new Set<ReturnType<typeof request>>()
  const statuses: number[] = []
  return {
    statuses,
    open(model: string) {
      const sent = request({
        agent,
        port: server.port,
        host: '127.0.0.1',
        path: '/v1/chat/completions',
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      })
      sent.on('response', (answer) => {
        statuses.push(answer.statusCode ?? 0)
        answer.on('error', () => undefined)
        answer.resume()
      })
      sent.on('error', () => undefined)
      sent.end(JSON.stringify({ ...chat(model), stream: true }))
      open.add(sent)
    },
    close() {
      for (const sent of open) sent.destroy()
      open.clear()
      agent.destroy()
    },
  }
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 15_000
  while (!(await isTrue())) {
    if (performance.now() > end) throw new Error('did not come true in time')
    await Bun.sleep(10)
  }
}
