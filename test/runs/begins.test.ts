import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { revokeKey } from '../../src/access/keys/revoke.ts'
import { maxNusd } from '../../src/kernel/money.ts'
import { onceOf } from '../../src/ledger/once.ts'
import { openLedger } from '../../src/ledger/post.ts'
import { endAbandoned } from '../../src/runs/end-abandoned.ts'
import { finish } from '../../src/runs/finish.ts'
import type { OpenedRun } from '../../src/runs/opening.ts'
import { settle } from '../../src/runs/settlement.ts'
import { storeOpenRuns } from '../../src/runs/store-open.ts'
import { rows } from '../../src/storage/db/sql/query-steps.ts'
import { outcomeOf } from '../support/rejection.ts'
import { allRuns } from '../support/runs.ts'
import { usd, type World, world } from '../support/world.ts'
import {
  type Beginner,
  beginnerOf,
  beginnerToml,
  endingOf,
  settledOf,
  type TestCaller,
} from './beginner.ts'

setDefaultTimeout(60_000)

const toml = `${beginnerToml}
[[plans]]
id = "narrow"
price_nusd = 1
models = ["other/*"]
`

let w: World
let by: Beginner
beforeAll(async () => {
  w = await world({ toml })
  by = beginnerOf(w)
})
afterAll(() => w.stop())

const modelOf = (id: string) => by.modelOf(id)
const callerOf = () => by.callerOf()
const start = (...wish: Parameters<Beginner['start']>) => by.start(...wish)
const heldBy = (caller: TestCaller) => by.heldBy(caller)
const refusedAs = async (asked: Promise<unknown>) => {
  try {
    await asked
    return 'nothing'
  } catch (error) {
    return (error as { type?: string }).type ?? String(error)
  }
}

describe('a run does not begin', () => {
  /** It was refused as told, holds nothing, takes no place, and leaves nothing to settle. */
  const expectNone = async (caller: TestCaller, asked: Promise<unknown>, type: string) => {
    expect(await refusedAs(asked)).toBe(type)
    expect([await heldBy(caller), w.deps.live.count()]).toEqual([0n, 0])
    const own = (await allRuns(w)).filter(({ accountId }) => accountId === caller.account)
    expect(own).toEqual([])
  }

  test('while the log is another than was signed', async () => {
    const caller = await callerOf()
    const deps = { ...w.deps, health: { ...w.deps.health, log: 'diverged' as const } }
    await expectNone(caller, start(caller, {}, deps), 'log_diverged')
  })

  test('where no balance could hold what it can cost; what is fitted may cost one token', async () => {
    const caller = await callerOf()
    const body = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 1000 }
    const gold = { model: modelOf('stub/gold'), body }
    await expectNone(caller, start(caller, gold), 'invalid_request')
    // A thousand tokens of it cost the nine million dollars that are the most, and one 9,000.
    await expectNone(caller, start(caller, { ...gold, fit: true }), 'cap_exceeded')
  })

  test.each([
    ['just what a balance may hold', { max_tokens: 1 }, false, 'cap_exceeded'],
    ['a token more', { max_tokens: 2 }, false, 'invalid_request'],
    ['just that where one token fits', { max_tokens: 1000 }, true, 'cap_exceeded'],
  ])('that would cost %s', async (_, more, fit, type) => {
    const caller = await callerOf()
    const prices = { inputPusd: 0n, outputPusd: 5000n, requestNusd: maxNusd - 5n }
    const body = { messages: [{ role: 'user', content: 'hi' }], ...more }
    const model = { ...modelOf('stub/any'), prices }
    await expectNone(caller, start(caller, { model, body, fit }), type)
  })

  test('with a key that was revoked after it was looked up', async () => {
    const caller = await callerOf()
    await revokeKey(w.deps, { keyId: caller.key.id, actor: 'test' })
    await expectNone(caller, start(caller), 'key_revoked')
  })

  test('with a key that is not there', async () => {
    const caller = await callerOf()
    const key = { ...caller.key, lineage: ['key_none'] }
    await expectNone(caller, start({ ...caller, key }), 'invalid_key')
  })

  test('of a model that a key of its chain does not open', async () => {
    const caller = await callerOf()
    const above = { ...caller.key, models: ['other/*'] }
    await expectNone(caller, start({ ...caller, chain: [caller.key, above] }), 'model_not_allowed')
  })

  test('of a model all of whose upstreams rest', async () => {
    const caller = await callerOf()
    const breaker = () => ({ state: 'open' as const, retryAfterMs: 5 })
    const one = w.deps.upstreams.get('stub') ?? expect.unreachable()
    const upstreams = { ...w.deps.upstreams, get: () => ({ ...one, breaker }) }
    await expectNone(caller, start(caller, {}, { ...w.deps, upstreams }), 'unavailable')
  })

  test('of an account that was suspended after it was looked up', async () => {
    const caller = await callerOf()
    const { accounts } = w.db.tables
    const set = { status: 'suspended' } as const
    const own = eq(accounts.id, caller.account)
    await w.db.write((q) => rows(q.update(accounts).set(set).where(own).returning()))
    const deps = { ...w.deps, ledger: openLedger(w.db, w.deps.clock) }
    await expectNone(caller, start(caller, {}, deps), 'account_suspended')
  })

  test('of a model that the plan of this moment does not open', async () => {
    const caller = await callerOf()
    const { accounts } = w.db.tables
    const set = { plan: 'narrow' }
    const own = eq(accounts.id, caller.account)
    await w.db.write((q) => rows(q.update(accounts).set(set).where(own).returning()))
    const deps = { ...w.deps, ledger: openLedger(w.db, w.deps.clock) }
    await expectNone(caller, start(caller, {}, deps), 'model_not_allowed')
  })

  test('twice with one Idempotency-Key', async () => {
    const caller = await callerOf()
    const call = { scope: `call of ${caller.account}`, fingerprint: 'f' }
    const once = onceOf<OpenedRun>(w.deps, call, () => undefined)
    const live = await start(caller, { once })
    const held = await heldBy(caller)
    expect(await refusedAs(start(caller, { once }))).toBe('idempotency_in_progress')
    expect([await heldBy(caller), w.deps.live.count()]).toEqual([held, 1])
    await finish(w.deps, live, endingOf())
    expect(await refusedAs(start(caller, { once }))).toBe('idempotency_in_progress')
  })

  test('and a refusal leaves nothing to be settled later', async () => {
    const caller = await callerOf()
    let asked = 0
    const find: typeof w.deps.runs.find = (id) => {
      asked++
      return w.deps.runs.find(id)
    }
    const runs = { ...w.deps.runs, find }
    const deps = { ...w.deps, runs }
    expect(
      await refusedAs(start({ ...caller, key: { ...caller.key, lineage: ['x'] } }, {}, deps)),
    ).toBe('invalid_key')
    await w.deps.live.settleAgain()
    expect(asked).toBe(0)
  })
})

describe('a run that began', () => {
  test('keeps what it was given only where its account wants that', async () => {
    for (const retention of ['none', '24h'] as const) {
      const caller = await callerOf()
      const audit = () => ({
        ...{ id: `audit ${caller.account}`, at: 0, actor: 'test', action: 'test' },
        ...{ accountId: caller.account, subject: '', detail: {} },
      })
      await w.deps.texts.setRetention(caller.account, retention, w.deps.clock.now(), audit)
      const live = await start(caller)
      const isKept = retention !== 'none'
      expect(live.received !== undefined).toBe(isKept)
      await finish(w.deps, live, endingOf())
      expect((await w.deps.texts.find(live.id)) !== undefined).toBe(isKept)
    }
  })

  test('says the passport of its own key, not of the one above', async () => {
    const caller = await callerOf()
    const { key } = await w.key({ account: caller.account, parentId: caller.key.id })
    const { keys } = w.db.tables
    await w.db.write(function* (q) {
      for (const { id } of [caller.key, key]) {
        const passport = `passport of ${id}`
        yield* rows(q.update(keys).set({ passport }).where(eq(keys.id, id)).returning())
      }
    })
    const deps = { ...w.deps, ledger: openLedger(w.db, w.deps.clock) }
    const live = await start({ ...caller, chain: [key, caller.key], key }, {}, deps)
    expect(live.row.passport).toBe(`passport of ${key.id}`)
    await finish(deps, live, endingOf())
  })

  test('ends once: a second end is refused, and charges nothing', async () => {
    const caller = await callerOf()
    const live = await start(caller)
    const { cost } = (await finish(w.deps, live, endingOf())).run
    const again = settle(w.deps, settledOf(live, endingOf()))
    expect(await outcomeOf(again)).toThrow('is not open')
    expect((await w.deps.accounts.find(caller.account))?.balance).toBe(usd - cost)
  })

  test('whose end could not be stored is freed as soon as that can be, uncharged', async () => {
    const caller = await callerOf()
    const live = await start(caller)
    const { post } = w.deps.ledger
    let isFull = true
    const ledger: typeof w.deps.ledger = {
      post: (command) => (isFull ? Promise.reject(new Error('no disk')) : post(command)),
    }
    expect(await outcomeOf(finish({ ...w.deps, ledger }, live, endingOf()))).toThrow('no disk')
    expect([w.deps.live.count(), (await heldBy(caller)) === 0n]).toEqual([0, false])
    isFull = false
    await w.deps.live.settleAgain()
    expect([await heldBy(caller), (await w.deps.accounts.find(caller.account))?.balance]).toEqual([
      0n,
      usd,
    ])
  })

  test('of a model that has no prices any more has no lines, and costs nothing', async () => {
    const caller = await callerOf()
    const live = await start(caller)
    w.deps.live.remove(live.id)
    w.deps.live.release(caller.account, caller.key.lineage)
    const ending = endingOf({ outcome: 'interrupted', usage: undefined })
    const { run } = await settle(w.deps, { ...settledOf(live, ending), prices: undefined })
    expect([run.lines, run.cost, await heldBy(caller)]).toEqual([[], 0n, 0n])
  })

  test('wakes who numbers receipts where its end did not number it', async () => {
    let woken = 0
    const sequencer = { ...w.deps.sequencer, wake: () => void woken++ }
    const numbered = await start(await callerOf())
    await finish({ ...w.deps, sequencer }, numbered, endingOf())
    expect(woken).toBe(0)
    const caller = await callerOf()
    const deps = { ...w.deps, sequencer, ledger: openLedger(w.db, w.deps.clock) }
    const live = await start(caller, {}, deps)
    await finish(deps, live, endingOf())
    expect(woken).toBe(1)
  })
})

describe('runs that a dead process left', () => {
  const leave = async (wish = {}) => {
    const caller = await callerOf()
    const live = await start(caller, wish)
    w.deps.live.remove(live.id)
    w.deps.live.release(caller.account, caller.key.lineage)
    const old = { ...w.deps.clock, now: () => Number.MAX_SAFE_INTEGER }
    await storeOpenRuns({ ...w.deps, clock: old }, w.db.open)
    const { openRuns } = w.db.tables
    const of = eq(openRuns.id, live.id)
    await w.db.write((q) => rows(q.update(openRuns).set({ node: 'dead' }).where(of).returning()))
    return { caller, id: live.id }
  }

  test('are ended, counted and no longer asked to be cancelled', async () => {
    const { caller, id } = await leave()
    await w.deps.runs.askToCancel(id)
    const before = w.logged.length
    expect(await endAbandoned(w.deps)).toBe(1)
    expect(await heldBy(caller)).toBe(0n)
    expect(await w.deps.runs.cancelledAmong([id])).toEqual([])
    expect(w.logged.slice(before)).toMatchObject([
      { event: 'runs.interrupted', fields: { count: 1 } },
    ])
    expect(await endAbandoned(w.deps)).toBe(0)
    expect(w.logged.length).toBe(before + 1)
  })

  test.each([
    ['that ran is as long as it ran', false, 5000, 5000],
    ['that waited is as long as it waited', true, 5000, 5000],
    ['is no shorter than nothing where the clock was set back', false, -5000, 0],
  ])('one %s', async (_, background, passed, durationMs) => {
    const { id } = await leave({ background })
    const begun = (await w.deps.runs.find(id))?.createdAt ?? 0
    const clock = { ...w.deps.clock, now: () => begun + passed }
    expect(await endAbandoned({ ...w.deps, clock })).toBe(1)
    expect(await w.deps.runs.find(id)).toMatchObject({ outcome: 'interrupted', durationMs })
  })

  test('keep their hold where their end cannot be stored, and that is told', async () => {
    const { caller } = await leave()
    const ledger = { post: () => Promise.reject(new Error('no disk')) }
    expect(await outcomeOf(endAbandoned({ ...w.deps, ledger }))).toThrow('no disk')
    expect((await heldBy(caller)) === 0n).toBe(false)
    expect(await endAbandoned(w.deps)).toBe(1)
    expect(await heldBy(caller)).toBe(0n)
  })
})
