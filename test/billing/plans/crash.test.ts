import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { planRenewer } from '../../../src/billing/plans/renew.ts'
import { auditStore } from '../../../src/ledger/store/audit.ts'
import type { openSqlite } from '../../../src/storage/db/engine/sqlite.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { prng } from '../../ledger/prng.ts'
import { soldPlansToml } from '../../support/plans.ts'
import { world } from '../../support/world.ts'
import { payer } from './payer.ts'

const many = 400

test('killed in the middle of renewing, over and over: each is paid and renewed, or neither', async () => {
  const w = await world({ now: Date.UTC(2026, 0, 31), toml: soldPlansToml })
  try {
    const all = await Promise.all(Array.from({ length: many }, () => payer(w, 40)))
    await Promise.all(all.map((own) => own.subscribe('builder')))
    w.advance(35 * 86_400_000)
    const file = (w.db as ReturnType<typeof openSqlite>).raw.filename
    const args = [join(import.meta.dir, 'renewer.ts'), file, String(w.deps.clock.now())]
    const dice = prng(9)
    let partly = 0
    for (let round = 0; round < 12; round++) {
      const renewer = Bun.spawn([process.execPath, ...args], { stdout: 'pipe' })
      await heard(renewer.stdout, 1 + dice.below(12))
      await Bun.sleep(dice.below(4))
      renewer.kill('SIGKILL')
      await renewer.exited
      const { renewed, paid } = await counts()
      expect(renewed).toBe(paid)
      if (renewed > 0 && renewed < many) partly++
      expect(await auditStore(w.db).whole(w.deps.clock.now())).toEqual([])
    }
    expect(partly).toBeGreaterThan(0)
    await planRenewer(w.deps)()
    expect(await counts()).toEqual({ renewed: many, paid: many })
    const rest = await Promise.all(all.map(async (own) => (await own.row()).balance))
    expect(rest.filter((balance) => balance !== 0n)).toEqual([])
    expect(await auditStore(w.db).whole(w.deps.clock.now())).toEqual([])
  } finally {
    await w.stop()
  }

  /** Subscriptions in their second period, and second payments. */
  async function counts() {
    const { subscriptions, transfers } = w.db.tables
    const [rowsOf, paidFor] = await w.db.read(function* (q) {
      const all = yield* rows(q.select().from(subscriptions))
      return [all, yield* rows(q.select().from(transfers))] as const
    })
    const renewed = rowsOf.filter((row) => row.periodStart > row.startedAt).length
    const paid = paidFor.filter(({ kind }) => kind === 'plan').length - many
    return { renewed, paid }
  }
}, 60_000)

/** Waits for so many bytes, or the end. */
async function heard(stream: ReadableStream<Uint8Array>, bytes: number): Promise<void> {
  const reader = stream.getReader()
  for (let count = 0; count < bytes; ) {
    const { done, value } = await reader.read()
    if (done) return
    count += value.length
  }
}
