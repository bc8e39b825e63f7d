import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { onceOf } from '../../src/ledger/once.ts'
import { finish } from '../../src/runs/finish.ts'
import type { OpenedRun } from '../../src/runs/opening.ts'
import type { Ending, FinishedRun } from '../../src/runs/settlement.ts'
import { type World, world } from '../support/world.ts'
import { type Beginner, beginnerOf, beginnerToml, endingOf } from './beginner.ts'

setDefaultTimeout(60_000)

let w: World
let by: Beginner
beforeAll(async () => {
  w = await world({ toml: beginnerToml })
  by = beginnerOf(w)
})
afterAll(() => w.stop())

test('a run costs nothing until it ended', async () => {
  const live = await by.start(await by.callerOf())
  expect(await w.deps.runs.find(live.id)).toMatchObject({ status: 'running', cost: 0n, lines: [] })
  const { run } = await finish(w.deps, live, endingOf())
  expect([run.status, run.cost > 0n]).toEqual(['succeeded', true])
})

test('a run says how long it took, by a clock that is never set', async () => {
  const live = await by.start(await by.callerOf())
  const clock = { ...w.deps.clock, monotonic: () => live.startedAt + 1234.4 }
  expect((await finish({ ...w.deps, clock }, live, endingOf())).run.durationMs).toBe(1234)
})

test('anyone who watches a run is told about its end, once it is stored', async () => {
  const live = await by.start(await by.callerOf())
  const ended = Promise.withResolvers<unknown>()
  live.watch(async (chunks) => ended.resolve([chunks, (await w.deps.runs.find(live.id))?.status]))
  await finish(w.deps, live, endingOf())
  expect(await ended.promise).toEqual([undefined, 'succeeded'])
})

test('a text that was not to be kept when its run began is not kept at its end', async () => {
  const caller = await by.callerOf()
  const live = await by.start(caller)
  const audit = () => ({
    ...{ id: `audit ${caller.account}`, at: 0, actor: 'test', action: 'test' },
    ...{ accountId: caller.account, subject: '', detail: {} },
  })
  await w.deps.texts.setRetention(caller.account, '24h', w.deps.clock.now(), audit)
  expect((await finish(w.deps, live, endingOf())).run.status).toBe('succeeded')
  expect(await w.deps.texts.find(live.id)).toBeUndefined()
})

test.each([
  ['of a background run, for an hour', true, 'out', 3_600_000],
  ['of no other run', false, 'out', null],
  ['of none that gave none', true, null, null],
])('the output is kept %s', async (_, background, output, keptMs) => {
  const live = await by.start(await by.callerOf(), { background })
  const { run } = await finish(w.deps, live, endingOf({ output }))
  const until = keptMs === null ? null : (run.finishedAt ?? 0) + keptMs
  expect(await w.deps.runs.find(live.id)).toMatchObject({
    output: keptMs === null ? null : output,
    outputUntil: until,
  })
})

describe('the call that a run was', () => {
  const end = async (ending: Ending, model = by.modelOf('stub/any')) => {
    const caller = await by.callerOf()
    const scope = `call of ${caller.account}`
    const once = onceOf<OpenedRun>(w.deps, { scope, fingerprint: 'f' }, () => undefined)
    const live = await by.start(caller, { once, model })
    const reply = ({ receiptId }: FinishedRun) => new TextEncoder().encode(receiptId)
    await finish(w.deps, live, ending, { reply })
    const row = await w.deps.calls.find(scope)
    return row && new TextDecoder().decode(row.reply ?? undefined)
  }
  const receipt: string = expect.stringMatching(/^rcpt_/)

  test.each([
    ['completed', {}, receipt],
    ['completed for nothing', { usage: { inputTokens: 0, outputTokens: 0 } }, receipt],
    ['broke off and was charged', { outcome: 'partial' }, receipt],
    ['failed and cost nothing', { outcome: 'failed', usage: undefined }, undefined],
  ] as [string, Partial<Ending>, string | undefined][])(
    'stays made or is free again where it %s',
    async (_, more, kept) => {
      expect(await end(endingOf(more))).toEqual(kept)
    },
  )

  test('stays made for a nano-dollar too', async () => {
    const prices = { inputPusd: 0n, outputPusd: 1n, requestNusd: 0n }
    const model = { ...by.modelOf('stub/any'), prices }
    expect(await end(endingOf({ outcome: 'partial' }), model)).toEqual(receipt)
  })

  test('keeps the answer that it was given before, where its end gives none', async () => {
    const caller = await by.callerOf()
    const scope = `answered ${caller.account}`
    const accepted = { status: 202, headers: {}, body: '{}' }
    const call = { scope, fingerprint: 'f' }
    const once = onceOf<OpenedRun>(w.deps, call, () => accepted)
    const live = await by.start(caller, { once })
    await finish(w.deps, live, endingOf())
    const row = await w.deps.calls.find(scope)
    expect(row && w.deps.replies.answerOf(row, call)).toEqual(accepted)
  })
})
