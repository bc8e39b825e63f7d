import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { receiptIdOf } from '../../../src/proof/receipts/receipt.ts'
import type { EndedRun, ExplorerModelRow, ShareRow } from '../../../src/storage/db/schema/schema.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { addFigure, figureChanges, noFirstTokens } from '../../../src/storage/figures/figure.ts'
import { addReceipts } from '../../billing/usage/receipts.ts'
import { prng } from '../../ledger/prng.ts'
import { engines, type World, world } from '../../support/world.ts'

const start = Date.UTC(2026, 10, 20, 12)

describe.each(engines)('public figures on %s', (engine) => {
  let w: World
  let runs: EndedRun[]
  const dice = prng(4663)
  beforeAll(async () => {
    w = await world({ engine, now: start })
    const made = Array.from({ length: 30 }, () => ({
      accountId: '0xa',
      keyId: 'key_1',
      model: dice.pick(['m/1', 'm/2', 'm/3']),
      kind: dice.pick(['chat', 'chat', 'embedding'] as const),
      finishedAt: start + dice.below(40) * 3_600_000,
      firstByteAt: start + dice.below(100_000),
      startedAt: start,
    }))
    runs = await addReceipts(w, made)
  }, 60_000)
  afterAll(() => w.stop())

  const someShare = (run: EndedRun): ShareRow | undefined => {
    if (dice.below(3) === 0) return undefined
    return {
      receiptId: receiptIdOf(run.id),
      accountId: run.accountId,
      visibility: dice.pick(['public', 'public', 'unlisted'] as const),
      sections: (['run', 'charge', 'passport'] as const).filter(() => dice.below(2) === 0),
      revealed: {},
      digest: run.digest,
      createdAt: start,
      updatedAt: start,
    }
  }
  const change = (run: EndedRun, share: ShareRow | undefined) =>
    w.deps.shares.change(receiptIdOf(run.id), () => ({
      share,
      audit: {
        id: w.deps.ids.make('req'),
        at: start,
        actor: 'test',
        action: 'receipt.share',
        accountId: run.accountId,
        subject: receiptIdOf(run.id),
        detail: {},
      },
    }))

  const stored = async () => {
    const all = await w.db.read((q) => rows(q.select().from(w.db.tables.explorerModels)))
    return inOrder(all.filter((row) => row.runs > 0 || row.cost > 0n))
  }
  const recounted = async () => {
    const shares = await w.db.read((q) => rows(q.select().from(w.db.tables.shares)))
    const counted = new Map<string, ExplorerModelRow>()
    for (const run of runs) {
      const share = shares.find(({ receiptId }) => receiptId === receiptIdOf(run.id))
      for (const row of figureChanges(run, undefined, share)) {
        const none = { ...row, runs: 0, cost: 0n, firstTokens: noFirstTokens() }
        counted.set(nameOf(row), addFigure(counted.get(nameOf(row)) ?? none, row))
      }
    }
    return inOrder([...counted.values()])
  }

  test('The figures equal a recount after shares, changes and withdrawals, also at once.', async () => {
    for (let step = 0; step < 25; step++) {
      const some = Array.from({ length: 1 + dice.below(5) }, () => dice.pick(runs))
      await Promise.all(some.map((run) => change(run, someShare(run))))
    }
    expect((await stored()).length).toBeGreaterThan(5)
    expect(await stored()).toEqual(await recounted())
  }, 60_000)

  test('hold nothing when nothing is public any more', async () => {
    await change(runs[0] as EndedRun, someShare(runs[0] as EndedRun))
    for (const run of runs) await change(run, undefined)
    const all = await w.db.read((q) => rows(q.select().from(w.db.tables.explorerModels)))
    expect(all.every((row) => row.runs === 0 && row.cost === 0n)).toBe(true)
    expect(all.flatMap((row) => row.firstTokens).every((count) => count === 0)).toBe(true)
  }, 60_000)
})

const nameOf = ({ grain, at, model }: ExplorerModelRow) => JSON.stringify([grain, at, model])

const inOrder = (found: ExplorerModelRow[]) =>
  found.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
