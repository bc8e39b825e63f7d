import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { marginsOf } from '../../../src/billing/margins/margins.ts'
import { toMarginDays } from '../../../src/billing/margins/store/margin-counter.ts'
import { dayMs, dayOf } from '../../../src/billing/usage/usage.ts'
import { isEnded } from '../../../src/proof/receipts/receipt.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { allRuns, lastRun, modelToml, upstreamToml } from '../../support/runs.ts'
import { type StubHandler, startStubUpstream, stubWords } from '../../support/stub-upstream.ts'
import { engines, usd, type World, world } from '../../support/world.ts'
import { countAll } from '../usage/receipts.ts'

setDefaultTimeout(60_000)

/** Answers with the usage and the tier that the name of the model stands for. */
const usages: Record<string, object> = {
  plain: { usage: { prompt_tokens: 100, completion_tokens: 50 } },
  cached: {
    usage: {
      prompt_tokens: 100,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 60 },
      completion_tokens_details: { reasoning_tokens: 20 },
    },
  },
  // More than the hold of a short prompt covers.
  beyond: { usage: { prompt_tokens: 9000, completion_tokens: 50 } },
  lie: { usage: { prompt_tokens: 2 ** 50, completion_tokens: 50 } },
  priority: { usage: { prompt_tokens: 100, completion_tokens: 50 }, service_tier: 'priority' },
}

const answers: StubHandler = ({ body }, response) => {
  const name = String(body['model'])
  if (name === 'down') return void response.writeHead(500).end('{}')
  if (body['stream'] === true) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (name === 'mute') {
      response.write(`data: ${JSON.stringify({ choices: [], ...usages['plain'] })}\n\n`)
      setTimeout(() => response.destroy(), 20)
      return
    }
    const delta = { content: stubWords.join('') }
    const chunk = { choices: [{ index: 0, delta, finish_reason: null }] }
    response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    setTimeout(() => response.destroy(), 20)
    return
  }
  const message = { role: 'assistant', content: stubWords.join('') }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ choices, ...usages[name] }))
}

const cost =
  'cost = { input_pusd = 400_000, cache_read_pusd = 40_000, output_pusd = 900_000, request_nusd = 7,' +
  ' tiers = [{ name = "priority", output_pusd = 1_800_000 }] }'
const costed = (name: string, more = cost) =>
  modelToml(`stub/${name}`, `{ to = "stub:${name}", ${more} }`)

describe.each(engines)('what a run costs the operator, on %s', (engine) => {
  let stub: Awaited<ReturnType<typeof startStubUpstream>>
  let w: World
  let secret: string
  beforeAll(async () => {
    stub = await startStubUpstream({ handler: answers })
    const toml =
      upstreamToml('stub', stub.url) +
      [...Object.keys(usages), 'down', 'cut', 'mute'].map((name) => costed(name)).join('') +
      modelToml('stub/unknown', '"stub:plain"') +
      modelToml('stub/second', `"stub:down", { to = "stub:plain", ${cost} }`)
    w = await world({ engine, toml })
    ;({ secret } = await w.key({ balance: 1000n * usd }))
  })
  afterAll(async () => {
    await w.stop()
    await stub.stop()
  })

  const costs = async () => {
    const { runCosts } = w.db.tables
    const found = await w.db.read((q) => rows(q.select().from(runCosts)))
    return new Map(found.map(({ runId, cost: paid }) => [runId, paid]))
  }
  const run = async (name: string, more: object = {}) => {
    const messages = [{ role: 'user', content: 'hi' }]
    const body = { model: `stub/${name}`, messages, max_tokens: 200, ...more }
    const answer = await w.call('/v1/chat/completions', { key: secret, json: body })
    await answer.text()
    const { id, cost: charged } = await lastRun(w)
    return { charged, paid: (await costs()).get(id) }
  }

  test('follows from its usage at the cost of the step that answered, classes with theirs', async () => {
    expect((await run('plain')).paid).toBe(40_000n + 45_000n + 7n)
    // 40 read, 60 from the cache; reasoning without a rate of its own stays in the output.
    expect((await run('cached')).paid).toBe(16_000n + 2_400n + 45_000n + 7n)
    expect((await run('second')).paid).toBe(40_000n + 45_000n + 7n)
  })

  test('is in the tier that the upstream names, although the model is not sold at it', async () => {
    expect((await run('priority')).paid).toBe(40_000n + 90_000n + 7n)
  })

  test('counts what was used beyond the hold, up to the limits of the model', async () => {
    const beyond = await run('beyond')
    expect(beyond.paid).toBe(9000n * 400n + 45_000n + 7n)
    expect(beyond.charged).toBeLessThan(9000n * 1000n)
    expect((await run('lie')).paid).toBe(10_000n * 400n + 45_000n + 7n)
  })

  test('is not noted where no cost is known, and not for a run that used nothing', async () => {
    const before = (await costs()).size
    expect((await run('unknown')).paid).toBeUndefined()
    expect((await run('down')).paid).toBeUndefined()
    expect((await costs()).size).toBe(before)
  })

  test('is noted of a stream that broke off, by what passed through', async () => {
    const { charged, paid } = await run('cut', { stream: true })
    expect(charged).toBeGreaterThan(0n)
    expect(paid).toBeGreaterThan(7n)
  })

  test('is noted where the upstream reported usage and broke off before any output', async () => {
    expect(await run('mute', { stream: true })).toEqual({ charged: 0n, paid: 85_007n })
  })

  test('is summed up by day, model and account, the same before and after the count', async () => {
    const ended = (await allRuns(w)).filter(isEnded)
    const known = await costs()
    const day = dayOf(w.deps.clock.now())
    const wish = { from: day - dayMs, to: day + dayMs }
    const read = async () =>
      Promise.all(
        (['model', 'account', 'day'] as const).map((by) => marginsOf(w.deps, { ...wish, by })),
      )
    const before = await read()
    await w.deps.sequencer.flush()
    await countAll(w)
    const { marginDays } = w.db.tables
    const counted = await w.db.read((q) => rows(q.select().from(marginDays)))
    const fresh = toMarginDays(
      ended.map((one) => ({
        ...one,
        wholesale: known.get(one.id) ?? null,
      })),
    )
    const inOrder = (a: { model: string }, b: { model: string }) => (a.model < b.model ? -1 : 1)
    expect(counted.sort(inOrder)).toEqual(fresh.sort(inOrder))
    expect(await read()).toEqual(before)
    const total = fresh.reduce((sum, row) => sum + row.cost, 0n)
    for (const { totals, rows: found } of before) {
      expect(totals.cost).toBe(total)
      expect(totals.runs).toBe(known.size)
      expect(found.reduce((sum, row) => sum + row.cost, 0n)).toBe(total)
    }
    expect(before[0]?.rows.map(({ name }) => name)).not.toContain('stub/unknown')
    const later = await marginsOf(w.deps, { from: wish.to, to: wish.to + dayMs, by: 'day' })
    expect(later.rows).toEqual([])
  })
})
