import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { upstreamHealth } from '../../src/front/admin/upstreams.ts'
import { isUnserved } from '../../src/runs/circuit.ts'
import { allRuns, expectSettled, lastEnded, modelToml, upstreamToml } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { usd, type World, world } from '../support/world.ts'

const folder = mkdtempSync(join(tmpdir(), 'several-keys-'))
function fileOf(name: string): string {
  const file = join(folder, name)
  writeFileSync(file, `sk-many-${name}`, { mode: 0o600 })
  return file
}
const fileA = fileOf('a')
const fileB = fileOf('b')
const keys = `keys = [{ file = "${fileA}", weight = 9 }, { file = "${fileB}" }]
breaker_failures = 0`

let status: Record<string, number> = {}
let stub: StubUpstream
let plain: StubUpstream
let w: World
let secret: string

beforeEach(async () => {
  status = {}
  plain = await startStubUpstream()
  stub = await startStubUpstream({
    handler({ headers, body }, response) {
      const code = status[String(headers.authorization?.at(-1))] ?? 200
      const message = { role: 'assistant', content: `Hi, ${headers.authorization}` }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }
      const answer =
        code === 200 ? { id: 'c', model: body['model'], choices, usage } : { error: {} }
      if (code === 429) response.setHeader('retry-after', '40')
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    },
  })
  const toml = [
    upstreamToml('many', stub.url, keys),
    upstreamToml('plain', plain.url),
    modelToml('many/m', '"many:m"'),
    modelToml('many/next', '"many:m", "plain:normal"'),
  ].join('')
  w = await world({ toml })
  secret = (await w.key({ balance: 100n * usd })).secret
})
afterEach(async () => {
  await expectSettled(w)
  await w.stop()
  await stub.stop()
  await plain.stop()
})
afterAll(() => rmSync(folder, { recursive: true }))

async function ask(model: string) {
  const json = { model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 }
  const answer = await w.call('/v1/chat/completions', { key: secret, json })
  return { code: answer.status, headers: answer.headers, body: await answer.json() }
}

test('The caller sees no error while one key can serve, and pays for one run of one hold.', async () => {
  status = { a: 401 }
  for (let i = 0; i < 5; i++) expect((await ask('many/m')).code).toBe(200)
  const runs = await allRuns(w)
  expect(runs.map(({ cost }) => cost)).toEqual(runs.map(() => 7_000n + 10_000n))
  expect(runs).toHaveLength(5)
  const many = upstreamHealth(w.deps).find(({ id }) => id === 'many')
  expect(many?.keys?.map(({ name, status }) => [name, status])).toEqual([
    [fileA, 'denied'],
    [fileB, 'ok'],
  ])
  const rested = w.logged.filter(({ event }) => event === 'upstream.key_rested')
  expect(rested).toHaveLength(1)
  expect(JSON.stringify(w.logged)).not.toContain('sk-many')
  const model = w.deps.catalogue.get('many/m')
  expect(model && isUnserved(w.deps.upstreams, model)).toBe(false)
})

test('All keys at their limit are a 429 with the shortest time, and nothing is charged.', async () => {
  status = { a: 401, b: 429 }
  for (let i = 0; i < 2; i++) {
    const { code, headers, body } = await ask('many/m')
    expect([code, body.error.type]).toEqual([429, 'rate_limited'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(30)
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(40)
  }
  expect(stub.calls).toHaveLength(2)
  expect((await lastEnded(w)).cost).toBe(0n)
})

test('All keys refused are a 502 that is not retried, the operator hears of it, the route goes on.', async () => {
  status = { a: 401, b: 401 }
  for (let i = 0; i < 2; i++) {
    const { code, headers, body } = await ask('many/m')
    expect([code, body.error.type]).toEqual([502, 'upstream_error'])
    expect(headers.get('x-should-retry')).toBe('false')
  }
  const model = w.deps.catalogue.get('many/m')
  expect(model && isUnserved(w.deps.upstreams, model)).toBe(true)
  expect((await ask('many/next')).code).toBe(200)
  expect((await lastEnded(w)).route).toBe('plain:normal')
})
