import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { scopes } from '../../../src/access/keys/key.ts'
import { until } from '../../support/runs.ts'
import { usd, type World, world } from '../../support/world.ts'
import { runOnce, shareAs } from './world.ts'

type Message = { rows: string[]; isCut: boolean; parts: Record<string, string> }

describe('GET /explorer/stream', () => {
  let w: World
  let key: string
  let open: AbortController[] = []
  beforeAll(async () => {
    w = await world()
    key = (await w.key({ balance: usd, scopes: [...scopes] })).secret
    await runOnce(w, key)
  })
  afterEach(() => {
    for (const one of open) one.abort()
    open = []
  })
  afterAll(() => w.stop())

  /** Follows, and keeps what was said. */
  const follow = async (query = '', headers: Record<string, string> = {}) => {
    const stop = new AbortController()
    open.push(stop)
    const answer = await w.call(`/explorer/stream${query}`, { headers, signal: stop.signal })
    const said = { status: answer.status, text: '', messages: [] as Message[] }
    const read = async () => {
      const decoder = new TextDecoder()
      for await (const bytes of answer.body ?? []) {
        said.text += decoder.decode(bytes, { stream: true })
        const whole = said.text.split('\n\n').slice(0, -1)
        said.messages = whole.flatMap((frame) => {
          const data = frame.split('\n').find((line) => line.startsWith('data: '))
          return data ? [JSON.parse(data.slice(6))] : []
        })
      }
    }
    read().catch(() => {})
    return said
  }

  test('a page that comes gets what it has not seen, and then what comes in', async () => {
    const said = await follow('?after=-1')
    const [first] = await until(
      'the first message',
      () => said.messages.length > 0 && said.messages,
    )
    expect(first?.rows).toHaveLength(1)
    expect(Object.keys(first?.parts ?? {})).toEqual(['live-figures', 'live-anchors', 'live-slips'])
    const id = await runOnce(w, key)
    await shareAs(w, key, id, { visibility: 'public' })
    await runOnce(w, key)
    await until(
      'the news',
      () => said.messages.slice(1).some(({ rows }) => rows.length > 0),
      15_000,
    )
    const news = said.messages.slice(1).flatMap(({ rows }) => rows)
    expect(news.length).toBeGreaterThan(0)
    expect(said.text).not.toContain('key_')
  }, 30_000)

  test('one that comes back names what it saw last', async () => {
    const said = await follow('?after=-1', { 'last-event-id': '1000' })
    const [first] = await until(
      'the first message',
      () => said.messages.length > 0 && said.messages,
    )
    expect(first?.rows).toEqual([])
  }, 30_000)

  test('429 when one network follows too often, and room again when one leaves', async () => {
    for (let i = 0; i < 20; i++) expect((await follow()).status).toBe(200)
    expect((await follow()).status).toBe(429)
    open[0]?.abort()
    await until('room', async () => (await follow()).status === 200, 15_000)
  }, 30_000)

  test('400 for a window there is not', async () => {
    expect((await follow('?window=1y')).status).toBe(400)
  })
})
