import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ServerResponse } from 'node:http'
import { auditStore } from '../../src/ledger/store/audit.ts'
import { dropPastBrakes } from '../../src/ledger/store/brakes.ts'
import { stopForbidden } from '../../src/runs/stop-forbidden.ts'
import { rows } from '../../src/storage/db/sql/query-steps.ts'
import { promise } from '../support/promise.ts'
import { lastRun, modelToml, until, upstreamToml } from '../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'
import { engines, usd, type World, world } from '../support/world.ts'

const minute = 60_000
const answer = (usage: object) =>
  JSON.stringify({
    choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
    usage,
  })
const little = { prompt_tokens: 2, completion_tokens: 1 }
/** More than a run can hold, so that it costs its hold. */
const much = { prompt_tokens: 9000, completion_tokens: 100 }

describe.each(engines)('the brake of a key, on %s', (engine) => {
  let w: World
  let stub: StubUpstream
  /** Answers that wait; `isHeld` keeps them waiting. */
  const waiting: ServerResponse[] = []
  let isHeld = false
  let usage = little
  const say = (response: ServerResponse) => response.end(answer(usage))
  /** Spends all that a run holds. */
  const spend = async (key: string) => {
    usage = much
    expect((await ask(key)).status).toBe(200)
    usage = little
  }

  beforeAll(async () => {
    stub = await startStubUpstream({
      handler: (_, response) => {
        if (isHeld) waiting.push(response)
        else say(response)
      },
    })
    w = await world({
      engine,
      now: Date.UTC(2026, 10, 1, 12, 0, 30),
      toml: upstreamToml('stub', stub.url) + modelToml('stub/any', '"stub:any"'),
    })
  })
  afterAll(async () => {
    expect(await auditStore(w.db).faults(w.deps.clock.now())).toEqual([])
    await w.stop()
    await stub.stop()
  })

  const release = () => {
    isHeld = false
    for (const response of waiting.splice(0)) say(response)
  }
  const ask = (key: string, max_tokens = 100) => {
    const json = { model: 'stub/any', max_tokens, messages: [{ role: 'user', content: 'hi' }] }
    return w.call('/v1/chat/completions', { key, json })
  }
  /** What such a run holds at most. */
  async function holdOf(key: string): Promise<bigint> {
    expect((await ask(key)).status).toBe(200)
    return (await lastRun(w)).hold
  }
  const keyRow = async (id: string) => {
    const found = await w.deps.keys.find(id)
    if (!found) throw new Error('the key is gone')
    return found
  }

  promise`D34 H: A key and those below it hold no more in a minute or an hour than its brake allows,
    and only a hold that every cap allows pulls it.`
  promise`T6`
  test('holds at a rate, exactly, under a thousand calls at once; what is spent of it pauses the key', async () => {
    const hold = await holdOf((await w.key({ balance: 100n * usd })).secret)
    const { key, secret } = await w.key({ brakeMinute: hold * 10n + hold / 2n })
    isHeld = true
    // PGlite takes one hold after the other.
    const count = engine === 'pglite' ? 200 : 1000
    const asked = Array.from({ length: count }, () => ask(secret))
    const refused: { status: number; body: { error: Record<string, unknown> } }[] = []
    for (const answer of asked) {
      void answer.then(async (got) => {
        if (got.status !== 200) refused.push({ status: got.status, body: await got.json() })
      })
    }
    await until('all others to be refused', () => refused.length === count - 10, 30_000)
    expect(waiting).toHaveLength(10)
    const statuses = new Set(refused.map(({ status, body }) => `${status} ${body.error['type']}`))
    // Some found the account at its limit of concurrent runs or of what is admitted.
    expect(statuses).toContain('429 rate_limited')
    expect([...statuses].filter((one) => !/^(429|503) /.test(one))).toEqual([])
    expect((await keyRow(key.id)).pausedAt).toBeNull()
    usage = much
    release()
    await Promise.all(asked)
    usage = little
    const further = await Promise.all(Array.from({ length: 20 }, () => ask(secret)))
    expect(further.map(({ status }) => status).filter((status) => status !== 200)).toContain(403)
    const paused = await keyRow(key.id)
    expect([paused.pausedReason, paused.pausedAt]).toEqual(['brake', w.deps.clock.now()])
    const { audits } = { audits: w.db.tables.auditEntries }
    const entries = await w.db.read((q) => rows(q.select().from(audits)))
    const pulled = entries.filter(({ actor, subject }) => actor === 'brake' && subject === key.id)
    expect(pulled.map(({ action }) => action)).toEqual(['key.pause'])

    const { error } = await (await ask(secret)).json()
    expect(error).toMatchObject({
      type: 'key_paused',
      metadata: { paused_reason: 'brake', blocking_key_id: key.id },
    })
  })

  test('the owner resumes it, and the next minute has its own room', async () => {
    const { key: owner, secret: above } = await w.key({ scopes: ['keys:mint', 'runs:write'] })
    const hold = await holdOf(above)
    const minted = await w.call('/v1/keys', {
      key: above,
      json: {
        name: 'braked',
        cap: { limit_nusd: Number(usd) },
        limits: { brake: { nusd_per_minute: Number(hold) } },
      },
    })
    const { id, secret, limits, parent_id } = await minted.json()
    expect(parent_id).toBe(owner.id)
    expect(limits.brake).toEqual({
      nusd_per_minute: Number(hold),
      nusd_per_hour: null,
      running: 'finish',
    })
    await spend(secret)
    expect((await ask(secret)).status).toBe(403)
    expect((await w.call(`/v1/keys/${id}/resume`, { method: 'POST', key: above })).status).toBe(200)
    // The same minute is spent: the brake is pulled again.
    expect((await ask(secret)).status).toBe(403)
    w.advance(minute)
    const resumed = await w.call(`/v1/keys/${id}/resume`, { method: 'POST', key: above })
    expect(await resumed.json()).toMatchObject({ status: 'usable', paused_reason: null })
    expect((await ask(secret)).status).toBe(200)
  })

  promise`D34`
  test('counts the keys below together, and pauses the key that has it', async () => {
    const hold = await holdOf((await w.key()).secret)
    const { key } = await w.key({ brakeHour: hold * 2n, name: 'of the owner alone' })
    const [one, two] = [await w.key({ parentId: key.id }), await w.key({ parentId: key.id })]
    expect((await ask(one.secret)).status).toBe(200)
    // What the first left of its hold is free again.
    expect((await ask(two.secret)).status).toBe(200)
    const { windowStart, spent, held } = w.db.tables.keyWindows
    const counted = await w.db.read((q) =>
      rows(
        q
          .select({ keyId: w.db.tables.keyWindows.keyId, windowStart, spent, held })
          .from(w.db.tables.keyWindows),
      ),
    )
    const hour = counted.filter((row) => row.keyId === key.id && row.windowStart > 0)
    expect(hour.map((row) => [row.spent, row.held])).toEqual([[2n * (await lastRun(w)).cost, 0n]])
    await spend(one.secret)
    const refused = async () => {
      for (;;) {
        const answer = await ask(two.secret)
        if (answer.status !== 200) return answer.text()
      }
    }
    // The name of a key above may not be for those below it.
    for (const text of [await refused(), await refused()]) {
      expect(text).toContain(key.id)
      expect(text).not.toContain('of the owner alone')
    }
    expect((await keyRow(key.id)).pausedReason).toBe('brake')
    expect((await keyRow(two.key.id)).pausedAt).toBeNull()
    expect((await ask(one.secret)).status).toBe(403)
  })

  test('a run that alone would pass it is refused and pauses nothing', async () => {
    const hold = await holdOf((await w.key()).secret)
    const { key, secret } = await w.key({ brakeMinute: hold - 1n })
    const answer = await ask(secret)
    expect(answer.status).toBe(402)
    expect((await answer.json()).error).toMatchObject({
      type: 'cap_exceeded',
      metadata: { limited_by: 'brake', limit_nusd: Number(hold) - 1, span: 'minute' },
    })
    expect((await keyRow(key.id)).pausedAt).toBeNull()
  })

  promise`T6 H: The brake pauses a key by what was spent; held money only delays.`
  test('runs that hold much and pay little delay others of the branch, and pause nothing', async () => {
    const hold = await holdOf((await w.key()).secret)
    const { key, secret } = await w.key({ brakeMinute: hold * 2n - 1n })
    const below = await w.key({ parentId: key.id })
    isHeld = true
    const running = ask(below.secret)
    await until('the run', () => waiting.length === 1)
    const delayed = await ask(secret)
    const { error } = await delayed.json()
    expect([delayed.status, error.type, error.metadata.limited_by]).toEqual([
      ...[429, 'rate_limited', 'brake'],
    ])
    expect(error.metadata.paused_reason).toBeUndefined()
    expect(delayed.headers.get('retry-after')).toBe('5')
    release()
    expect((await running).status).toBe(200)
    for (let i = 0; i < 20; i++) expect((await ask(secret)).status).toBe(200)
    expect((await keyRow(key.id)).pausedAt).toBeNull()
  })

  promise`D34`
  test('a hold that a cap below refuses anyway pauses no key above', async () => {
    const hold = await holdOf((await w.key()).secret)
    const { key, secret } = await w.key({ brakeMinute: hold * 2n - 1n })
    const below = await w.key({ parentId: key.id, capLimit: hold - 1n })
    isHeld = true
    const running = ask(secret)
    await until('the run', () => waiting.length === 1)
    const refused = await ask(below.secret)
    expect([refused.status, (await refused.json()).error.metadata.limited_by]).toEqual([402, 'key'])
    expect((await keyRow(key.id)).pausedAt).toBeNull()
    release()
    expect((await running).status).toBe(200)
  })

  promise`D34`
  test('a run of it gives back one place, so that concurrency stays limited', async () => {
    const { secret } = await w.key({ concurrency: 2, brakeMinute: usd, brakeHour: usd })
    isHeld = true
    const running = [ask(secret), ask(secret)]
    await until('two runs', () => waiting.length === 2)
    say(waiting.shift() as ServerResponse)
    await Promise.race(running)
    running.push(ask(secret))
    await until('the next run', () => waiting.length === 2)
    const beyond = ask(secret)
    const answer = await Promise.race([beyond, until('a fourth run', () => waiting.length === 3)])
    release()
    expect(answer instanceof Response && answer.status).toBe(429)
    await Promise.all([...running, beyond])
  })

  test('open runs finish, or are stopped where the owner chose it', async () => {
    const hold = await holdOf((await w.key()).secret)
    for (const [brakeRunning, status] of [
      ['finish', 200],
      ['stop', 403],
    ] as const) {
      const { secret } = await w.key({ brakeMinute: hold * 2n - 1n, brakeRunning })
      await spend(secret)
      isHeld = true
      const running = ask(secret, 1)
      await until('the run', () => waiting.length === 1)
      expect((await ask(secret)).status).toBe(403)
      await stopForbidden(w.deps)
      if (brakeRunning === 'finish') release()
      const answer = await running
      expect([brakeRunning, answer.status]).toEqual([brakeRunning, status])
      release()
    }
  })

  test('a change replaces it whole, and null takes it off', async () => {
    const { secret: above } = await w.key({ scopes: ['keys:mint', 'keys:read'] })
    const json = { name: 'below', cap: { limit_nusd: 1_000_000 } }
    const { id } = await (await w.call('/v1/keys', { key: above, json })).json()
    const change = async (brake: object | null) => {
      const answer = await w.call(`/v1/keys/${id}`, {
        method: 'PATCH',
        key: above,
        json: { limits: { brake } },
      })
      return [answer.status, await answer.json()]
    }
    const [, first] = await change({ nusd_per_hour: 5000, running: 'stop' })
    expect(first.limits.brake).toEqual({
      nusd_per_minute: null,
      nusd_per_hour: 5000,
      running: 'stop',
    })
    const [status, wrong] = await change({ nusd_per_hour: 0 })
    expect([status, wrong.error.param]).toEqual([400, 'limits.brake.nusd_per_hour'])
    const [, none] = await change(null)
    expect(none.limits.brake).toBeNull()
  })

  test('what it counted is deleted hours later, and the books still balance', async () => {
    const counted = async () => {
      const { keyWindows } = w.db.tables
      const found = await w.db.read((q) => rows(q.select().from(keyWindows)))
      return found.filter(({ windowStart }) => windowStart > 0).length
    }
    const { secret } = await w.key({ balance: usd, brakeHour: usd })
    expect((await ask(secret)).status).toBe(200)
    expect(await counted()).toBeGreaterThan(3)
    w.advance(3 * 60 * minute)
    await dropPastBrakes(w.db, w.deps.clock.now())
    expect(await counted()).toBe(0)
    // A clock that was wrong and is right again comes to the same hour a second time.
    w.advance(-3 * 60 * minute)
    expect((await ask(secret)).status).toBe(200)
    expect(await auditStore(w.db).faults(w.deps.clock.now())).toEqual([])
  })
})
