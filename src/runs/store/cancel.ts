import { inArray } from 'drizzle-orm'
import { type Db, rows } from '../../storage/db/db.ts'
import { writeFact } from '../../storage/db/facts.ts'

const factOf = (id: string): string => `cancel/${id}`

/** What the nodes ask each other to cancel: a run is stopped by the node that it is on. */
export function cancelStore(db: Db) {
  const { facts } = db.tables
  return {
    /** Asks the node of a run to stop it, which looks when it is told, and each second. */
    askToCancel: async (id: string): Promise<void> => {
      await db.write(() => writeFact(db, factOf(id), 'asked'))
      await db.notices?.tell('cancel')
    },
    /** Those of some runs that are to be cancelled. */
    cancelledAmong: (ids: string[]): Promise<string[]> =>
      db.read(function* (q) {
        const asked = q
          .select()
          .from(facts)
          .where(inArray(facts.name, ids.map(factOf)))
        const known = new Set((yield* rows(asked)).map(({ name }) => name))
        return ids.filter((id) => known.has(factOf(id)))
      }),
    forgetCancels: (ids: string[]): Promise<void> =>
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
