/** Single named values of the database. */
import { eq } from 'drizzle-orm'
import type { Db } from './db.ts'
import { lockedRows, prepared, type Query, rows, upsert, type Work } from './query-steps.ts'

/** The value of a fact; undefined if it was never written. */
export const findFact = (db: Db, name: string): Promise<string | undefined> =>
  db.read((q) => readFact(db, q, name))

/** The same within other work. */
export function* readFact(db: Db, q: Query, name: string): Work<string | undefined> {
  const { facts } = db.tables
  const named = (values: { name: string }) =>
    q.select().from(facts).where(eq(facts.name, values.name))
  return (yield* prepared('fact', { name }, named))[0]?.value
}

/** Writes a fact unless it exists; returns the stored value, so two first starts agree on one. */
export const ensureFact = (db: Db, name: string, value: string): Promise<string> =>
  db.write((q) => ensureFactIn(db, q, name, value))

/** The same within a transaction. */
export function* ensureFactIn(db: Db, q: Query, name: string, value: string): Work<string> {
  const { facts } = db.tables
  yield* rows(q.insert(facts).values({ name, value }).onConflictDoNothing().returning())
  const [row] = yield* rows(q.select().from(facts).where(eq(facts.name, name)))
  return row?.value ?? value
}

/** Reads a fact that this transaction will change. */
export function* lockFact(db: Db, q: Query, name: string): Work<string | undefined> {
  const { facts } = db.tables
  return (yield* lockedRows(q.select().from(facts).where(eq(facts.name, name))))[0]?.value
}

export function* writeFact(db: Db, name: string, value: string): Work<void> {
  yield* upsert(db.tables.facts, [{ name, value }], ['value'])
}
