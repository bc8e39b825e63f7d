/** Single named values of the database. */
import { eq, inArray, like } from 'drizzle-orm'
import type { Db } from '../engine/db.ts'
import { lockFound, prepared, type Query, rows, upsert, type Work } from './query-steps.ts'

/** The value of a fact; undefined if it was never written. */
export const findFact = (db: Db, name: string): Promise<string | undefined> =>
  db.read((q) => readFact(db, q, name))

/** {@link findFact} within other work. */
export function* readFact(db: Db, q: Query, name: string): Work<string | undefined> {
  const { facts } = db.tables
  const named = (values: { name: string }) =>
    q.select().from(facts).where(eq(facts.name, values.name))
  return (yield* prepared('fact', { name }, named))[0]?.value
}

/** Writes a fact unless it exists; returns the stored value, so two first starts agree on one. */
export const ensureFact = (db: Db, name: string, value: string): Promise<string> =>
  db.write((q) => ensureFactIn(db, q, name, value))

/** {@link ensureFact} within a transaction. */
export function* ensureFactIn(db: Db, q: Query, name: string, value: string): Work<string> {
  yield* upsert(db.tables.facts, [{ name, value }], [])
  return (yield* readFact(db, q, name)) ?? value
}

/** Reads a fact that this transaction will change. */
export function* lockFact(db: Db, name: string): Work<string | undefined> {
  return (yield* lockFacts(db, [name])).get(name)
}

/** Reads facts that this transaction will change, by name; one never written is missing. */
export function* lockFacts(db: Db, names: string[]): Work<Map<string, string>> {
  const found = yield* lockFound(db.tables.facts, { name: names })
  return new Map(found.map(({ name, value }) => [name, value]))
}

export const writeFact = (db: Db, name: string, value: string): Work<void> =>
  upsert(db.tables.facts, [{ name, value }], ofFact)

/** Gives these facts the same value. */
export const writeFacts = (db: Db, names: readonly string[], value: string): Work<void> =>
  upsert(
    db.tables.facts,
    names.map((name) => ({ name, value })),
    ofFact,
  )

const ofFact: ['value'] = ['value']

/** The facts whose names begin so, such as those of each node. */
export function* readFactsOf(db: Db, q: Query, prefix: string) {
  const { facts } = db.tables
  return yield* rows(
    q
      .select()
      .from(facts)
      .where(like(facts.name, `${prefix}%`)),
  )
}

export function* dropFacts(db: Db, q: Query, names: readonly string[]): Work<void> {
  const { facts } = db.tables
  yield* rows(
    q
      .delete(facts)
      .where(inArray(facts.name, [...names]))
      .returning(),
  )
}
