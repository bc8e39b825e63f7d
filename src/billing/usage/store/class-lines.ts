/** Reads which classes of tokens the newest runs used. */
import { and, desc, isNotNull, ne } from 'drizzle-orm'
import { type InputClass, inputClasses } from '../../../models/meter.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import { rows } from '../../../storage/db/sql/query-steps.ts'

/** Units of a class that the newest runs of a model read. */
export type ClassUnits = { model: string; meter: InputClass; units: number }

const isInputClass = (meter: string): meter is InputClass =>
  (inputClasses as readonly string[]).includes(meter)

/**
 * What the newest `most` runs read besides plain input, by model and class. Of what they wrote, a
 * class without a rate leaves no line.
 */
export async function classUnits(db: Db, most: number): Promise<ClassUnits[]> {
  const { runs } = db.tables
  const isCharged = and(isNotNull(runs.finishedAt), ne(runs.cost, 0n))
  const found = await db.read((q) =>
    rows(
      q
        .select({ model: runs.model, lines: runs.lines })
        .from(runs)
        .where(isCharged)
        .orderBy(desc(runs.id))
        .limit(most),
    ),
  )
  const sums = new Map<string, ClassUnits>()
  for (const { model, lines } of found) {
    for (const { meter, quantity } of lines) {
      if (!isInputClass(meter)) continue
      const name = `${meter} ${model}`
      const sum = sums.get(name)
      if (sum) sum.units += quantity
      else sums.set(name, { model, meter, units: quantity })
    }
  }
  return [...sums.values()]
}
