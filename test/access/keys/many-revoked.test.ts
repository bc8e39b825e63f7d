import type { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ownerOf } from '../../../src/kernel/acting.ts'
import { testAccount, usd, type World, world } from '../../support/world.ts'

let w: World
beforeAll(async () => {
  w = await world()
  await w.key({ balance: usd })
})
afterAll(() => w.stop())

test('Keys in use are counted and listed without a walk through those that an account revoked.', async () => {
  const raw = (w.db as typeof w.db & { raw: Database }).raw
  const texts = new Set<string>()
  const prepare = raw.prepare.bind(raw)
  // What SQLite is asked, as it is asked.
  raw.prepare = ((text: string, ...rest: []) => {
    texts.add(text)
    return prepare(text, ...rest)
  }) as typeof raw.prepare
  const now = w.deps.clock.now()
  await w.deps.extent.note(ownerOf(testAccount), now)
  await w.deps.keys.tree({ account: testAccount }, now)
  await w.key()
  raw.prepare = prepare
  const asked = [...texts].filter((text) => /from "?keys"?\s.*"account_id" (=|in)/is.test(text))
  expect(asked).toHaveLength(3)
  for (const text of asked) {
    const plan = raw.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`).all()
    const [walk] = plan.filter(({ detail }) => /^(SEARCH|SCAN) keys\b/.test(detail))
    expect([text, walk?.detail]).toEqual([text, expect.stringContaining('INDEX keys_in_use')])
  }
})
