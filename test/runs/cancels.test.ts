import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { begin } from '../../src/runs/begin.ts'
import { cancelRun, stopCancelled } from '../../src/runs/cancel.ts'
import { finish } from '../../src/runs/finish.ts'
import { type Ending, settle } from '../../src/runs/settlement.ts'
import { rejectionOf } from '../support/rejection.ts'
import { modelsToml, until } from '../support/runs.ts'
import { usd, type World, world } from '../support/world.ts'
import { settledOf } from './beginner.ts'

setDefaultTimeout(60_000)

let w: World
beforeAll(async () => {
  w = await world({ toml: modelsToml('http://127.0.0.1:9', ['any']) })
})
afterAll(() => w.stop())

const cancelled: Ending = {
  ...{ outcome: 'cancelled', route: '', usage: undefined, usageSource: 'counted' },
  ...{ clamped: false, firstByteAt: null, error: null, output: null },
}

async function start() {
  const { key } = await w.key({ balance: usd })
  const [plan] = w.deps.plans.list
  const model = w.deps.catalogue.get('stub/any')
  if (!plan || !model) throw new Error('no plan or model')
  const caller = { account: key.accountId, suspended: false, plan, chain: [key], key }
  const body = { model: model.id, messages: [{ role: 'user', content: 'hi' }] }
  const rest = { background: false, tags: {}, metadata: {} }
  return begin(w.deps, { caller, model, body, received: body, ...rest })
}
/** A run that another node has in flight. */
async function startElsewhere() {
  const live = await start()
  w.deps.live.remove(live.id)
  w.deps.live.release(live.row.accountId, [live.row.keyId])
  return live
}
const asked = (...ids: string[]) => w.deps.runs.cancelledAmong(ids)

test('a run of this node is stopped, and shown as it ended', async () => {
  const live = await start()
  const shown = cancelRun(w.deps, live.row)
  expect(live.stopped()).toBe('cancelled')
  await finish(w.deps, live, cancelled)
  expect((await shown).status).toBe('cancelled')
})

test('a run of another node is asked to stop, and shown once it ended; then no one is asked', async () => {
  const live = await startElsewhere()
  const shown = cancelRun(w.deps, live.row)
  await until('the wish', async () => (await asked(live.id)).length === 1)
  await settle(w.deps, settledOf(live, cancelled))
  expect((await shown).status).toBe('cancelled')
  expect(await asked(live.id)).toEqual([])
})

test('a run of another node that does not end is shown as it is, and goes on being asked', async () => {
  const live = await startElsewhere()
  let monotonic = 0
  const pass = () => {
    monotonic += 2500
    return monotonic
  }
  const clock = { ...w.deps.clock, monotonic: pass }
  const shown = await cancelRun({ ...w.deps, clock }, live.row)
  expect([shown.status, shown.finishedAt]).toEqual(['running', null])
  expect(await asked(live.id)).toEqual([live.id])
  await settle(w.deps, settledOf(live, cancelled))
})

test('409 conflict: a run that ended, which no one is asked to stop', async () => {
  const live = await start()
  const { run } = await finish(w.deps, live, cancelled)
  expect(await rejectionOf(cancelRun(w.deps, run))).toMatchObject({
    type: 'conflict',
    message: expect.stringContaining('cancelled'),
  })
  expect(await asked(live.id)).toEqual([])
})

test('of the runs of a node those are stopped that it is asked to stop, once', async () => {
  const [one, other] = [await start(), await start()]
  await stopCancelled(w.deps)
  expect([one.stopped(), other.stopped()]).toEqual([undefined, undefined])
  await w.deps.runs.askToCancel(one.id)
  await stopCancelled(w.deps)
  expect([one.stopped(), other.stopped()]).toEqual(['cancelled', undefined])
  expect(await asked(one.id, other.id)).toEqual([])
  for (const live of [one, other]) await finish(w.deps, live, cancelled)
})
