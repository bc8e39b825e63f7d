/** Reads the journal of one account. */
import { and, asc, desc, eq, getTableColumns, gte, lt, sql } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import { type Page, toPage } from '../../kernel/pagination.ts'
import { dayAway, dayStart, utcZone, type ZoneName } from '../../kernel/zone.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import {
  type JournalPage,
  journalPage,
  type Line,
  lineColumns,
} from '../../storage/db/files/journal.ts'
import { type Query, rows, type Work } from '../../storage/db/sql/query-steps.ts'
import { besideMax, type LedgerDay, type Movement, type Place } from './movement.ts'

/** The journal of one account. Every read goes along an index, from one place on. */
export type StatementStore = {
  /** One page of lines, newest first. */
  list(account: string, page: { limit: number; after: Place | undefined }): Promise<Page<Movement>>
  find(account: string, place: Place): Promise<Movement | undefined>
  /** The last days of a zone (default: UTC) with any line, newest first, from before a day on. */
  days(
    account: string,
    before: Millis | undefined,
    limit: number,
    zone?: ZoneName,
  ): Promise<LedgerDay[]>
  /** At most `limit` lines after a place, oldest first, up to the one numbered `last`. */
  following(
    account: string,
    after: Place | undefined,
    last: number,
    limit: number,
  ): Promise<Movement[]>
}

export function statementStore(db: Db): StatementStore {
  const { transfers } = db.tables
  const columns = lineColumns(db)

  const page = (q: Query, wanted: JournalPage) => {
    const { at, seq } = columns
    const order = wanted.newestFirst ? [desc(at), desc(seq)] : [asc(at), asc(seq)]
    return rows(
      q
        .select(columns)
        .from(journalPage(wanted))
        .orderBy(...order),
    )
  }

  function* lastBefore(q: Query, account: string, before: Millis | undefined) {
    const where = ({ at }: Line) => (before === undefined ? undefined : sql`${at} < ${before}`)
    return (yield* page(q, { account, where, newestFirst: true, limit: 1 })).at(0)
  }

  const besideRuns = (q: Query, account: string, day: Millis, end: Millis) => {
    const { accountId, ...columns } = getTableColumns(transfers)
    const { at, seq } = columns
    const within = and(gte(at, day), lt(at, end))
    const own = and(eq(accountId, account), within)
    const beside = q.select(columns).from(transfers).where(own)
    return rows(beside.orderBy(desc(at), desc(seq)).limit(besideMax))
  }

  return {
    list: async (account, { limit, after }) => {
      const where = (line: Line) => {
        const { at, seq } = line
        return and(after && sql`(${at}, ${seq}) < (${after.at}, ${after.seq})`, isOwn(line))
      }
      const newest = { account, where, newestFirst: true, limit: limit + 1 }
      return toPage(await db.read((q) => page(q, newest)), limit)
    },
    find: async (account, place) => {
      const where = ({ at, seq }: Line) => sql`${at} = ${place.at} and ${seq} = ${place.seq}`
      return (await db.read((q) => page(q, { account, where, limit: 1 }))).at(0)
    },
    days: (account, before, limit, zone = utcZone) =>
      db.read(function* (q): Work<LedgerDay[]> {
        const days: LedgerDay[] = []
        let close: Movement | undefined = yield* lastBefore(q, account, before)
        while (close && days.length < limit) {
          const day = dayStart(zone, close.at)
          const beside = yield* besideRuns(q, account, day, dayAway(zone, day, 1))
          const open: Movement | undefined = yield* lastBefore(q, account, day)
          days.push({ day, close, open, beside })
          close = open
        }
        return days
      }),
    following: (account, after, last, limit) => {
      const where = (line: Line) => {
        const { at, seq } = line
        const beyond = after && sql`(${at}, ${seq}) > (${after.at}, ${after.seq})`
        return and(beyond, sql`${seq} <= ${last}`, isOwn(line))
      }
      return db.read((q) => page(q, { account, where, limit }))
    },
  }
}

/** Some lines are about other people's money: what the operator lost, for instance. */
const isOwn = ({ source, target }: Line) => sql`(${source} = 'user' or ${target} = 'user')`
