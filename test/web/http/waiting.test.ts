import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../../src/app/routes.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { makeIds } from '../../../src/kernel/ids.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { listenEarly, type WaitingQueue } from '../../../src/web/http/waiting.ts'
import { type World, world } from '../../support/world.ts'

describe('a server that is not there yet', () => {
  const listen = { hostname: '127.0.0.1', port: 0 }
  let waiting: WaitingQueue
  let w: World
  beforeAll(async () => {
    w = await world()
    waiting = listenEarly(listen, makeIds(systemClock, systemRandom()))
  })
  afterAll(async () => {
    await waiting.close()
    await w.stop()
  })
  const call = (path: string) => fetch(`http://localhost:${listen.port}${path}`)

  test('lives, is not ready, and says what it is at', async () => {
    expect((await call('/livez')).status).toBe(200)
    for (const phase of ['starting', 'migrating', 'checking'] as const) {
      waiting.enter(phase)
      const answer = await call('/readyz')
      const { error } = (await answer.json()) as { error: Record<string, unknown> }
      expect(answer.status).toBe(503)
      expect(error).toMatchObject({ type: 'unavailable', metadata: { reason: phase } })
      expect(error['request_id']).toBe(answer.headers.get('x-request-id'))
    }
  })

  test('takes nothing, and says when to come again', async () => {
    for (const path of ['/', '/v1/status', '/v1/chat/completions', '/livez/', '/metrics']) {
      const answer = await call(path)
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    }
  })

  test('serves on the same port once it is there', async () => {
    const app = createApp({ ...w.deps, settings: { ...w.deps.settings, listen } })
    waiting.serve(app)
    expect(await (await call('/readyz')).json()).toEqual({ status: 'ok' })
    expect((await call('/v1/status')).status).toBe(200)
  })
})
