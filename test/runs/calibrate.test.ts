import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toBody } from '../../src/cli/models-calibrate.ts'
import { calibrate, type KeptRun, measure } from '../../src/runs/calibrate.ts'
import { keptRuns } from '../../src/runs/store/kept-runs.ts'
import { setRetention } from '../../src/storage/texts/retain.ts'
import { modelsToml } from '../support/runs.ts'
import { startStubUpstream, stubWords } from '../support/stub-upstream.ts'
import { engines, testAccount, usd, type World, world } from '../support/world.ts'

setDefaultTimeout(60_000)

describe.each(engines)('bytes of a token, measured on %s', (engine) => {
  let stub: Awaited<ReturnType<typeof startStubUpstream>>
  let w: World
  beforeAll(async () => {
    stub = await startStubUpstream()
    w = await world({ engine, toml: modelsToml(stub.url, ['usage-exact', 'usage-missing']) })
  })
  afterAll(async () => {
    await w.stop()
    await stub.stop()
  })

  const kept = async (): Promise<KeptRun[]> => {
    const all: KeptRun[] = []
    for await (const run of keptRuns(w.db, w.deps.clock.now())) all.push(run)
    return all
  }
  const measured = (run: KeptRun) => {
    const model = w.deps.catalogue.get(run.model)
    return model && measure(model, run, toBody)
  }

  test('are those of runs with reported usage whose texts are kept, of each door', async () => {
    const { secret } = await w.key({ balance: 10n * usd })
    const messages = [{ role: 'user', content: 'hello there' }]
    const chat = { model: 'stub/usage-exact', messages }
    const ask = async (path: string, json: object) =>
      expect((await w.call(path, { key: secret, json })).status).toBe(200)
    await ask('/v1/chat/completions', chat)
    expect(await kept()).toEqual([])
    await setRetention(w.deps, { account: testAccount, retention: '30d', actor: 'test' })
    await ask('/v1/chat/completions', chat)
    await ask('/v1/chat/completions', { ...chat, stream: true })
    await ask('/v1/runs', { model: chat.model, input: 'hello there' })
    await ask('/v1/runs', { model: chat.model, messages, params: { temperature: 0 } })
    await ask('/v1/chat/completions', { ...chat, model: 'stub/usage-missing' })
    const runs = await kept()
    expect(runs).toHaveLength(4)
    const counted = { inputTokens: 7, outputBytes: stubWords.join('').length, outputTokens: 5 }
    const bytes = Buffer.byteLength(JSON.stringify({ messages }))
    const [first, second, third, last] = runs.map(measured)
    for (const one of [first, second, third]) expect(one).toEqual({ ...counted, inputBytes: bytes })
    expect(last?.inputBytes).toBe(bytes + ',"temperature":0'.length)
  })

  test('leave out reasoning, images, sound, and requests that are no longer valid', async () => {
    const [run] = await kept()
    if (!run) throw new Error('no run is kept')
    const beside = (meter: string) => [...run.lines, { meter, quantity: 1, price: '1' }]
    for (const meter of ['reasoning', 'image_input', 'audio_output']) {
      expect(measured({ ...run, lines: beside(meter) })).toBeUndefined()
    }
    expect(measured({ ...run, lines: beside('cache_read') })?.inputTokens).toBe(8)
    expect(measured({ ...run, input: { messages: 'none' } })).toBeUndefined()
    expect(measured({ ...run, input: null })).toBeUndefined()
    expect(measured({ ...run, lines: [] })).toBeUndefined()
  })
})

describe('what is recommended', () => {
  const run = (inputBytes: number, inputTokens: number, outputBytes = 0, outputTokens = 0) => ({
    ...{ inputBytes, inputTokens, outputBytes, outputTokens },
  })
  test('is the average for counting, and what 99 of 100 runs stay above for holds', () => {
    const runs = [...Array.from({ length: 150 }, () => run(380, 100, 42, 10)), run(150, 100)]
    expect(calibrate(runs)).toMatchObject({ runs: 151, bytesPerToken: 3.8, holdBytesPerToken: 3 })
    const [one] = runs
    expect(one && calibrate([one])).toMatchObject({ input: 3.8, output: 4.2 })
  })
  test('stays within what the settings take', () => {
    expect(calibrate([run(10, 100)])).toMatchObject({ bytesPerToken: 1, holdBytesPerToken: 1 })
    expect(calibrate([run(9000, 1)])).toMatchObject({
      bytesPerToken: 16,
      holdBytesPerToken: 4,
      output: null,
    })
  })

  test('without a kept text is said to be unknown', async () => {
    const data = mkdtempSync(join(tmpdir(), 'counterfoil-calibrate-'))
    try {
      const run = (...words: string[]) =>
        Bun.spawn([process.execPath, 'src/main.ts', ...words, '--data', data], {
          stdout: 'pipe',
          stderr: 'pipe',
        })
      expect(await run('migrate').exited).toBe(0)
      const done = run('models', 'calibrate')
      const [stdout, stderr] = await Promise.all(
        [done.stdout, done.stderr].map((stream) => new Response(stream).text()),
      )
      expect([await done.exited, stdout]).toEqual([0, ''])
      expect(stderr).toContain('accounts that keep texts')
    } finally {
      rmSync(data, { recursive: true })
    }
  })
})
