import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Deps } from '../../../src/app/deps-port.ts'
import { createApp } from '../../../src/app/routes.ts'
import { makeDeps } from '../../../src/app/wiring.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { signerFromHex } from '../../../src/proof/signer/signer.ts'
import { endAbandoned } from '../../../src/runs/end-abandoned.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { serve } from '../../../src/web/http/serve.ts'
import { promise } from '../../support/promise.ts'
import { allRuns, expectSettled, modelsToml, until } from '../../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'
import { sharedEngines, testPrivateKey, usd, type World, world } from '../../support/world.ts'

// Two hundred at once take their time on a busy machine.
setDefaultTimeout(60_000)

describe.each(sharedEngines)('an Idempotency-Key on two nodes of one %s', (engine) => {
  let a: World
  let b: { deps: Deps; origin: string; stop(): Promise<void> }
  let stub: StubUpstream
  let secret: string
  beforeAll(async () => {
    stub = await startStubUpstream()
    const toml = modelsToml(stub.url, ['normal', 'slow'])
    a = await world({ engine, toml })
    b = await secondNode(a, toml)
    secret = (await a.key({ balance: 100n * usd })).secret
  }, 60_000)
  afterAll(async () => {
    await b.stop()
    await expectSettled(a)
    await a.stop()
    await stub.stop()
  })

  const post = async (origin: string, call: string, json: object, signal?: AbortSignal) =>
    fetch(`${origin}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        'idempotency-key': call,
      },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'x' }], ...json }),
      ...(signal ? { signal } : {}),
    })

  test.each([false, true])('one tells what the other ran, streamed: %p', async (stream) => {
    const ask = { model: 'stub/normal', stream }
    const first = await (await post(a.origin, `told ${stream}`, ask)).text()
    const second = await post(b.origin, `told ${stream}`, ask)
    expect(await second.text()).toBe(first)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
  })

  test('while one runs it, the other says 409', async () => {
    const ask = { model: 'stub/slow', stream: true }
    const hangUp = new AbortController()
    await post(a.origin, 'running', ask, hangUp.signal)
    expect((await post(b.origin, 'running', ask)).status).toBe(409)
    hangUp.abort()
    await until('the end', () => a.deps.live.count() === 0)
  })

  promise`D19`
  test('200 at once over both: one run, one charge', async () => {
    const known = new Set((await allRuns(a)).map(({ id }) => id))
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        post(i % 2 ? a.origin : b.origin, 'rush', { model: 'stub/normal' }),
      ),
    )
    const made = answers.filter(({ status, headers }) => {
      return status === 200 && !headers.has('idempotent-replayed')
    })
    expect(made).toHaveLength(1)
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
    expect((await allRuns(a)).filter(({ id }) => !known.has(id))).toHaveLength(1)
  })

  test('what a dead node ran is freed with its hold, and run again by another', async () => {
    const ask = { model: 'stub/slow', stream: true }
    const hangUp = new AbortController()
    await post(b.origin, 'dead', ask, hangUp.signal)
    const [run] = (await allRuns(a)).filter(({ finishedAt }) => finishedAt === null)
    // It has no lease: to everybody else it is gone.
    expect(await endAbandoned(a.deps)).toBe(1)
    const ended = await a.deps.runs.find(run?.id ?? '')
    expect([ended?.outcome, ended?.cost]).toEqual(['interrupted', 0n])
    const { idempotentCalls } = a.db.tables
    const left = await a.db.read((q) => rows(q.select().from(idempotentCalls)))
    expect(left.map(({ runId }) => runId)).not.toContain(run?.id ?? '')
    const again = new AbortController()
    const answer = await post(a.origin, 'dead', ask, again.signal)
    expect(answer.status).toBe(200)
    expect(answer.headers.has('idempotent-replayed')).toBe(false)
    again.abort()
    hangUp.abort()
    await until('the ends', () => a.deps.live.count() + b.deps.live.count() === 0)
  })
})

/** Another process of the service on the database of the first, as far as one process can. */
async function secondNode({ db }: World, toml: string) {
  const inputs = { flags: {}, env: {}, filePath: 'test.toml', readFile: () => undefined }
  const loaded = loadConfig({ ...inputs, fileText: toml })
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
  const note = () => {}
  const deps = await makeDeps({
    config: { ...loaded.config, listen: { hostname: '127.0.0.1', port: 0 } },
    db,
    signer: signerFromHex(testPrivateKey),
    log: { debug: note, info: note, warn: note, error: note },
  })
  const server = serve(createApp(deps), deps.settings.listen)
  const origin = `http://localhost:${server.port}`
  deps.settings.baseUrl = origin
  return { deps, origin, stop: () => server.stop(true) }
}
