import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { onceOf } from '../../src/idempotency/call.ts'
import type { Begun } from '../../src/runs/begin.ts'
import { type Ending, finish } from '../../src/runs/finish.ts'
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

describe('the call that a run was', () => {
  const end = async (ending: Ending) => {
    const caller = await by.callerOf()
    const scope = `call of ${caller.account}`
    const once = onceOf<Begun>(w.deps, { scope, fingerprint: 'f' }, () => undefined)
    const live = await by.start(caller, { once })
    await finish(w.deps, live, ending, ({ receiptId }) => new TextEncoder().encode(receiptId))
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

  test('keeps the answer that it was given before, where its end gives none', async () => {
    const caller = await by.callerOf()
    const scope = `answered ${caller.account}`
    const accepted = { status: 202, headers: {}, body: '{}' }
    const call = { scope, fingerprint: 'f' }
    const once = onceOf<Begun>(w.deps, call, () => accepted)
    const live = await by.start(caller, { once })
    await finish(w.deps, live, endingOf())
    const row = await w.deps.calls.find(scope)
    expect(row && w.deps.replies.answerOf(row, call)).toEqual(accepted)
  })
})
