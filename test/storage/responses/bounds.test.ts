import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import { engines } from '../../support/world.ts'
import { type Kept, refusalOf, serveKept } from './kept.ts'

setDefaultTimeout(60_000)

const stranger = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

describe.each(engines)('what is kept of a response is bounded on %s', (engine) => {
  let k: Kept
  beforeAll(async () => {
    k = await serveKept({ engine, now: 1_800_000_000_000 })
  })
  afterAll(() => k.stop())

  const first = async (more: object, key: string): Promise<JsonObject> => {
    const answer = await k.ask({ model: 'openai/agent', input: 'first', ...more }, key)
    expect(answer.status).toBe(200)
    return answer.json()
  }
  const itemOf = ({ output }: JsonObject): string => String((output as JsonObject[])[0]?.['id'])
  const goOn = (id: string, key: string) =>
    k.ask({ model: 'openai/agent', input: 'next', previous_response_id: id }, key)
  const refer = (id: string, key: string) => {
    const input = [
      { type: 'item_reference', id },
      { role: 'user', content: 'next' },
    ]
    return k.ask({ model: 'openai/agent', input }, key)
  }

  test('an answer above the limit is not kept; of a long input its items are', async () => {
    const key = await k.keyOf({ account: stranger })
    k.scripted.turnFor = () => ({ words: ['long '.repeat(300_000)], calls: [] })
    const before = (await k.kept()).length
    expect(await first({}, key)).toMatchObject({ store: false })
    expect((await k.kept()).length).toBe(before)
    k.scripted.turnFor = () => ({ words: ['short'], calls: [] })
    const answer = await first({ input: 'long '.repeat(300_000) }, key)
    expect(answer['store']).toBe(true)
    expect((await refer(itemOf(answer), key)).status).toBe(200)
    const refused = await refusalOf(await goOn(String(answer['id']), key))
    expect(refused.message).toContain('was too long to be kept')
    for (const { sealed, bytes } of await k.kept()) {
      expect(bytes).toBeLessThanOrEqual(2 * 1024 * 1024)
      expect(sealed.length).toBeLessThanOrEqual(1024 * 1024 + 64)
    }
  })

  test('what a request names many times may not be larger than a body', async () => {
    const key = await k.keyOf({ account: stranger })
    k.scripted.turnFor = () => ({ words: ['word '.repeat(100_000)], calls: [] })
    const answer = await first({}, key)
    const { settings } = k.w.deps
    const { bodyBytes } = settings
    settings.bodyBytes = 4 * 1024 * 1024
    const one = { type: 'item_reference', id: itemOf(answer) }
    const input = [...Array.from({ length: 50 }, () => one), { role: 'user', content: 'x' }]
    const refused = await k.ask({ model: 'openai/agent', input }, key)
    settings.bodyBytes = bodyBytes
    expect((await refusalOf(refused)).status).toBe(413)
  })

  test('an account has no more than its share, and its oldest go first', async () => {
    const account = '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65'
    const key = await k.keyOf({ account })
    const { settings } = k.w.deps
    settings.keptBytesPerAccount = 64_000
    try {
      const ids: string[] = []
      for (let at = 0; at < 40; at++) {
        k.scripted.turnFor = () => ({ words: [`${at} `, 'w'.repeat(4000)], calls: [] })
        ids.push(String((await first({}, key))['id']))
        k.w.advance(1000)
      }
      const own = async () => (await k.kept()).filter((row) => row.accountId === account)
      const sum = async () => (await own()).reduce((all, { bytes }) => all + bytes, 0)
      const until = performance.now() + 5000
      while ((await sum()) > 64_000 + 8000 && performance.now() < until) await Bun.sleep(20)
      expect(await sum()).toBeLessThanOrEqual(64_000 + 8000)
      expect((await goOn(String(ids[0]), key)).status).toBe(404)
      expect((await goOn(String(ids.at(-1)), key)).status).toBe(200)
    } finally {
      settings.keptBytesPerAccount = 67_108_864
    }
  })
})
