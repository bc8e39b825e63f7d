import { describe, expect, test } from 'bun:test'
import { toUsd } from '../../src/kernel/money.ts'
import { rows } from '../../src/storage/db/query-steps.ts'
import { allRuns, expectSettled, modelsToml, moneyOf } from '../support/runs.ts'
import { type StubHandler, startStubUpstream } from '../support/stub-upstream.ts'
import { engines, testAccount, usd, type World, world } from '../support/world.ts'

const asked = 1000
const affordable = 50
const body = {
  model: 'stub/chat',
  messages: [{ role: 'user', content: 'go' }],
  max_tokens: 50,
}

/** Reports exactly the bound of the request, so that every run costs what it held. */
const greedy: StubHandler = (_, response) => {
  const choices = [
    { index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' },
  ]
  const usage = { prompt_tokens: boundInput, completion_tokens: body.max_tokens }
  response.end(JSON.stringify({ choices, usage }))
}
/** Bytes of what goes upstream, and the overhead of a message and of a request. */
const boundInput = Buffer.byteLength(JSON.stringify({ messages: body.messages })) + 16 + 64
const cost = BigInt(boundInput * 1_000 + body.max_tokens * 2_000)
const budget = cost * BigInt(affordable)

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

async function runAll(w: World, secrets: string[]) {
  const answers = await Promise.all(
    Array.from({ length: asked }, async (_, index) => {
      const key = secrets[index % secrets.length] ?? ''
      const answer = await w.call('/v1/chat/completions', { key, json: body })
      const { status, headers } = answer
      return { status, headers, body: await answer.json() }
    }),
  )
  return {
    paid: answers.filter(({ status }) => status === 200),
    refused: answers.filter(({ status }) => status === 402),
  }
}

/** What was spent: as the journal, the key and all the runs have it. */
async function expectSpent(w: World) {
  await expectSettled(w)
  const moved = await w.db.read((q) => rows(q.select().from(w.db.views.journal)))
  const paid = moved.filter(({ kind }) => kind === 'run')
  expect(paid).toHaveLength(affordable)
  expect(paid.reduce((sum, { amount }) => sum + amount, 0n)).toBe(budget)
  expect((await allRuns(w)).map((run) => run.status)).toEqual(Array(affordable).fill('succeeded'))
}

const expected = {
  required_nusd: Number(cost),
  required_usd: toUsd(cost),
  available_usd: expect.any(String),
  held_nusd: expect.any(Number),
  held_usd: expect.any(String),
  resets_at: null,
  top_up_url: expect.stringMatching(/^http:.*\/dashboard\/deposits$/),
}

/** Waiting is advised only where runs that go on hold enough of the purse. */
function expectHint(headers: Headers, { error }: { error: { metadata: Record<string, number> } }) {
  const { held_nusd = 0, available_nusd = 0 } = error.metadata
  const isAdvised = headers.get('x-should-retry') === 'true'
  expect(headers.get('retry-after') !== null).toBe(isAdvised)
  if (isAdvised) expect(held_nusd + available_nusd).toBeGreaterThanOrEqual(Number(cost))
}

for (const engine of engines) {
  describe(`1,000 runs at once, 50 affordable, on ${engine}`, async () => {
    const stub = await startStubUpstream({ handler: greedy })
    const toml = `${modelsToml(stub.url, ['chat'])}[limits]\nadmission = 2000\n`
    const start = () => world({ engine, toml })
    const stop = async (w: World) => {
      await w.stop()
      stub.calls.length = 0
    }

    test('through one key the balance pays exactly 50 and refuses the rest', async () => {
      const w = await start()
      const { secret } = await w.key({ balance: budget })
      const check = watchMoney(w, [secret, secret], budget)
      const { paid, refused } = await runAll(w, [secret])
      await check()
      expect([paid.length, refused.length]).toEqual([affordable, asked - affordable])
      expect(stub.calls).toHaveLength(affordable)
      for (const { headers, body: answer } of refused) {
        expectHint(headers, answer)
        expect(answer.error).toMatchObject({ type: 'insufficient_balance', param: null })
        const { available_nusd, max_affordable_output_tokens, ...rest } = answer.error.metadata
        expect(rest).toEqual({ ...expected, limited_by: 'balance', blocking_key_id: null })
        expect(available_nusd).toBeGreaterThanOrEqual(0)
        expect(available_nusd).toBeLessThan(Number(cost))
        expect(max_affordable_output_tokens).toBeLessThan(body.max_tokens)
      }
      await expectSpent(w)
      expect(await moneyOf(w, secret)).toMatchObject({ balance_nusd: 0, held_nusd: 0 })
      await stop(w)
    }, 30_000)

    test('through 20 children of one parent the balance pays exactly 50', async () => {
      const w = await start()
      const parent = await w.key({ balance: budget })
      const children = await childrenOf(w, parent.key.id)
      const secrets = children.map(({ secret }) => secret)
      const check = watchMoney(w, [parent.secret, secrets[0] ?? ''], budget)
      const { paid, refused } = await runAll(w, secrets)
      await check()
      expect([paid.length, refused.length]).toEqual([affordable, asked - affordable])
      expect(new Set(refused.map(({ body }) => body.error.metadata.limited_by))).toEqual(
        new Set(['balance']),
      )
      await expectSpent(w)
      const { cap } = await (await w.call('/v1/keys/self', { key: parent.secret })).json()
      expect(cap).toMatchObject({ spent_nusd: Number(budget), held_nusd: 0 })
      await stop(w)
    }, 30_000)

    test('through 20 children the cap of their parent binds, and is named', async () => {
      const w = await start()
      const parent = await w.key({ balance: 10n * usd, capLimit: budget })
      const children = await childrenOf(w, parent.key.id, budget)
      const secrets = children.map(({ secret }) => secret)
      const check = watchMoney(w, [parent.secret, secrets[0] ?? ''], budget)
      const { paid, refused } = await runAll(w, secrets)
      await check()
      expect([paid.length, refused.length]).toEqual([affordable, asked - affordable])
      for (const { headers, body: answer } of refused) {
        expectHint(headers, answer)
        expect(answer.error.type).toBe('cap_exceeded')
        expect(answer.error.metadata).toEqual({
          ...expected,
          limited_by: 'ancestor',
          blocking_key_id: parent.key.id,
          available_nusd: expect.any(Number),
          max_affordable_output_tokens: expect.any(Number),
        })
      }
      await expectSpent(w)
      const money = await moneyOf(w, parent.secret)
      expect(money.balance_nusd).toBe(Number(10n * usd - budget))
      await stop(w)
      await stub.stop()
    }, 30_000)
  })
}

const childrenOf = (w: World, parentId: string, capLimit = usd) =>
  Promise.all(Array.from({ length: 20 }, () => w.key({ account: testAccount, parentId, capLimit })))
