import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { endReturned } from '../../src/runs/end-abandoned.ts'
import type { OpenRunRow, RunRow } from '../../src/storage/db/schema/schema.ts'
import { insert } from '../../src/storage/db/sql/query-steps.ts'
import { promise } from '../support/promise.ts'
import { allRuns, lastRun } from '../support/runs.ts'
import { engines, usd, type World, world } from '../support/world.ts'

promise`N4`
describe.each(engines)('an open run that came back with a database of before, on %s', (engine) => {
  let w: World
  let ended: RunRow
  beforeAll(async () => {
    w = await world({ engine })
    const { secret: key } = await w.key({ balance: usd })
    await w.call('/v1/runs', { key, json: { model: 'counterfoil/echo-1', input: 'hello' } })
    ended = await lastRun(w)
  }, 60_000)
  afterAll(() => w.stop())

  /** A row as it was while this very process had the run. */
  const giveBack = async (digit: string): Promise<string> => {
    const id = `${ended.id.slice(0, -4)}000${digit}`
    const own = { node: w.deps.settings.node, windows: [] }
    const row: OpenRunRow = { ...ended, id, ...own, status: 'running', hold: 0n }
    await w.db.write(() => insert(w.db.tables.openRuns, [row]))
    return id
  }
  const outcomeOf = async (id: string) => {
    const run = (await allRuns(w)).find((one) => one.id === id)
    return [run?.outcome, run?.cost]
  }

  test('is ended, interrupted and charged nothing, though its process lives', async () => {
    const id = await giveBack('1')
    expect(await endReturned(w.deps)).toBe(1)
    expect(await outcomeOf(id)).toEqual(['interrupted', 0n])
    expect(await endReturned(w.deps)).toBe(0)
  })

  test('a run that this process just begins, or still has to end, is left alone', async () => {
    const begun = await giveBack('2')
    const unsettled = await giveBack('3')
    w.deps.live.expect(begun)
    w.deps.live.settleLater(unsettled, async () => {})
    expect(await endReturned(w.deps)).toBe(0)
    expect(await outcomeOf(begun)).toEqual([null, 0n])
    w.deps.live.unexpect(begun)
    expect(await endReturned(w.deps)).toBe(1)
    expect(await outcomeOf(unsettled)).toEqual([null, 0n])
  })
})
