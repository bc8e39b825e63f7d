import { describe, expect, test } from 'bun:test'
import { toUsd } from '../../src/kernel/money.ts'
import { rows } from '../../src/storage/db/sql/query-steps.ts'
import { chatBefore, nameOf, type Pair, pairs, wiredToml } from '../support/doors.ts'
import { promise } from '../support/promise.ts'
import { allRuns, expectSettled, moneyOf } from '../support/runs.ts'
import { speechAt } from '../support/stub-speech.ts'
import { type StubHandler, startStubUpstream } from '../support/stub-upstream.ts'
import { type Engine, engines, testAccount, usd, type World, world } from '../support/world.ts'

const affordable = 50
const maxTokens = 50

/** Reports more than the bound of the request, so that every run costs what it held. */
const greedy: StubHandler = ({ path }, response) => {
  const usage = { prompt_tokens: 2 ** 40, completion_tokens: 2 ** 40 }
  response.end(JSON.stringify(speechAt(path, 'any').whole('x', usage)))
}

type Case = { engine: Engine; pair: Pair; asked: number }

/** Every engine behind one door, and every other door on SQLite. */
const cases: Case[] = [
  ...engines.map((engine) => ({ engine, pair: chatBefore, asked: 1000 })),
  ...pairs
    .filter((pair) => pair !== chatBefore)
    .map((pair): Case => ({ engine: 'sqlite', pair, asked: 200 })),
]

const bodyFor = ({ door, wire }: Pair) =>
  door.body({ model: `${wire}/chat`, text: 'go', most: maxTokens })

/** What one run holds, as a refusal says it. */
async function costOf(w: World, { door, ...pair }: Pair): Promise<bigint> {
  const { secret } = await w.key({ capLimit: 1n })
  const answer = await w.call(door.path, { key: secret, json: bodyFor({ door, ...pair }) })
  const { error } = await answer.json()
  expect(answer.status).toBe(402)
  return BigInt((error.details ?? error.metadata).required_nusd)
}

type Self = { cap: Record<'limit_nusd' | 'spent_nusd' | 'held_nusd' | 'remaining_nusd', number> }

/** Reads all the time, and keeps what no reader may ever see. */
function watchMoney(w: World, secrets: string[], most: bigint) {
  const wrong: object[] = []
  let reads = 0
  let going = true
  const loop = async (key: string): Promise<void> => {
    while (going) {
      const money = await moneyOf(w, key)
      const self: Self = await (await w.call('/v1/keys/self', { key })).json()
      const { limit_nusd, spent_nusd, held_nusd, remaining_nusd } = self.cap
      const least = Math.min(...Object.values(money).filter((value) => typeof value === 'number'))
      const isOver = spent_nusd + held_nusd > Math.min(limit_nusd, Number(most))
      if (least < 0 || remaining_nusd < 0 || held_nusd < 0 || isOver) wrong.push({ money, self })
      reads++
    }
  }
  const loops = secrets.map(loop)
  return async () => {
    going = false
    await Promise.all(loops)
    expect(wrong).toEqual([])
    expect(reads).toBeGreaterThan(0)
  }
}

async function runAll(w: World, { pair, asked }: Case, secrets: string[]) {
  const answers = await Promise.all(
    Array.from({ length: asked }, async (_, index) => {
      const key = secrets[index % secrets.length] ?? ''
      const answer = await w.call(pair.door.path, { key, json: bodyFor(pair) })
      const { status, headers } = answer
      const { error } = await answer.json()
      return { status, headers, error: error && ourErrorIn(error) }
    }),
  )
  return {
    paid: answers.filter(({ status }) => status === 200),
    refused: answers.filter(({ status }) => status === 402),
  }
}

/** The error of our own shape, which that of Messages has as its details. */
const ourErrorIn = ({ details, ...error }: { details?: Record<string, unknown> }) => {
  if (!details) return error
  const { type, param, code, doc_url, request_id, ...metadata } = details
  return { type, param, metadata }
}

/** What was spent: as the journal, the key and all the runs have it. */
async function expectSpent(w: World, budget: bigint) {
  await expectSettled(w)
  const moved = await w.db.read((q) => rows(q.select().from(w.db.views.journal)))
  const paid = moved.filter(({ kind }) => kind === 'run')
  expect(paid).toHaveLength(affordable)
  expect(paid.reduce((sum, { amount }) => sum + amount, 0n)).toBe(budget)
  expect((await allRuns(w)).map((run) => run.status)).toEqual(Array(affordable).fill('succeeded'))
}

const expectedOf = (cost: bigint) => ({
  required_nusd: Number(cost),
  required_usd: toUsd(cost),
  available_usd: expect.any(String),
  held_nusd: expect.any(Number),
  held_usd: expect.any(String),
  resets_at: null,
  top_up_url: expect.stringMatching(/^http:.*\/dashboard\/deposits$/),
})

/** Waiting is advised only where runs that go on hold enough of the purse. */
function expectHint(
  { headers, error }: { headers: Headers; error: { metadata: Record<string, number> } },
  cost: bigint,
) {
  const { held_nusd = 0, available_nusd = 0 } = error.metadata
  const isAdvised = headers.get('x-should-retry') === 'true'
  expect(headers.get('retry-after') !== null).toBe(isAdvised)
  if (isAdvised) expect(held_nusd + available_nusd).toBeGreaterThanOrEqual(Number(cost))
}

for (const each of cases) {
  const { engine, pair, asked } = each
  const where = `on ${engine}, ${nameOf(pair)}`
  describe(`${asked} runs at once, 50 affordable, ${where}`, async () => {
    const stub = await startStubUpstream({ handler: greedy })
    const toml = `${wiredToml(stub.url, ['chat'])}[limits]\nadmission = 2000\nunfunded_runs = 0\n`
    const start = async () => {
      const w = await world({ engine, toml })
      const cost = await costOf(w, pair)
      return { w, cost, budget: cost * BigInt(affordable) }
    }
    const stop = async (w: World) => {
      await w.stop()
      stub.calls.length = 0
    }

    promise`D2 C: Holds and spending never exceed the balance, under any concurrency.`
    test('through one key the balance pays exactly 50 and refuses the rest', async () => {
      const { w, cost, budget } = await start()
      const { secret } = await w.key({ balance: budget })
      const check = watchMoney(w, [secret, secret], budget)
      const { paid, refused } = await runAll(w, each, [secret])
      await check()
      expect([paid.length, refused.length]).toEqual([affordable, asked - affordable])
      expect(stub.calls).toHaveLength(affordable)
      for (const { headers, error } of refused) {
        expectHint({ headers, error }, cost)
        expect(error).toMatchObject({ type: 'insufficient_balance', param: null })
        const { available_nusd, max_affordable_output_tokens, ...rest } = error.metadata
        expect(rest).toEqual({ ...expectedOf(cost), limited_by: 'balance', blocking_key_id: null })
        expect(available_nusd).toBeGreaterThanOrEqual(0)
        expect(available_nusd).toBeLessThan(Number(cost))
        expect(max_affordable_output_tokens).toBeLessThan(maxTokens)
      }
      await expectSpent(w, budget)
      expect(await moneyOf(w, secret)).toMatchObject({ balance_nusd: 0, held_nusd: 0 })
      await stop(w)
    }, 30_000)

    test('through 20 children of one parent the balance pays exactly 50', async () => {
      const { w, budget } = await start()
      const parent = await w.key({ balance: budget })
      const children = await childrenOf(w, parent.key.id)
      const secrets = children.map(({ secret }) => secret)
      const check = watchMoney(w, [parent.secret, secrets[0] ?? ''], budget)
      const { paid, refused } = await runAll(w, each, secrets)
      await check()
      expect([paid.length, refused.length]).toEqual([affordable, asked - affordable])
      expect(new Set(refused.map(({ error }) => error.metadata.limited_by))).toEqual(
        new Set(['balance']),
      )
      await expectSpent(w, budget)
      const { cap } = await (await w.call('/v1/keys/self', { key: parent.secret })).json()
      expect(cap).toMatchObject({ spent_nusd: Number(budget), held_nusd: 0 })
      await stop(w)
    }, 30_000)

    promise`D32 C: Caps, limits, replays, receipts and endings are those of every door.`
    test('through 20 children the cap of their parent binds, and is named', async () => {
      const { w, cost, budget } = await start()
      const parent = await w.key({ balance: 10n * usd, capLimit: budget })
      const children = await childrenOf(w, parent.key.id, budget)
      const secrets = children.map(({ secret }) => secret)
      const check = watchMoney(w, [parent.secret, secrets[0] ?? ''], budget)
      const { paid, refused } = await runAll(w, each, secrets)
      await check()
      expect([paid.length, refused.length]).toEqual([affordable, asked - affordable])
      for (const { headers, error } of refused) {
        expectHint({ headers, error }, cost)
        expect(error.type).toBe('cap_exceeded')
        expect(error.metadata).toEqual({
          ...expectedOf(cost),
          limited_by: 'ancestor',
          blocking_key_id: parent.key.id,
          available_nusd: expect.any(Number),
          max_affordable_output_tokens: expect.any(Number),
        })
      }
      await expectSpent(w, budget)
      const money = await moneyOf(w, parent.secret)
      expect(money.balance_nusd).toBe(Number(10n * usd - budget))
      await stop(w)
      await stub.stop()
    }, 30_000)
  })
}

const childrenOf = (w: World, parentId: string, capLimit = usd) =>
  Promise.all(Array.from({ length: 20 }, () => w.key({ account: testAccount, parentId, capLimit })))
