import type { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { scopes } from '../../../src/access/keys/key.ts'
import { toHex } from '../../../src/kernel/hex.ts'
import { usd, type World, world } from '../../support/world.ts'
import { addAnchors, namedKey, runOnce, shareAs } from './world.ts'

let w: World
let key: string
let receipt: string
let root: string
beforeAll(async () => {
  w = await world({ now: Date.UTC(2026, 10, 20, 12) })
  key = (await w.key({ balance: usd, scopes: [...scopes] })).secret
  receipt = await runOnce(w, key)
  await namedKey(w, 'tidepool', '0x70997970c51812dc3a010c7d01b50e0d17dc79c8')
  await shareAs(w, key, receipt, { visibility: 'public' })
  root = toHex((await addAnchors(w, [1, 2])).at(-1)?.root ?? new Uint8Array())
})
afterAll(() => w.stop())

/** Tables that hold a handful of rows, however long the service runs; a subquery has its own line. */
const small = /^SCAN (logs|signers|facts|newest|numbered|part|\(subquery|CONSTANT)/
/** In the order of an index, as far as a limit goes. */
const inOrder = /^SCAN \w+ USING (COVERING )?INDEX/

test('no public read goes through a whole table', async () => {
  const raw = (w.db as typeof w.db & { raw: Database }).raw
  const texts = new Set<string>()
  const prepare = raw.prepare.bind(raw)
  // What SQLite is asked, as it is asked.
  raw.prepare = ((text: string, ...rest: []) => {
    texts.add(text)
    return prepare(text, ...rest)
  }) as typeof raw.prepare
  const paths = [
    ...['24h', '7d', '30d', 'all'].map((window) => `/v1/explorer/stats?window=${window}`),
    ...['receipt', 'anchor', 'passport'].map((type) => `/v1/explorer/recent?type=${type}`),
    '/v1/explorer/recent?after=1',
    '/explorer',
    '/explorer?public=1',
    `/explorer?public=1&after=${receipt}`,
    ...[
      ...[receipt, '1', root, '@tidepool', '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'],
      ...[receipt.slice(0, 12), root.slice(0, 12), 'anc_0000', 'tide', 'abcdef'],
    ].map((asked) => `/explorer?q=${encodeURIComponent(asked)}`),
  ]
  for (const path of paths) {
    const { status } = await w.call(path, { redirect: 'manual' })
    expect([path, [200, 303].includes(status)]).toEqual([path, true])
  }
  raw.prepare = prepare
  const asked = [...texts].filter((text) => /^\s*select/i.test(text))
  expect(asked.length).toBeGreaterThan(12)
  for (const text of asked) {
    const plan = raw.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`).all()
    const isBounded = (detail: string) =>
      small.test(detail) || (inOrder.test(detail) && / limit \?/.test(text))
    const scans = plan.filter(({ detail }) => /^SCAN/.test(detail) && !isBounded(detail))
    expect([text, scans.map(({ detail }) => detail)]).toEqual([text, []])
  }
})
