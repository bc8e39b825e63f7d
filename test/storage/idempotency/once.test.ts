import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import {
  type Call,
  callRowOf,
  type Reply,
  replyMax,
} from '../../../src/storage/idempotency/call.ts'
import { freeCalls } from '../../../src/storage/idempotency/store.ts'
import { answerOnce, callOf } from '../../../src/web/http/answer-once.ts'
import { readIdempotencyKey } from '../../../src/web/http/idempotency-key.ts'
import { newAccount } from '../../ledger/office.ts'
import { type World, world } from '../../support/world.ts'

setDefaultTimeout(60_000)

const start = Date.UTC(2026, 0, 1)
const day = 86_400_000
const reply: Reply = { status: 201, headers: { 'x-a': 'b' }, body: '{"made":1}' }

let w: World
beforeAll(async () => {
  w = await world({ now: start })
})
afterAll(() => w.stop())

let made = 0
const freshCall = (body = 'a'): Call => ({
  scope: `scope ${++made}`,
  fingerprint: w.deps.replies.fingerprint(body),
})
/** Notes a call as the command does that makes something of it. */
const note = async (call: Call, answer: Reply | undefined, runId: string | null = null) => {
  const account = newAccount()
  await w.deps.ledger.post({ account, opens: true, keys: [], decide: () => {} })
  await w.deps.ledger.post({
    ...{ account, keys: [], call: call.scope },
    decide: (unit) => unit.addCall({ ...callRowOf(w.deps, call, answer, unit.now), runId }),
  })
}
/** What a route answers: `status made?` or the type of its refusal, and how often it was made. */
async function ask(call: Call | undefined, make: () => Promise<string> = async () => 'new') {
  let count = 0
  const context = { set: { headers: { 'x-request-id': 'req_1' } as Record<string, unknown> } }
  const counted = () => {
    count++
    return make()
  }
  try {
    const answer = await answerOnce(w.deps, context, call, counted)
    if (!(answer instanceof Response)) return [answer, count]
    const headers = ['x-request-id', 'x-a', 'idempotent-replayed']
    const told = headers.map((name) => answer.headers.get(name))
    return [answer.status, await answer.text(), told, count]
  } catch (error) {
    if (!(error instanceof Refusal)) return [String(error), count]
    return [error.type, error.message, count]
  }
}
const replayed = [201, '{"made":1}', ['req_1', 'b', 'true']]

describe('a call', () => {
  test('is one only with an Idempotency-Key, by caller, place and key', () => {
    const asked = (key: string | null, who = 'key_1', route = 'POST /v1/runs', text = '{}') => {
      const request = new Request('http://a', { headers: key ? { 'idempotency-key': key } : {} })
      return callOf(w.deps, { request, who, route, text })
    }
    expect(asked(null)).toBeUndefined()
    expect(readIdempotencyKey(new Headers())).toBeUndefined()
    const one = asked('a')
    expect(one).toEqual(asked('a'))
    const others = [asked('b'), asked('a', 'key_2'), asked('a', 'key_1', 'POST /v1/keys')]
    expect(new Set([one, ...others].map((call) => call?.scope)).size).toBe(4)
    const body = asked('a', 'key_1', 'POST /v1/runs', '{ }')
    expect([body?.scope === one?.scope, body?.fingerprint === one?.fingerprint]).toEqual([
      true,
      false,
    ])
  })

  test('that is none is made each time', async () => {
    expect([await ask(undefined), await ask(undefined)]).toEqual([
      ['new', 1],
      ['new', 1],
    ])
  })

  test('that no one made is made; one that was made is answered as it was', async () => {
    const call = freshCall()
    expect(await ask(call)).toEqual(['new', 1])
    await note(call, reply)
    expect(await ask(call)).toEqual([...replayed, 0])
  })

  test('stays made for a day, to the millisecond', async () => {
    const call = freshCall()
    await note(call, reply)
    w.advance(day - 1)
    expect(await ask(call)).toEqual([...replayed, 0])
    w.advance(1)
    expect(await ask(call)).toEqual(['new', 1])
  })

  test('that another one made meanwhile gets the answer of that one, if it is there', async () => {
    const busy = () => Promise.reject(new Refusal('idempotency_in_progress'))
    const call = freshCall()
    const raced = ask(call, async () => {
      await note(call, reply)
      return busy()
    })
    expect(await raced).toEqual([...replayed, 1])
    const [type, , count] = await ask(freshCall(), busy)
    expect([type, count]).toEqual(['idempotency_in_progress', 1])
  })

  test('that is refused or breaks is refused as it was, also when an answer is there by then', async () => {
    for (const error of [new Refusal('not_found'), new Error('a bug')]) {
      const call = freshCall()
      const asked = await ask(call, async () => {
        await note(call, reply)
        throw error
      })
      expect([asked[0], asked.at(-1)]).toEqual([
        error instanceof Refusal ? error.type : 'Error: a bug',
        1,
      ])
    }
  })
})

describe('an answer', () => {
  test('is kept up to four mebi of characters', async () => {
    expect(replyMax).toBe(4 * 1024 * 1024)
    expect(replyMax).toBe(4_194_304)
  })

  test('that is not kept says so, and names the run where there is one', async () => {
    const none = { ...reply, body: null }
    const [plain, run] = [freshCall(), freshCall()]
    await note(plain, none)
    await note(run, none, 'run_1')
    expect(await ask(plain)).toEqual([
      'conflict',
      'This call was made, but its answer is not stored. Use a new Idempotency-Key.',
      0,
    ])
    expect((await ask(run))[1]).toContain('not stored. GET /v1/runs/run_1 says how it ended. Use')
  })
})

describe('what is kept of calls', () => {
  const scopes = async () => {
    const { idempotentCalls } = w.db.tables
    const all = await w.db.read((q) => rows(q.select().from(idempotentCalls)))
    return all.map(({ scope }) => scope)
  }

  test('goes when it was kept long enough, and nothing else does', async () => {
    await w.deps.calls.dropPast(w.deps.clock.now() + 2 * day)
    expect(await scopes()).toEqual([])
    await w.deps.calls.dropPast(w.deps.clock.now() + 2 * day)
    const [old, young] = [freshCall(), freshCall()]
    await note(old, reply)
    w.advance(1)
    await note(young, reply)
    await w.deps.calls.dropPast(w.deps.clock.now() - 1 + day)
    expect(await scopes()).toEqual([young.scope])
  })

  test('is freed with the runs that were begun, and with no others', async () => {
    const [one, other] = [freshCall(), freshCall()]
    await note(one, undefined, 'run_a')
    await note(other, undefined, 'run_b')
    const before = (await scopes()).length
    await w.db.write((q) => freeCalls(q, w.db.tables, []))
    expect((await scopes()).length).toBe(before)
    await w.db.write((q) => freeCalls(q, w.db.tables, ['run_a']))
    expect(await scopes()).not.toContain(one.scope)
    expect(await scopes()).toContain(other.scope)
  })
})
