import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { issueKey } from '../../src/access/keys/issue.ts'
import { rotateKey } from '../../src/access/keys/rotate.ts'
import { grantCredit } from '../../src/ledger/grant.ts'
import { pricedToml } from '../billing/quotes/priced.ts'
import { promise } from '../support/promise.ts'
import { until } from '../support/runs.ts'
import { startNode } from '../support/services.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { engines, freshDb, sharedEngines, usd, type World, world } from '../support/world.ts'

const noon = Date.UTC(2026, 5, 1, 12)
const limits = '[limits]\nfree_writes_per_day = 12\n'
const echo = {
  model: 'counterfoil/echo-1',
  messages: [{ role: 'user', content: 'hi' }],
  max_tokens: 5,
}
const priced = { ...echo, model: 'stub/normal' }
let made = 0
const fresh = () => `0x${(++made).toString(16).padStart(40, 'c')}`

promise`T3 H: An account stores a bounded number of rows and bytes a day without paying, over any
  number of nodes; a paid run is neither counted nor refused for it.`
describe.each(engines)('the budget of free writes on %s', (engine) => {
  let w: World
  let stub: StubUpstream
  let account: string
  beforeAll(async () => {
    stub = await startStubUpstream()
    const toml = pricedToml(stub.url, ['normal'], 1_000_000)
    w = await world({ engine, now: noon, toml: toml + limits })
  }, 30_000)
  afterAll(async () => {
    await w.stop()
    await stub.stop()
  })
  beforeEach(() => {
    account = fresh()
  })
  const run = (key: string, json: object = echo) => w.call('/v1/chat/completions', { key, json })
  /** Runs until one is refused, at most `most` times. */
  async function runsUntilRefused(key: string, most: number, json: object = echo) {
    for (let count = 0; count < most; count++) {
      const answer = await run(key, json)
      const body = await answer.json()
      if (answer.status !== 200) return { count, answer, error: body.error }
    }
    return { count: most, answer: undefined, error: undefined }
  }

  test('refuses free runs above it with 429 that says when, and takes them the next day', async () => {
    const { secret } = await w.key({ account })
    const { count, answer, error } = await runsUntilRefused(secret, 20)
    expect([count > 4, count < 12, answer?.status, error.type]).toEqual([
      true,
      true,
      429,
      'rate_limited',
    ])
    expect(error.metadata).toEqual({ limited_by: 'free_writes' })
    expect(answer?.headers.get('retry-after')).toBe(String(12 * 3600))
    w.advance(12 * 3_600_000)
    expect((await run(secret)).status).toBe(200)
    w.advance(-12 * 3_600_000)
  })

  test('counts quotes, keys and renames, and never refuses to revoke', async () => {
    const { secret, key } = await w.key({ account, scopes: ['runs:write', 'keys:mint'] })
    const asked = { model: 'stub/normal', max_input_tokens: 9, max_output_tokens: 9, valid_s: 1 }
    const quote = () => w.call('/v1/quotes', { key: secret, json: asked })
    let answer = await quote()
    for (let i = 0; i < 20 && answer.ok; i++) answer = await quote()
    expect(answer.status).toBe(429)
    const child = { name: 'more', cap: { limit_nusd: 1, window: 'lifetime' } }
    expect((await w.call('/v1/keys', { key: secret, json: child })).status).toBe(429)
    const ended = await w.call(`/v1/keys/${key.id}/revoke`, { key: secret, json: {} })
    expect(ended.status).toBe(200)
  })

  test('leaves room for repairs once it is used up, twice of it at most, and none for the operator', async () => {
    const { secret, key } = await w.key({ account, scopes: ['runs:write', 'keys:mint'] })
    await runsUntilRefused(secret, 20)
    const rotate = (actor: string) =>
      rotateKey(w.deps, { keyId: key.id, actor, overlapSeconds: 0 }).then(() => 'rotated')
    expect(await rotate(account)).toBe('rotated')
    // Two batches at once may each pass the limit by what they hold.
    for (let i = 0; i < 20; i++) await rotate(account).catch(() => undefined)
    expect(await rotate(account).catch(({ type }) => type)).toBe('rate_limited')
    expect(await rotate('operator')).toBe('rotated')
  })

  test('grows with every dollar that came in, and gifts spent since still count', async () => {
    const { secret } = await w.key({ account, balance: 2n * usd })
    const { count } = await runsUntilRefused(secret, 50)
    expect([count > 24, count < 36]).toEqual([true, true])
  })

  test('never refuses what is paid for, nor counts it', async () => {
    const { secret } = await w.key({ account, balance: usd })
    expect((await runsUntilRefused(secret, 50)).answer?.status).toBe(429)
    const before = await w.deps.accounts.find(account)
    expect((await runsUntilRefused(secret, 30, priced)).answer).toBeUndefined()
    expect((await w.deps.accounts.find(account))?.freeWrites).toBe(before?.freeWrites ?? null)
    expect((await run(secret)).status).toBe(429)
  })

  test('takes deposits and gifts of an account that used it up', async () => {
    const { secret } = await w.key({ account })
    await runsUntilRefused(secret, 20)
    await grantCredit(w.deps, { account, amount: usd, reason: 'test', actor: 'test' })
    // Its key is known for a second.
    await until('a run', async () => (await run(secret)).status === 200)
  })

  test('counts bytes as well as rows', async () => {
    w.deps.settings.freeBytes = 7_000
    try {
      const { secret } = await w.key({ account, balance: usd })
      const named = { ...echo, metadata: { note: 'x'.repeat(512) } }
      const { count, answer } = await runsUntilRefused(secret, 50, named)
      expect([count < 20, answer?.status]).toEqual([true, 429])
    } finally {
      w.deps.settings.freeBytes = 16_777_216
    }
  })

  test('leaves built-in models to accounts that paid once the service is on https', async () => {
    const { secret } = await w.key({ account })
    const base = w.deps.settings.baseUrl
    w.deps.settings.baseUrl = base.replace('http:', 'https:')
    try {
      const refused = await run(secret)
      expect([refused.status, (await refused.json()).error.type]).toEqual([
        402,
        'insufficient_balance',
      ])
      await grantCredit(w.deps, { account, amount: usd, reason: 'test', actor: 'test' })
      const taken = await run(secret)
      expect(taken.status).toBe(200)
      await taken.body?.cancel()
    } finally {
      w.deps.settings.baseUrl = base
    }
  })
})

test.each(sharedEngines)('two nodes on %s share one budget of an account', async (engine) => {
  const { db, drop } = await freshDb(engine)
  const nodes = [await startNode(db, { toml: limits }), await startNode(db, { toml: limits })]
  try {
    const [one] = nodes
    const account = fresh()
    if (!one) throw new Error('no node')
    for (const node of nodes) node.deps.settings.freeForAll = true
    const { secret: key } = await issueKey(one.deps, {
      account,
      name: 'test',
      capLimit: usd,
      capWindow: 'lifetime',
      actor: 'test',
    })
    const statuses: number[] = []
    for (let i = 0; i < 24; i++) {
      const answer = await nodes[i % 2]?.call('/v1/chat/completions', { key, json: echo })
      statuses.push(answer?.status ?? 0)
      await answer?.body?.cancel()
    }
    const taken = statuses.filter((status) => status === 200).length
    expect([taken > 4, taken < 12, statuses.at(-1), statuses.at(-2)]).toEqual([
      true,
      true,
      429,
      429,
    ])
  } finally {
    for (const node of nodes) await node.stop()
    await db.close()
    await drop()
  }
})
