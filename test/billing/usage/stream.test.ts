import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { until } from '../../support/runs.ts'
import { testAccount, type World, world } from '../../support/world.ts'
import { addReceipts, countAll, parseCsv } from './receipts.ts'

const now = Date.UTC(2026, 10, 21, 12)
const count = 10_000

describe('a long export', () => {
  let w: World
  let key: string
  beforeAll(async () => {
    w = await world({ now })
    const made = await w.key()
    key = made.secret
    await addReceipts(
      w,
      Array.from({ length: count }, (_, i) => ({
        accountId: testAccount,
        keyId: made.key.id,
        finishedAt: now - (count - i) * 60_000,
        tags: { note: 'x'.repeat(200) },
      })),
    )
    await countAll(w)
  }, 60_000)
  afterAll(() => w.stop())

  const get = (init: RequestInit = {}) => w.call('/v1/usage/export', { key, ...init })

  test('arrives whole, every run once', async () => {
    const lines = parseCsv(await (await get()).text())
    expect(lines.length).toBe(count + 1)
    expect(new Set(lines.map(([, id]) => id)).size).toBe(count + 1)
    expect(w.deps.exportSlots.count()).toBe(0)
  })

  test('stops when the client is gone, and frees its place', async () => {
    for (let round = 0; round < 20; round++) {
      const gone = new AbortController()
      const answer = await get({ signal: gone.signal })
      if (round % 2 === 0) await answer.body?.getReader().read()
      gone.abort()
    }
    await until('the places of gone clients', () => w.deps.exportSlots.count() === 0)
    expect(w.logged.filter(({ error }) => error !== undefined)).toEqual([])
  }, 60_000)

  test('429 concurrency_limited beyond four of an account', async () => {
    const open = await Promise.all(Array.from({ length: 4 }, () => get()))
    const fifth = await get()
    expect([fifth.status, (await fifth.json()).error.type]).toEqual([429, 'concurrency_limited'])
    await Promise.all(open.map((answer) => answer.body?.cancel()))
    await until('their places', () => w.deps.exportSlots.count() === 0)
    expect(parseCsv(await (await get()).text()).length).toBe(count + 1)
  }, 60_000)
})
