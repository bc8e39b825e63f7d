import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { fault, promise } from '../support/promise.ts'
import { chunkOf, expectSettled, lastRun, modelsToml, until } from '../support/runs.ts'
import { type StubHandler, startStubUpstream } from '../support/stub-upstream.ts'
import { engines, usd, world } from '../support/world.ts'

/** Bytes of the stream that has no reader. */
let flooded = 0

/** Writes as fast as it is read, for ever. */
const flood: StubHandler = async (_, response) => {
  const chunk = chunkOf({ content: 'x'.repeat(60_000) })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const closed = new Promise((resolve) => response.once('close', resolve))
  while (!response.destroyed) {
    const drained = new Promise((resolve) => response.once('drain', resolve))
    if (!response.write(chunk)) await Promise.race([drained, closed])
    flooded += chunk.length
  }
}

promise`D14`
fault`32`
test.each(engines)(
  'a reader that takes nothing does not keep a cancelled run from its end, on %s',
  async (engine) => {
    flooded = 0
    const stub = await startStubUpstream({ handler: flood })
    const w = await world({ engine, toml: modelsToml(stub.url, ['any']) })
    const { secret } = await w.key({ balance: 10n * usd })
    const body = JSON.stringify({
      model: 'stub/any',
      messages: [{ role: 'user', content: 'hello' }],
      stream: true,
    })
    const head = [
      'POST /v1/chat/completions HTTP/1.1',
      `host: ${new URL(w.origin).host}`,
      `authorization: Bearer ${secret}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
    ]
    const socket = connect({ port: Number(new URL(w.origin).port), host: '127.0.0.1' })
    socket.pause()
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
    let before = -1
    await until('the stream to be stuck', async () => {
      const isStuck = flooded > 0 && flooded === before
      before = flooded
      await Bun.sleep(50)
      return isStuck
    })
    const { id, status } = await lastRun(w)
    expect(status).toBe('running')
    const since = performance.now()
    await w.call(`/v1/runs/${id}/cancel`, { key: secret, method: 'POST' })
    expect((await lastRun(w)).status).toBe('cancelled')
    expect(performance.now() - since).toBeLessThan(1900)
    socket.destroy()
    await expectSettled(w)
    await w.stop()
    await stub.stop()
  },
  30_000,
)
