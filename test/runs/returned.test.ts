import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { endReturned } from '../../src/runs/end-abandoned.ts'
import { insert, rows } from '../../src/storage/db/query-steps.ts'
import type { RunRow } from '../../src/storage/db/schema.ts'
import { engines, usd, type World, world } from '../support/world.ts'

describe.each(engines)('an open run that came back with a database of before, on %s', (engine) => {
  let w: World
  let ended: RunRow
  beforeAll(async () => {
    w = await world({ engine })
    const { secret: key } = await w.key({ balance: usd })
    await w.call('/v1/runs', { key, json: { model: 'counterfoil/echo-1', input: 'hello' } })
    const { runs } = w.db.tables
    const [found] = await w.db.read((q) => rows(q.select().from(runs).limit(1)))
    if (!found) throw new Error('no run')
    ended = found
  }, 60_000)
  afterAll(() => w.stop())

  /** A row as it was while this very process had the run. */
  const giveBack = async (digit: string): Promise<string> => {
    const id = `${ended.id.slice(0, -4)}000${digit}`
    const open = { finishedAt: null, digest: null, logPlace: null, signature: null, outcome: null }
    const row: RunRow = { ...ended, ...open, id, status: 'running', hold: 0n, cost: 0n }
    await w.db.write(() => insert(w.db.tables.runs, [{ ...row, windows: [] }]))
    return id
  }
  const outcomeOf = async (id: string) => {
    const { runs } = w.db.tables
    const [run] = await w.db.read((q) => rows(q.select().from(runs).where(eq(runs.id, id))))
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
