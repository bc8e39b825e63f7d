import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { ServerResponse } from 'node:http'
import { defaultHttpLimits, type Wire } from '../../../src/models/upstream/http.ts'
import { onEnd } from '../../../src/models/upstream/served.ts'
import { type Chunks, type JsonObject, takeEach } from '../../../src/models/upstream/upstream.ts'
import { openDirect } from '../../../src/models/upstream/wire/wire.ts'
import { until } from '../../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'

describe('a connection whose answer said all', () => {
  let stub: StubUpstream
  let wire: Wire
  const ports: (number | undefined)[] = []
  const after: Record<string, (response: ServerResponse) => void> = {
    ends: (response) => void setTimeout(() => response.end(), 20),
    hangs: () => {},
    'goes on': (response) => {
      const more = setInterval(() => response.write('data: {}\n\n'), 5)
      response.on('close', () => clearInterval(more))
    },
  }

  beforeEach(async () => {
    ports.length = 0
    const handler = ({ body }: { body: JsonObject }, response: ServerResponse) => {
      ports.push(response.socket?.remotePort)
      response.write('data: [DONE]\n\n')
      after[String(body['model'])]?.(response)
    }
    stub = await startStubUpstream({ handler })
    wire = openDirect(stub.url)
  })
  afterEach(() => stub.stop())

  async function ask(model: string) {
    const { signal } = new AbortController()
    const body = JSON.stringify({ model })
    const answer = await wire.ask({
      account: 'a',
      headers: {},
      body,
      signal,
      limits: defaultHttpLimits,
    })
    await answer.read()
    answer.end()
    await until('the end', () => stub.counts.active === 0)
  }

  test('serves the next request when its body ends', async () => {
    for (let i = 0; i < 6; i++) {
      await ask('ends')
      // The answer is over there before it is over here.
      await Bun.sleep(50)
    }
    // On a busy machine one of them may begin before the end of the one before was read.
    expect(ports).toHaveLength(6)
    expect(new Set(ports).size).toBeLessThan(4)
    expect(stub.counts.cut).toBe(0)
  })

  test.each(['hangs', 'goes on'])('is let go when it %s', async (model) => {
    await ask(model)
    expect(stub.counts.cut).toBe(1)
  })
})

describe('who listens for the end of a stream', () => {
  const fault = new Error('a fault')
  async function* batches(broken: boolean): AsyncGenerator<JsonObject[]> {
    yield [{ a: 1 }]
    yield [{ a: 2 }]
    if (broken) throw fault
  }
  const ends: [how: string, broken: boolean, take: number, told: object][] = [
    ['is whole', false, 9, { how: 'whole' }],
    ['breaks', true, 9, { how: 'failed', error: fault }],
    ['is left', false, 1, { how: 'left' }],
  ]

  test.each(ends)('hears once that it %s', async (_, broken, take, told) => {
    const iterate = async (chunks: Chunks) => {
      let count = 0
      for await (const _ of chunks) if (++count === take) break
    }
    const takeOn = (chunks: Chunks) => {
      let count = 0
      return takeEach(chunks, () => ++count !== take)
    }
    for (const read of [iterate, takeOn]) {
      const heard: unknown[] = []
      const chunks = onEnd(batches(broken), (end) => heard.push(end))
      const error = await read(chunks).catch((thrown: unknown) => thrown)
      expect(error).toBe(broken ? fault : undefined)
      expect(heard).toEqual([told])
      const more = chunks[Symbol.asyncIterator]()
      await more.return?.()
      expect(heard).toHaveLength(1)
    }
  })
})
