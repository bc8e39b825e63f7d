import type { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { scopes } from '../../../src/access/keys/key.ts'
import { runOnce } from '../../front/explorer/world.ts'
import { usd, world } from '../../support/world.ts'

test('usage that is not counted yet is found by its places, not among all runs of a key', async () => {
  const w = await world({ now: Date.UTC(2026, 10, 20, 12) })
  try {
    const { secret } = await w.key({ balance: usd, scopes: [...scopes] })
    await runOnce(w, secret)
    const raw = (w.db as typeof w.db & { raw: Database }).raw
    const texts = new Set<string>()
    const prepare = raw.prepare.bind(raw)
    raw.prepare = ((text: string, ...rest: []) => {
      texts.add(text)
      return prepare(text, ...rest)
    }) as typeof raw.prepare
    for (const path of ['/v1/usage', '/v1/usage/export?format=csv']) {
      const answer = await w.call(path, { key: secret })
      expect([path, answer.status]).toEqual([path, 200])
      await answer.text()
    }
    raw.prepare = prepare
    const asked = [...texts].filter((text) => /\bas numbered\b/.test(text))
    expect(asked.length).toBeGreaterThan(0)
    for (const text of asked) {
      const plan = raw.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`).all()
      const whole = plan.filter(({ detail }) => /runs_(by_key|by_account|charged)/.test(detail))
      expect([text, whole.map(({ detail }) => detail)]).toEqual([text, []])
    }
  } finally {
    await w.stop()
  }
})
