import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../../src/app/routes.ts'
import { terminalStore } from '../../../src/front/terminal/store.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { serve } from '../../../src/web/http/serve.ts'
import { promise } from '../../support/promise.ts'
import { engines, type World, world } from '../../support/world.ts'
import { believed, midnight, noon, path, refusal, run, send } from './support.ts'

const remaining = async (w: World, from?: string): Promise<number> =>
  (await run(w, 'help', from)).allowance.remaining

describe.each(engines)('the allowance of a client, on %s', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({ engine, toml: `${believed}[terminal]\nasks_per_day = 3`, now: noon })
  }, 60_000)
  afterAll(() => w?.stop())

  test('when it is used up: 429 with the time of the next, and look-ups go on', async () => {
    const from = '198.51.100.1'
    for (const left of [2, 1, 0]) {
      expect((await run(w, 'ask x', from)).allowance).toEqual({
        remaining: left,
        resets_at: midnight,
      })
    }
    const { status, error, retryAfter } = await refusal(w, { command: 'ask x' }, from)
    expect([status, error.type, retryAfter]).toEqual([429, 'rate_limited', '43200'])
    expect(error.metadata).toEqual({ remaining: 0, resets_at: midnight })
    expect(error.message).toContain(midnight)
    expect(await remaining(w, from)).toBe(0)
    expect(await remaining(w, '198.51.100.2')).toBe(3)
  })

  promise`J2`
  test('addresses of one IPv6 /64 are one client, the next /64 is another', async () => {
    const asked = Array.from({ length: 3 }, (_, i) => `2001:db8:1:2:${i}::${i + 1}`)
    for (const from of asked) await run(w, 'ask x', from)
    const again = await refusal(w, { command: 'ask x' }, '2001:db8:1:2:ffff:ffff:ffff:ffff')
    expect(again.status).toBe(429)
    expect(await remaining(w, '2001:db8:1:3::1')).toBe(3)
  })

  test('an IPv4 address is the same when IPv6 carries it', async () => {
    for (const from of ['192.0.2.5', '::ffff:192.0.2.5', '192.0.2.5']) await run(w, 'ask x', from)
    expect((await refusal(w, { command: 'ask x' }, '::ffff:c000:205')).status).toBe(429)
  })

  test('only the last address that no trusted proxy wrote counts', async () => {
    for (const made of ['1.1.1.1', '2.2.2.2', '3.3.3.3']) {
      await run(w, 'ask x', `${made}, 192.0.2.6`)
    }
    expect((await refusal(w, { command: 'ask x' }, '4.4.4.4, 192.0.2.6')).status).toBe(429)
  })

  promise`J4`
  test('many at once take no more than there are', async () => {
    const from = '192.0.2.7'
    const statuses: number[] = []
    for (let i = 0; i < 6; i++) {
      const two = [0, 1].map(() => send(w, { command: 'ask x' }, from))
      statuses.push(...(await Promise.all(two)).map(({ status }) => status))
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(3)
  })

  test('it is kept as a keyed hash, and counts again after a restart and on another node', async () => {
    const from = '192.0.2.8'
    await run(w, 'ask x', from)
    await run(w, 'ask x', from)
    // Another process over the same database: nothing is remembered but what is stored.
    const fresh = createApp({ ...w.deps, terminal: terminalStore(w.db) })
    const other = serve(fresh, { hostname: '127.0.0.1', port: 0 })
    const answer = await fetch(`http://localhost:${other.port}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-forwarded-for': from,
        host: new URL(w.origin).host,
      },
      body: '{"command":"help"}',
    })
    expect((await answer.json()).allowance.remaining).toBe(1)
    await other.stop(true)
    const stored = await w.db.read((q) => rows(q.select().from(w.db.tables.terminalAllowances)))
    expect(stored.every(({ client }) => /^0x[0-9a-f]{64}$/.test(client))).toBe(true)
  })

  test('the next day it is whole again', async () => {
    const from = '192.0.2.9'
    await run(w, 'ask x', from)
    w.advance(12 * 3_600_000)
    expect(await remaining(w, from)).toBe(3)
    w.advance(-12 * 3_600_000)
  })
})

promise`J1`
test('without trusted proxies a forged X-Forwarded-For does nothing', async () => {
  const w = await world({ toml: '[terminal]\nasks_per_day = 2' })
  await run(w, 'ask x', '1.1.1.1')
  await run(w, 'ask x', '2.2.2.2')
  const headers = { 'x-forwarded-for': '3.3.3.3', forwarded: 'for=4.4.4.4', 'x-real-ip': '5.5.5.5' }
  const answer = await w.call(path, { json: { command: 'ask x' }, headers })
  expect(answer.status).toBe(429)
  await w.stop()
})

test('asks can be turned off; everything else goes on', async () => {
  const w = await world({ toml: '[terminal]\nasks_per_day = 0' })
  const { status, error } = await refusal(w, { command: 'ask x' })
  expect([status, error.type]).toEqual([503, 'unavailable'])
  expect(await remaining(w)).toBe(0)
  await w.stop()
})

test('commands of a client a minute are limited, whatever the door; others are not', async () => {
  const w = await world({ toml: `${believed}[limits]\nkeyless_per_minute = 5` })
  const from = '2001:db8::1'
  const get = () => w.call('/terminal', { headers: { 'x-forwarded-for': '2001:db8::2' } })
  for (let i = 0; i < 4; i++) await run(w, 'help', from)
  expect((await get()).status).toBe(200)
  const { status, error, retryAfter } = await refusal(w, { command: 'help' }, '2001:db8::3')
  expect([status, error.type]).toEqual([429, 'rate_limited'])
  expect(Number(retryAfter)).toBeGreaterThan(0)
  expect((await get()).status).toBe(429)
  expect((await send(w, { command: 'help' }, '2001:db8:0:1::1')).status).toBe(200)
  // Refused before anything of a body is read.
  const junk = { method: 'POST', body: 'x', headers: { 'x-forwarded-for': from } }
  expect((await w.call(path, junk)).status).toBe(429)
  await w.stop()
})

promise`G6`
test('who checks receipts without a key, or asks by MCP, is counted with them', async () => {
  const w = await world({ toml: `${believed}[limits]\nkeyless_per_minute = 3` })
  const headers = { 'x-forwarded-for': '203.0.113.8' }
  const ask = (at: string) => w.call(at, { json: { id: 'rcpt_none' }, headers })
  expect((await ask('/v1/receipts/verify')).status).toBe(404)
  expect((await ask('/verify')).status).not.toBe(429)
  expect((await ask('/mcp')).status).not.toBe(429)
  for (const at of ['/v1/receipts/verify', '/verify', '/mcp']) {
    expect([at, (await ask(at)).status]).toEqual([at, 429])
  }
  expect((await w.call('/v1/receipts/verify', { json: { id: 'rcpt_none' } })).status).toBe(404)
  await w.stop()
})
