/** A small demonstration in this process, and visitors of it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDemo } from '../../../src/app/demo/demo.ts'
import { type DemoLimits, demoLimits } from '../../../src/app/demo/limits.ts'
import type { Log } from '../../../src/kernel/log.ts'
import { browser } from '../../access/accounts/wallet.ts'
import { configOf } from '../../support/world.ts'

export type SmallDemo = Awaited<ReturnType<typeof smallDemo>>

/** Beyond the end of any test. */
const never = 100 * 365 * 86_400_000

/** A demonstration behind a proxy on loopback, with few runs and no traffic of its own. */
export async function smallDemo(limits: Partial<DemoLimits> = {}, periodMs = never) {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-test-demo-'))
  const errors: string[] = []
  const log: Log = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (event, error) => errors.push(`${event}: ${String(error)}`),
  }
  const config = configOf('listen = "127.0.0.1:0"\ntrusted_proxies = ["127.0.0.1"]')
  const demo = await startDemo({
    config,
    folder,
    log,
    limits: { ...demoLimits, ...limits },
    runs: 12,
    periodMs,
    everyMs: 0,
    graceMs: 5000,
  })
  const call = (
    path: string,
    { key, json, ...init }: RequestInit & { key?: string; json?: unknown } = {},
  ) => {
    const headers = new Headers(init.headers)
    if (key) headers.set('authorization', `Bearer ${key}`)
    if (json === undefined) return fetch(demo.url + path, { ...init, headers })
    headers.set('content-type', 'application/json')
    return fetch(demo.url + path, { method: 'POST', ...init, headers, body: JSON.stringify(json) })
  }
  return {
    ...demo,
    folder,
    errors,
    call,
    /** A visitor who signs in from a network address, and what the sign-in answered. */
    async visitor(from = '198.51.100.1') {
      const own = browser({
        call: (path, init = {}) => {
          const headers = new Headers(init.headers)
          headers.set('x-forwarded-for', from)
          return call(path, { ...init, headers })
        },
      })
      const answer = await own.call('/signin/visitor', {
        method: 'POST',
        body: '',
        headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
      })
      return { ...own, answer }
    },
    async end() {
      await demo.stop(0)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export type Visitor = Awaited<ReturnType<SmallDemo['visitor']>>

/** A key of a visitor that may spend two dollars. */
export async function keyOf(visitor: Visitor, name = 'first') {
  const json = { name, cap: { limit_nusd: 2_000_000_000, window: 'lifetime' } }
  const answer = await visitor.call('/api/portal/keys', { json })
  return { answer, ...((await answer.clone().json()) as { id: string; secret: string }) }
}

/** A run of a visitor. Some fail, as the models of a demonstration do: those are asked again. */
export async function runOf(
  demo: Pick<SmallDemo, 'call'>,
  secret: string,
  more: object = {},
): Promise<Response> {
  const json = { model: 'acme/small', input: 'Where is my order?', max_output_tokens: 60, ...more }
  for (let tries = 0; ; tries++) {
    const answer = await demo.call('/v1/runs', { key: secret, json })
    if (answer.status < 500 || tries === 5) return answer
  }
}
