/** Cancel requests between nodes, stored as facts. */
import { inArray } from 'drizzle-orm'
import type { Db } from '../../storage/db/engine/db.ts'
import { writeFact } from '../../storage/db/sql/facts.ts'
import { rows } from '../../storage/db/sql/query-steps.ts'
import type { CancelRequests } from '../runs.ts'

const factOf = (id: string): string => `cancel/${id}`

export function cancelStore(db: Db): CancelRequests {
  const { facts } = db.tables
  return {
    askToCancel: async (id) => {
      await db.write(() => writeFact(db, factOf(id), 'asked'))
      await db.notices?.tell('cancel')
    },
    cancelledAmong: (ids) =>
      db.read(function* (q) {
        const asked = q
          .select()
          .from(facts)
          .where(inArray(facts.name, ids.map(factOf)))
        const known = new Set((yield* rows(asked)).map(({ name }) => name))
        return ids.filter((id) => known.has(factOf(id)))
      }),
    forgetCancels: (ids) =>
      db.write(function* (q) {
        yield* rows(
          q
            .delete(facts)
            .where(inArray(facts.name, ids.map(factOf)))
            .returning(),
        )
      }),
  }
}
