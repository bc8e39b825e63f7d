/** Stores signed records of passports and logs them. */
import { and, desc, eq } from 'drizzle-orm'
import type { Db } from '../../../storage/db/engine/db.ts'
import type {
  AuditRow,
  PassportRow,
  PassportStatementRow,
} from '../../../storage/db/schema/schema.ts'
import { lockFact } from '../../../storage/db/sql/facts.ts'
import {
  first,
  insert,
  type Query,
  update,
  type Work,
} from '../../../storage/db/sql/query-steps.ts'
import { leafKinds } from '../../../verify/merkle.ts'
import type { LogStore } from '../../log/store.ts'
import { cursorFact } from './passport-counter.ts'
import { type Standing, standingQueries } from './standing.ts'

/** A statement as it is to be logged, but for its place. */
export type StatementDraft = Omit<PassportStatementRow, 'logPlace'>

/** A statement with its audit row; `row` is the passport if issuing changes it. */
export type Issue = { statement: StatementDraft; audit: AuditRow; row?: PassportRow }

export type StatementStore = {
  /** The newest statement of a passport. */
  newestStatement(handle: string): Promise<PassportStatementRow | undefined>
  /**
   * Locks the record and logs the statement that `decide` returns. There is one statement per
   * state of the log: the same one is returned again, and only the passport changes.
   */
  issue(handle: string, decide: (standing: Standing) => Issue): Promise<PassportStatementRow>
}

export function statementStore(db: Db, log: LogStore): StatementStore {
  const { auditEntries, passports, passportStatements: statements } = db.tables
  const standings = standingQueries(db)

  function* findAt(q: Query, { handle, issuer, asOfSize }: StatementDraft): Work<StoredStatement> {
    const same = and(
      eq(statements.handle, handle),
      eq(statements.issuer, issuer),
      eq(statements.asOfSize, asOfSize),
    )
    return yield* first(q.select().from(statements).where(same))
  }

  return {
    newestStatement: (handle) =>
      db.read((q) => {
        const own = q.select().from(statements).where(eq(statements.handle, handle))
        return first(own.orderBy(desc(statements.createdAt), desc(statements.asOfSize)).limit(1))
      }),
    issue: (handle, decide) =>
      log.change(function* (q, { append }): Work<PassportStatementRow> {
        // The cursor first, the passport last: in this order nothing waits in a circle.
        yield* lockFact(db, cursorFact)
        const standing = yield* standings.one(q, handle)
        if (!standing) throw new Error(`there is no passport ${handle}`)
        const { statement, audit, row } = decide(standing)
        let made: StoredStatement = yield* findAt(q, statement)
        if (!made) {
          const { digest } = statement
          const { place } = yield* append(() => [{ kind: leafKinds.passportStatement, digest }])
          made = { ...statement, logPlace: place }
          yield* insert(statements, [made])
          yield* insert(auditEntries, [audit])
        } else if (row) yield* insert(auditEntries, [audit])
        if (row) yield* update(passports, [row], ['status', 'updatedAt', 'retiredAt'])
        return made
      }),
  }
}

type StoredStatement = PassportStatementRow | undefined
