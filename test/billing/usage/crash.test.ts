import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { openSqlite } from '../../../src/storage/db/engine/sqlite.ts'
import { prng } from '../../ledger/prng.ts'
import { world } from '../../support/world.ts'
import { addReceipts, countAll, countedAndFresh, linesOf } from './receipts.ts'

const start = Date.UTC(2026, 10, 20)

test('killed in the middle of counting, over and over, the job counts all once', async () => {
  const w = await world({ now: start })
  try {
    const dice = prng(7)
    await addReceipts(
      w,
      Array.from({ length: 6000 }, (_, i) => ({
        accountId: '0xa',
        keyId: `key_${dice.below(40)}`,
        model: `m/${dice.below(5)}`,
        finishedAt: start + i * 60_000,
        lines: linesOf(dice.below(100), dice.below(100)),
      })),
    )
    const file = (w.db as ReturnType<typeof openSqlite>).raw.filename
    let cut = 0
    for (let round = 0; round < 8; round++) {
      const counter = Bun.spawn([process.execPath, join(import.meta.dir, 'counter.ts'), file], {
        stdout: 'pipe',
      })
      // It tells each batch that it was told is stored.
      const reader = counter.stdout.getReader()
      await reader.read()
      await Bun.sleep(dice.below(15))
      counter.kill('SIGKILL')
      await counter.exited
      if (counter.signalCode === 'SIGKILL') cut++
    }
    expect(cut).toBeGreaterThan(0)
    await countAll(w)
    const { counted, fresh } = await countedAndFresh(w)
    expect(counted).toEqual(fresh)
    expect(counted.reduce((sum, row) => sum + row.runs, 0)).toBe(6000)
  } finally {
    await w.stop()
  }
}, 60_000)
