import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { fund, type Home, makeHome, makeKey, noBinary, type Server } from '../support/binary.ts'
import { freePort } from '../support/free-port.ts'
import { pacedModels, startPacedUpstream } from '../support/paced-upstream.ts'
import { fault, promise } from '../support/promise.ts'
import { outcomeOf } from '../support/rejection.ts'
import { until } from '../support/runs.ts'
import type { StubUpstream } from '../support/stub-upstream.ts'

describe.skipIf(noBinary)('SIGTERM under load, on the binary', () => {
  let stub: StubUpstream
  let home: Home
  let server: Server
  let key = ''

  beforeAll(async () => {
    stub = await startPacedUpstream()
    home = await makeHome(pacedModels(stub.url))
    key = await fund(home, '10.00')
    server = await home.start()
  })
  afterAll(async () => {
    await home?.remove()
    await stub?.stop()
  })

  const ask = (model: string, stream: boolean) =>
    server.call('/v1/chat/completions', {
      key,
      json: { model, stream, messages: [{ role: 'user', content: 'hi' }] },
    })

  promise`K14 H: SIGTERM ends what runs within its time, settles all of it, and exits with 0.`
  fault`37: SIGTERM under load → what was taken is finished or told of the end, settled and paid;
    the exit is 0 [stop]`
  test('what was taken is finished, long streams end with an error in band, all is settled', async () => {
    const endless = await Promise.all(Array.from({ length: 10 }, () => ask('stub/endless', true)))
    const readers = endless.map((answer) => readAll(answer))
    const short = Array.from({ length: 20 }, (_, i) => ask('stub/pace-300', i % 2 === 1))
    const waiting = ask('stub/silent', false)
    await until('31 at the upstream', () => stub.counts.active === 31, 10_000)

    server.signal('SIGTERM')
    const answers = await Promise.all(short)
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      const text = await answer.text()
      expect(text).toContain('word')
      expect(text).toContain('"receipt"')
      expect(text).not.toContain('"error"')
    }
    expect(await outcomeOf(server.call('/v1/status'))).toThrow()
    // The grace is 25 s; anyone who asks twice does not want to wait.
    server.signal('SIGTERM')
    for (const text of await Promise.all(readers)) {
      const last = text.trimEnd().split('\n\n').at(-1) ?? ''
      expect(JSON.parse(last.replace('data: ', '')).error.type).toBe('unavailable')
      expect(text).not.toContain('[DONE]')
    }
    const unanswered = await waiting
    expect(unanswered.status).toBe(503)
    expect(await unanswered.text()).toContain('"unavailable"')
    expect(await server.exited).toBe(0)
    expect(stub.counts.active).toBe(0)
  }, 20_000)

  promise`K14`
  test('afterwards nothing is held, and each run was paid once', async () => {
    server = await home.start()
    const balance = await server.get('/v1/balance', key)
    expect(balance.held_nusd).toBe(0)
    const { data }: { data: Run[] } = await server.get('/v1/runs?limit=100', key)
    const count = (status: string) => data.filter((run) => run.status === status).length
    expect({
      succeeded: count('succeeded'),
      failed: count('failed'),
      interrupted: count('interrupted'),
      all: data.length,
    }).toEqual({ succeeded: 20, failed: 10, interrupted: 1, all: 31 })
    for (const run of data) {
      expect(run.receipt_id).toMatch(/^rcpt_/)
      expect(run.cost_nusd > 0).toBe(run.status !== 'interrupted')
    }
    const costs = data.reduce((sum, run) => sum + run.cost_nusd, 0)
    expect(balance.balance_nusd).toBe(10_000_000_000 - costs)
    expect((await server.get('/v1/status')).ledger).toBe('balanced')
    expect(await server.stop()).toBe(0)
  })
})

describe.skipIf(noBinary)('SIGTERM once, with a grace of its own', () => {
  test('streams that go on after it end in band, are settled and paid; exit code 0', async () => {
    const stub = await startPacedUpstream()
    const home = await makeHome(`${pacedModels(stub.url)}\n[limits]\nstop_grace_s = 2`)
    try {
      const key = await fund(home, '10.00')
      const server = await home.start()
      const answers = await Promise.all(
        Array.from({ length: 5 }, () =>
          server.call('/v1/chat/completions', {
            key,
            json: {
              model: 'stub/endless',
              stream: true,
              messages: [{ role: 'user', content: 'hi' }],
            },
          }),
        ),
      )
      const readers = answers.map((answer) => readAll(answer))
      const asked = performance.now()
      server.signal('SIGTERM')
      for (const text of await Promise.all(readers)) {
        const last = text.trimEnd().split('\n\n').at(-1) ?? ''
        expect(JSON.parse(last.replace('data: ', '')).error.type).toBe('unavailable')
      }
      expect(performance.now() - asked).toBeGreaterThan(1500)
      expect(await server.exited).toBe(0)
      // Far below the 25 s that it would take else.
      expect(performance.now() - asked).toBeLessThan(20_000)
      const again = await home.start()
      const { held_nusd, balance_nusd } = await again.get('/v1/balance', key)
      expect(held_nusd).toBe(0)
      expect(balance_nusd).toBeLessThan(10_000_000_000)
      await again.stop()
    } finally {
      await home.remove()
      await stub.stop()
    }
  }, 60_000)
})

describe.skipIf(noBinary)('a server and what is around it', () => {
  let home: Home
  let key = ''
  beforeAll(async () => {
    home = await makeHome()
    key = (await makeKey(home)).secret
  })
  afterAll(() => home?.remove())

  test('an idle server ends at once, on SIGINT too, with a clean database', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const idle = await home.start()
      const asked = performance.now()
      expect(await idle.stop(signal)).toBe(0)
      expect(performance.now() - asked).toBeLessThan(5000)
    }
  })

  promise`N1`
  fault`38: a second server on the same data → refused, and the first goes on`
  test('a second server on the same data folder is refused and says why; the first goes on', async () => {
    const first = await home.start()
    const second = await home.cli('serve')
    expect(second.code).toBe(1)
    expect(second.stderr).toContain('another counterfoil serves the data folder')
    expect(second.stderr).not.toContain('    at ')
    expect((await first.call('/v1/keys/self', { key })).status).toBe(200)
    await first.stop('SIGKILL')
    // A crash leaves no lock behind.
    await (await home.start()).stop()
  })

  test('a port that is taken is said in words', async () => {
    const first = await home.start()
    const other = await home.cli('serve', '--data', 'other', '--listen', `127.0.0.1:${first.port}`)
    expect(other.code).toBe(1)
    expect(other.stderr).toContain(String(first.port))
    expect(other.stderr).not.toContain('    at ')
    await first.stop()
  })

  test('what a supervisor asks: healthcheck is 0 while it is ready and 1 when it is gone', async () => {
    const up = await home.start()
    expect((await home.cli('healthcheck', up.origin)).code).toBe(0)
    expect((await home.cli('healthcheck', '--base-url', up.origin)).code).toBe(0)
    const { stdout } = await home.cli('healthcheck', up.origin, '--json')
    expect(JSON.parse(stdout)).toEqual({ url: up.origin, ready: true, status: 200 })
    await up.stop()
    const gone = await home.cli('healthcheck', up.origin)
    expect(gone.code).toBe(1)
    expect(gone.stderr).toContain('is not reachable')
  })

  test('what a script asks: healthcheck --wait ends when the server is ready, and is 1 if it never is', async () => {
    const port = freePort()
    const waiting = home.cli('healthcheck', `http://127.0.0.1:${port}`, '--wait', '1m')
    const server = await home.start({ port })
    expect(await waiting).toMatchObject({ code: 0, stderr: 'ready\n' })
    await server.stop()
    const never = await home.cli('healthcheck', server.origin, '--wait', '1s')
    expect(never).toMatchObject({ code: 1, stderr: `${server.origin} is not reachable\n` })
    expect((await home.cli('healthcheck', '--wait', 'long')).code).toBe(2)
  })
})

type Run = { status: string; cost_nusd: number; receipt_id: string }

/** The text of a stream that may be cut. */
async function readAll(answer: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of answer.body ?? []) text += decoder.decode(bytes, { stream: true })
  return text
}
