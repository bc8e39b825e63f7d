import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { fund, type Home, makeHome, noBinary, type Server } from '../support/binary.ts'
import { metricsUrl } from '../support/judges.ts'
import { pacedModels, startPacedUpstream } from '../support/paced-upstream.ts'
import { type EmptyDatabase, emptyDatabase, postgresServer } from '../support/postgres.ts'
import { promise } from '../support/promise.ts'
import { until } from '../support/runs.ts'
import { type SilentProxy, startSilentProxy, targetOf } from '../support/silent-proxy.ts'
import type { StubUpstream } from '../support/stub-upstream.ts'
import { faultsIn, untilNumbered } from './nodes.ts'

const flat = { model: 'stub/flat', input: 'hello' }
const graceS = 2

describe.skipIf(noBinary || !postgresServer)(
  'a node whose database vanishes from the network',
  () => {
    let database: EmptyDatabase
    let proxy: SilentProxy
    let upstream: StubUpstream
    let home: Home
    let server: Server
    let key: string
    beforeEach(async () => {
      database = await emptyDatabase()
      proxy = startSilentProxy(targetOf(database.url))
      upstream = await startPacedUpstream()
      home = await makeHome(`database_url = "${proxy.urlOf(database.url)}"
${pacedModels(upstream.url)}
[limits]
stop_grace_s = ${graceS}
rpm = 1_000_000
[metrics]
listen = "0"
`)
      server = await home.start()
      key = await fund(home, '5.00')
    }, 60_000)
    afterEach(async () => {
      await home.remove()
      await upstream.stop()
      proxy.stop()
      await database.drop()
    }, 60_000)

    const ask = (headers: Record<string, string> = {}) =>
      server.call('/v1/runs', { key, json: flat, headers })

    promise`K21 C: A PostgreSQL server that vanishes without a word is a 503 within 12 s, hangs no
      probe and no stop, and is used again by itself; a COMMIT whose answer got lost is settled
      once.`
    test('answers 503 within 12 s, probes within 2 s all the time, and goes on by itself', async () => {
      expect((await ask()).status).toBe(200)
      const probes = watchProbes(server, metricsUrl(home))
      proxy.vanish()
      const first = await timed(ask())
      expect(first.ms).toBeLessThan(12_000)
      expect(first.answer.status).toBe(503)
      expect(first.answer.headers.get('retry-after')).toBe('5')
      expect((await first.answer.json()).error).toMatchObject({
        type: 'unavailable',
        metadata: { reason: 'storage_unreachable' },
      })
      for (let i = 0; i < 10; i++) {
        const { ms, answer } = await timed(ask())
        expect(answer.status).toBe(503)
        expect(ms).toBeLessThan(1000)
      }
      const ready = await server.call('/readyz')
      expect(ready.status).toBe(503)
      expect((await ready.json()).error.metadata).toEqual({ reason: 'storage_unreachable' })
      const status = await server.get('/v1/status')
      expect([status.status, status.database.status]).toEqual(['degraded', 'down'])
      expect(await (await fetch(metricsUrl(home))).text()).toContain('counterfoil_database_up 0\n')
      const check = await timed(home.cli('healthcheck', server.origin))
      expect([check.answer.code, check.ms < 3000]).toEqual([1, true])
      proxy.comeBack()
      await until('a run to be paid', async () => (await ask()).status === 200, 8000)
      expect((await server.call('/readyz')).status).toBe(200)
      const { slowestMs, count } = await probes.stop()
      expect(count).toBeGreaterThan(100)
      expect(slowestMs).toBeLessThan(2000)
      await untilNumbered({ database })
      expect(await faultsIn({ database })).toEqual([])
    }, 90_000)

    promise`K21`
    test('charges what was asked for with an Idempotency-Key once, whenever the network came back', async () => {
      const names = Array.from({ length: 40 }, (_, i) => `once-${i}`)
      const asked = names.map(async (name, i) => {
        await Bun.sleep(i * 10)
        return ask({ 'idempotency-key': name })
      })
      await Bun.sleep(200)
      proxy.vanish()
      const lost = (await Promise.all(asked)).filter(({ status }) => status !== 200)
      expect(lost.length).toBeGreaterThan(5)
      expect(lost.every(({ status }) => status === 503)).toBe(true)
      proxy.comeBack()
      const replays = names.map((name) =>
        until(
          `the answer to ${name}`,
          async () => {
            const answer = await ask({ 'idempotency-key': name })
            if (answer.status === 200) return (await answer.json()).id as string
            expect([409, 503]).toContain(answer.status)
            await Bun.sleep(300)
          },
          40_000,
        ),
      )
      const ids = await Promise.all(replays)
      expect(new Set(ids).size).toBe(names.length)
      await untilNumbered({ database })
      const paid = await database.sql`select id from runs where cost > 0`
      expect(paid.map(({ id }: { id: string }) => id).sort()).toEqual(ids.sort())
      expect(await faultsIn({ database })).toEqual([])
      const { held_nusd: held } = await server.get('/v1/balance', key)
      expect(held).toBe(0)
    }, 120_000)

    promise`K21`
    test('ends within its grace and five seconds when it is told to stop', async () => {
      const endless = {
        model: 'stub/endless',
        stream: true,
        messages: [{ role: 'user', content: 'x' }],
      }
      const streams = [1, 2, 3].map(() =>
        server.call('/v1/chat/completions', { key, json: endless }),
      )
      expect((await Promise.all(streams)).map(({ status }) => status)).toEqual([200, 200, 200])
      proxy.vanish()
      const waiting = [ask(), ask()].map((answer) => answer.catch(() => undefined))
      await Bun.sleep(300)
      const { ms } = await timed(server.stop('SIGTERM'))
      // A busy machine takes a moment to end the process.
      expect(ms).toBeLessThan((graceS + 5 + 2) * 1000)
      await Promise.all(waiting)
      for (const stream of streams) await (await stream).body?.cancel().catch(() => undefined)
    }, 60_000)
  },
)

async function timed<T>(work: Promise<T>): Promise<{ answer: T; ms: number }> {
  const startedAt = performance.now()
  const answer = await work
  return { answer, ms: performance.now() - startedAt }
}

/** Asks every probe again and again, and remembers the slowest answer. */
function watchProbes(server: Server, metrics: string) {
  let isOver = false
  let slowestMs = 0
  let count = 0
  const watch = async (url: string) => {
    while (!isOver) {
      const { ms } = await timed(fetch(url).then((answer) => answer.text()))
      slowestMs = Math.max(slowestMs, ms)
      count++
      await Bun.sleep(100)
    }
  }
  const paths = ['/livez', '/readyz', '/v1/status'].map((path) => server.origin + path)
  const running = [...paths, metrics].map(watch)
  return {
    async stop() {
      isOver = true
      await Promise.all(running)
      return { slowestMs, count }
    },
  }
}
