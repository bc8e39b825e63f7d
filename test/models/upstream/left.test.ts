import { afterAll, beforeAll, expect, test } from 'bun:test'
import { StopSwitch } from '../../../src/kernel/stop.ts'
import { modelServer } from '../../../src/models/upstream/model-server.ts'
import { plainChunks, takeEach, UpstreamFailure } from '../../../src/models/upstream/upstream.ts'
import { chunkOf, frameOf, until } from '../../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'

const usage = { prompt_tokens: 3, completion_tokens: 9 }
let stub: StubUpstream
let isWritten = false
const sent = Promise.withResolvers<void>()

beforeAll(async () => {
  stub = await startStubUpstream({
    handler: async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(chunkOf({ content: 'one' }))
      await sent.promise
      response.write(chunkOf({ content: 'two' }) + frameOf({ choices: [], usage }))
      isWritten = true
    },
  })
})
afterAll(() => stub.stop())

test('What had come when a stream was stopped is passed on, with its usage.', async () => {
  const upstream = modelServer({ id: 'stub', baseUrl: stub.url })
  const signal = new StopSwitch()
  const mark = { isSent: false }
  const body = { model: 'any' }
  const chunks = await upstream.stream({ kind: 'chat', account: 'a', body, signal, mark })
  expect(mark.isSent).toBe(true)
  const taken: string[] = []
  const reading = takeEach(chunks, (batch) => {
    taken.push(JSON.stringify(plainChunks(batch)))
    if (signal.aborted) return false
    // A client that takes nothing more until the run is stopped; what comes meanwhile waits.
    return new Promise<boolean>((resolve) => {
      signal.addEventListener('abort', () => resolve(true))
    })
  })
  const ended = reading.then(
    () => undefined,
    (error: unknown) => error,
  )
  sent.resolve()
  await until('the rest to be written', () => isWritten)
  await Bun.sleep(50)
  signal.stop()
  const error = await ended
  expect(error instanceof UpstreamFailure && error.reason).toBe('aborted')
  expect(taken).toHaveLength(2)
  expect(taken[1]).toContain(JSON.stringify(usage))
  await until('the upstream to be stopped', () => stub.counts.active === 0)
})

test('A request that was stopped before its connection is not marked as sent.', async () => {
  const upstream = modelServer({ id: 'stub', baseUrl: 'http://127.0.0.1:9/v1' })
  const signal = new StopSwitch()
  const mark = { isSent: false }
  const asked = upstream.complete({ kind: 'chat', account: 'a', body: {}, signal, mark })
  signal.stop()
  const error = await asked.then(
    () => undefined,
    (failure: unknown) => failure,
  )
  expect(error).toBeInstanceOf(UpstreamFailure)
  expect(mark.isSent).toBe(false)
})
