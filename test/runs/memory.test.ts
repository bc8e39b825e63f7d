import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { unlinkSync } from 'node:fs'
import { metricsStore } from '../../src/app/metrics/store.ts'
import { auditStore } from '../../src/ledger/store/audit.ts'
import { endAbandoned } from '../../src/runs/end-abandoned.ts'
import { storeOpenRuns } from '../../src/runs/store-open.ts'
import { rows } from '../../src/storage/db/sql/query-steps.ts'
import { nextProcess } from '../support/next-process.ts'
import {
  allRuns,
  expectSettled,
  lastRun,
  modelsToml,
  moneyOf,
  receiptIdOf,
  until,
} from '../support/runs.ts'
import {
  type StubHandler,
  type StubUpstream,
  startStubUpstream,
  stubUsage,
} from '../support/stub-upstream.ts'
import { engines, usd, type World, world } from '../support/world.ts'

setDefaultTimeout(60_000)

const noon = Date.UTC(2026, 6, 15, 12)
/** 7 tokens in and 5 out. */
const cost = 17_000

let gate = Promise.withResolvers<void>()
/** Answers when it is let go. */
const waits: StubHandler = async ({ body }, response) => {
  await gate.promise
  const said = { role: 'assistant', content: 'fine' }
  const choice = { index: 0, finish_reason: 'stop', message: said, delta: said }
  const answer = JSON.stringify({ choices: [choice], usage: stubUsage })
  response.end(body['stream'] === true ? `data: ${answer}\n\ndata: [DONE]\n\n` : answer)
}

let stub: StubUpstream
let w: World
let secret: string
let toml: string

async function start(engine: (typeof engines)[number] = 'sqlite') {
  gate = Promise.withResolvers()
  stub = await startStubUpstream({ handler: waits })
  toml = modelsToml(stub.url, ['wait'])
  w = await world({ engine, toml, now: noon })
  secret = (await w.key({ balance: usd })).secret
}
async function stop() {
  gate.resolve()
  await w.stop()
  await stub.stop()
}

const ask = (call?: string, more: object = {}) =>
  w.call('/v1/runs', {
    key: secret,
    json: { model: 'stub/wait', input: 'hi', max_output_tokens: 100, ...more },
    ...(call === undefined ? {} : { headers: { 'idempotency-key': call } }),
  })
const get = async (path: string) => (await w.call(path, { key: secret })).json()
/** Asks, and waits until the upstream has it. */
const begun = (...wish: Parameters<typeof ask>) => {
  const before = stub.counts.active
  const answer = ask(...wish)
  return until('the upstream to have it', () => stub.counts.active > before).then(() => ({
    answer,
  }))
}
const sweep = () => storeOpenRuns(w.deps, w.db.open)
const openRows = () => w.db.read((q) => rows(q.select().from(w.db.tables.openRuns)))
const callRows = () => w.db.read((q) => rows(q.select().from(w.db.tables.idempotentCalls)))
const rawOf = () => (w.db as unknown as { raw: Database }).raw
const errorOf = async (answer: Response) => [answer.status, (await answer.json()).error?.type]

describe.each(engines)('a run in flight, on %s', (engine) => {
  beforeEach(() => start(engine))
  afterEach(stop)

  test('is counted and shown at once, with a row or without', async () => {
    const first = await begun()
    const { answer } = await begun()
    for (let swept = 0; swept < 2; swept++) {
      const open = await allRuns(w)
      expect(open).toHaveLength(2)
      const held = Number(open.reduce((sum, { hold }) => sum + hold, 0n))
      expect(held).toBeGreaterThan(0)
      expect(await moneyOf(w, secret)).toMatchObject({
        balance_nusd: Number(usd),
        held_nusd: held,
        available_nusd: Number(usd) - held,
      })
      expect((await get('/v1/keys/self')).cap).toMatchObject({ held_nusd: held, spent_nusd: 0 })
      const ids = open.map(({ id }) => id).reverse()
      for (const query of ['', '?status=running', '?model=stub/wait']) {
        const listed: { id: string; status: string }[] = (await get(`/v1/runs${query}`)).data
        expect(listed.map(({ id, status }) => [id, status])).toEqual(
          ids.map((id) => [id, 'running']),
        )
      }
      expect((await get('/v1/runs?status=succeeded')).data).toEqual([])
      const page = await get('/v1/runs?limit=1')
      expect(page.data).toMatchObject([{ id: ids[0] }])
      expect((await get(`/v1/runs?limit=1&after=${ids[0]}`)).data).toMatchObject([{ id: ids[1] }])
      expect(await get(`/v1/runs/${ids[1]}`)).toMatchObject({ id: ids[1], status: 'running' })
      const page10 = { limit: 10, after: undefined }
      const account = open[0]?.accountId ?? ''
      const { items } = await w.deps.runs.listShown({ account }, {}, page10)
      expect(items.map(({ run, keyName }) => [run.id, keyName])).toEqual(
        ids.map((id) => [id, 'test']),
      )
      expect(await metricsStore(w.db).openHolds()).toMatchObject({ count: 2, oldestAt: noon })
      w.advance(600)
      await sweep()
      expect(await openRows()).toHaveLength(2)
      expect(w.db.open.size).toBe(0)
    }
    gate.resolve()
    const answers = await Promise.all([first.answer, answer])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    await expectSettled(w)
    expect(await openRows()).toEqual([])
    expect((await moneyOf(w, secret)).balance_nusd).toBe(Number(usd) - 2 * cost)
    expect((await get('/v1/runs')).data).toHaveLength(2)
  })

  test('in the background has its row before its 202', async () => {
    const answer = await ask(undefined, { background: true })
    expect(answer.status).toBe(202)
    const { id } = await answer.json()
    expect((await openRows()).map((row) => row.id)).toEqual([id])
    expect(w.db.open.size).toBe(0)
    gate.resolve()
    await until('its end', async () => (await lastRun(w)).status === 'succeeded')
    await expectSettled(w)
    expect(await openRows()).toEqual([])
  })

  test('with an Idempotency-Key is refused in progress, and answered again at its end', async () => {
    const { answer } = await begun('once')
    expect((await callRows()).length).toBe(w.db.exclusive ? 0 : 1)
    const upstream = stub.counts.requests
    for (let swept = 0; swept < 2; swept++) {
      expect(await errorOf(await ask('once'))).toEqual([409, 'idempotency_in_progress'])
      expect(await errorOf(await ask('once', { input: 'ho' }))).toEqual([
        422,
        'idempotency_mismatch',
      ])
      w.advance(600)
      await sweep()
      expect(await callRows()).toMatchObject([{ runId: (await lastRun(w)).id, reply: null }])
    }
    expect(stub.counts.requests).toBe(upstream)
    gate.resolve()
    const text = await (await answer).text()
    const again = await ask('once')
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await again.text()).toBe(text)
    expect(await errorOf(await ask('once', { input: 'ho' }))).toEqual([422, 'idempotency_mismatch'])
    expect(await allRuns(w)).toHaveLength(1)
    expect((await moneyOf(w, secret)).balance_nusd).toBe(Number(usd) - cost)
    await expectSettled(w)
  })

  test('with an Idempotency-Key is in progress for a key that may run nothing else too', async () => {
    secret = (await w.key({ concurrency: 1 })).secret
    const { answer } = await begun('alone')
    expect(await errorOf(await ask('alone'))).toEqual([409, 'idempotency_in_progress'])
    expect(await errorOf(await ask('other'))).toEqual([429, 'concurrency_limited'])
    gate.resolve()
    expect((await answer).status).toBe(200)
    await expectSettled(w)
  })

  test('that was refused leaves no call; one that was cancelled at work is told again', async () => {
    const poor = await w.key({ account: `0x${'d'.repeat(40)}` })
    const json = { model: 'stub/wait', input: 'hi' }
    const headers = { 'idempotency-key': 'poor' }
    for (let tries = 0; tries < 2; tries++) {
      const answer = await w.call('/v1/runs', { key: poor.secret, json, headers })
      expect(await errorOf(answer)).toEqual([402, 'insufficient_balance'])
    }
    const { answer } = await begun('cancelled')
    const { id } = await lastRun(w)
    await w.call(`/v1/runs/${id}/cancel`, { key: secret, json: {} })
    const told = await answer
    expect(await errorOf(told.clone())).toEqual([409, 'conflict'])
    expect(told.headers.get('x-should-retry')).toBe('false')
    expect(await callRows()).toHaveLength(1)
    gate.resolve()
    // Its input was charged, and asking again does not charge it again.
    const again = await ask('cancelled')
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await again.text()).toBe(await told.text())
    await expectSettled(w)
  })
})

describe('a run in flight where one process writes', () => {
  beforeEach(() => start())
  afterEach(stop)

  test('stores its end with its call in one COMMIT; one that fails stores none of both', async () => {
    const { answer } = await begun('once')
    const raw = rawOf()
    raw.run('CREATE TABLE p (id INTEGER PRIMARY KEY)')
    raw.run('CREATE TABLE c (id INTEGER REFERENCES p (id) DEFERRABLE INITIALLY DEFERRED)')
    raw.run('CREATE TRIGGER t AFTER INSERT ON runs BEGIN INSERT INTO c VALUES (1); END')
    gate.resolve()
    expect((await answer).status).toBe(500)
    const stored = () => raw.query('select count(*) as n from runs').get()
    expect([stored(), await callRows()]).toEqual([{ n: 0n }, []])
    expect((await moneyOf(w, secret)).held_nusd).toBeGreaterThan(0)
    expect(await errorOf(await ask('once'))).toEqual([409, 'idempotency_in_progress'])
    raw.run('DROP TRIGGER t')
    await w.deps.live.settleAgain()
    await expectSettled(w)
    expect(await moneyOf(w, secret)).toMatchObject({ balance_nusd: Number(usd), held_nusd: 0 })
    expect(await receiptIdOf(w, secret, (await lastRun(w)).id)).toStartWith('rcpt_')
    // Nothing was charged, so the call may be made again.
    expect((await ask('once')).status).toBe(200)
    expect((await callRows()).map(({ reply }) => reply === null)).toEqual([false])
    expect((await moneyOf(w, secret)).balance_nusd).toBe(Number(usd) - cost)
    await expectSettled(w)
  })

  test('dies with its process: uncharged, without a trace, and its call may be made again', async () => {
    const { answer } = await begun('once')
    const next = await nextProcess(w, toml)
    try {
      expect(next.ended).toBe(0)
      expect(await allRuns(next)).toEqual([])
      expect(await callRows()).toEqual([])
      const accounts = await next.db.read((q) => rows(q.select().from(next.db.tables.accounts)))
      expect(accounts).toMatchObject([{ balance: usd, held: 0n }])
      expect(await auditStore(next.db).whole(noon)).toEqual([])
    } finally {
      await next.db.close()
    }
    gate.resolve()
    await answer
  })

  test('that had its row is interrupted by the next process, once, uncharged, with a receipt', async () => {
    const { answer } = await begun('once')
    w.advance(600)
    await sweep()
    const { id } = await lastRun(w)
    expect(await callRows()).toMatchObject([{ runId: id, reply: null }])
    const next = await nextProcess(w, toml)
    try {
      expect(next.ended).toBe(1)
      expect(await endAbandoned(next.deps)).toBe(0)
      const [run, ...others] = await allRuns(next)
      expect(others).toEqual([])
      expect(run).toMatchObject({ id, outcome: 'interrupted', status: 'interrupted', cost: 0n })
      expect(run?.logPlace).toBeNumber()
      expect(await openRows()).toEqual([])
      // The call was freed with it.
      expect(await callRows()).toEqual([])
      const { accounts } = next.db.tables
      const found = await next.db.read((q) => rows(q.select().from(accounts)))
      expect(found).toMatchObject([{ balance: usd, held: 0n }])
      expect(await auditStore(next.db).whole(noon + 600)).toEqual([])
      // What the dead process had left to say changes nothing.
      gate.resolve()
      expect((await answer).status).toBe(503)
      expect(await allRuns(next)).toEqual([run ?? expect.unreachable()])
      expect(await auditStore(next.db).whole(noon + 600)).toEqual([])
    } finally {
      await next.db.close()
    }
  })

  test('is refused before its upstream is asked while storage has trouble', async () => {
    const { answer } = await begun()
    const upstream = stub.counts.requests
    unlinkSync(rawOf().filename)
    w.db.storage?.look()
    for (const more of [{}, { stream: true }, { background: true }]) {
      expect(await errorOf(await ask(undefined, more))).toEqual([503, 'unavailable'])
    }
    expect(stub.counts.requests).toBe(upstream)
    expect(w.db.open.size).toBe(1)
    gate.resolve()
    expect((await answer).status).toBe(503)
  })
})
