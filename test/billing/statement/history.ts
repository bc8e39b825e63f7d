import { expect } from 'bun:test'
import { asc, eq } from 'drizzle-orm'
import type { KeyRow, TransferRow } from '../../../src/storage/db/schema/schema.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { officeOn } from '../../ledger/office.ts'
import type { Prng } from '../../ledger/prng.ts'
import type { World } from '../../support/world.ts'
import { type Payer, payer } from '../plans/payer.ts'

/** What the journal holds of an account, in its order. */
export const journalOf = (w: World, account: string): Promise<TransferRow[]> => {
  const { journal } = w.db.views
  return w.db.read((q) => {
    const own = q.select().from(journal).where(eq(journal.accountId, account))
    return rows(own.orderBy(asc(journal.seq)))
  })
}

/** An account with a history of grants, runs, plans and idle days, made by a dice. */
export async function liveThrough(w: World, dice: Prng, steps: number): Promise<Payer> {
  const own = await payer(w, 500)
  const { key } = await w.key({ account: own.account })
  for (let i = 0; i < steps; i++) {
    const what = dice.below(12)
    if (what < 7) {
      await Promise.all(Array.from({ length: 1 + dice.below(4) }, () => oneRun(w, key, dice)))
    } else if (what === 7) await own.fund(BigInt(1 + dice.below(1_000_000_000)))
    else if (what === 8) await own.subscribe(dice.pick(['builder', 'scale', 'free'])).catch(isNo)
    else if (what === 9) await own.cancel().catch(isNo)
    // Also back: a clock that is set must not break the order.
    else if (what === 10) w.advance(dice.below(5) * 86_400_000 - dice.below(5000))
    else await own.renew()
  }
  return own
}

const isNo = (error: unknown): void => expect(error).toMatchObject({ status: expect.any(Number) })

/** A run of the ledger: held, if there is enough, then ended at some cost. */
async function oneRun({ deps, db }: World, key: KeyRow, dice: Prng): Promise<void> {
  const office = officeOn(db, deps.clock)
  const amount = BigInt(1 + dice.below(2_000_000_000))
  const cost = dice.below(4) === 0 ? 0n : BigInt(dice.below(Number(amount) + 1))
  const run = await office.hold(key, amount, deps.ledger).catch(isNo)
  if (run) await office.end(run, cost, deps.ledger)
}
