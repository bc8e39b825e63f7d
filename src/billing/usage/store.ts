/** Reads usage sums and ended runs. */
import { and, asc, eq, gte, inArray, like, lt, max } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import type { EndedRun } from '../../storage/db/schema/schema.ts'
import { numbered, numberedRuns } from '../../storage/db/sql/numbered-runs.ts'
import { first, type Query, rows, type Work } from '../../storage/db/sql/query-steps.ts'
import { equalsUnindexed, inListUnindexed } from '../../storage/db/sql/unindexed.ts'
import { unnumberedIds } from '../../storage/db/sql/unnumbered.ts'
import type { DayMarks, Period, Span } from './log-range.ts'
import {
  type CountedSums,
  type CountedWaits,
  type Grouping,
  type Piece,
  readPieces,
} from './store/read-pieces.ts'
import { cursorFact, markPrefix, readMark } from './store/usage-counter.ts'
import type { CountedRun, UsageOwner } from './usage.ts'

/** How much is counted of how much there is, in places of the log. */
export type CountProgress = { cursor: number; size: number }

/** Sums, how far they go, and the runs that ended but have no place yet: all of one moment. */
export type Picture = CountProgress & {
  sums: CountedSums[]
  waits: CountedWaits[]
  unnumbered: CountedRun[]
}

/** A run as exports show it. */
export type ExportedRun = CountedRun &
  Pick<
    EndedRun,
    | 'id'
    | 'outcome'
    | 'createdAt'
    | 'discountBps'
    | 'usageSource'
    | 'priceList'
    | 'passport'
    | 'issuer'
    | 'digest'
  > & { place: number }

/** Reads what was counted, and receipts in the order of the log. */
export type UsageStore = {
  /** Leaves of all logs together, which is the place that the next one gets. */
  size(): Promise<number>
  counted(): Promise<CountProgress>
  /** The counted sums of some pieces of time, and what is needed to add the rest to them. */
  picture(whose: UsageOwner, pieces: readonly Piece[], by: Grouping): Promise<Picture>
  /** The days on which there is anything counted. */
  daysOf(whose: UsageOwner, days: Period): Promise<Millis[]>
  /** The place of each day in the log, as far as it is counted. */
  marks(): Promise<DayMarks>
  /** The names of some keys of an account, as they are today. */
  keyNames(account: string, ids: string[]): Promise<Map<string, string>>
  /** An account's receipts in some places of the log, for sums. */
  runsIn(span: Span, whose: UsageOwner): Promise<CountedRun[]>
  /** An account's receipts in some places of the log, in its order. */
  exportedIn(span: Span, whose: UsageOwner): Promise<ExportedRun[]>
}

/** Pieces that one turn of the event loop reads. */
const fewPieces = 3

/** Ended runs without a place that are read at once; the sequencer numbers them in milliseconds. */
const unnumberedMax = 1000

export function usageStore(db: Db): UsageStore {
  const { runs, usageDays, facts, logLeaves, keys } = db.tables
  const few = {
    accountId: runs.accountId,
    keyId: runs.keyId,
    model: runs.model,
    status: runs.status,
    kind: runs.kind,
    route: runs.route,
    lines: runs.lines,
    cost: runs.cost,
    tags: runs.tags,
    startedAt: runs.startedAt,
    firstByteAt: runs.firstByteAt,
    finishedAt: runs.finishedAt,
  }
  const many = {
    ...few,
    id: runs.id,
    place: numbered.place,
    outcome: runs.outcome,
    createdAt: runs.createdAt,
    discountBps: runs.discountBps,
    usageSource: runs.usageSource,
    priceList: runs.priceList,
    passport: runs.passport,
    issuer: runs.issuer,
    digest: runs.digest,
  }

  const isOf = ({ account, keyIds }: UsageOwner) =>
    and(equalsUnindexed(runs.accountId, account), keyIds && inListUnindexed(runs.keyId, keyIds))

  function* readSize(q: Query): Work<number> {
    const last = yield* first(q.select({ place: max(logLeaves.idx) }).from(logLeaves))
    return last?.place === null || last === undefined ? 0 : Number(last.place) + 1
  }

  function* readCounted(q: Query): Work<CountProgress> {
    const cursor = yield* first(q.select().from(facts).where(eq(facts.name, cursorFact)))
    return { cursor: Number(cursor?.value ?? 0), size: yield* readSize(q) }
  }

  const ofDays = ({ account, keyIds }: UsageOwner, { from, to }: Period) =>
    and(
      eq(usageDays.accountId, account),
      gte(usageDays.day, from),
      Number.isFinite(to) ? lt(usageDays.day, to) : undefined,
      keyIds && inArray(usageDays.keyId, [...keyIds]),
    )

  const inSpan = ({ start, end }: Span) => numberedRuns({ from: start, before: end })
  const isRun = eq(runs.id, numbered.runId)

  return {
    size: () => db.read(readSize),
    counted: () => db.read(readCounted),
    picture: (whose, pieces, by) => {
      const read = function* (q: Query): Work<Picture> {
        const counted = yield* readCounted(q)
        const { sums, waits } = yield* readPieces(db, q, whose, pieces, by)
        const waiting = inArray(runs.id, yield* unnumberedIds(db, q, unnumberedMax))
        const mine = and(waiting, isOf(whose))
        const found = yield* rows(q.select(few).from(runs).where(mine))
        return { ...counted, sums, waits, unnumbered: found }
      }
      // With one writer, reads in one turn are of one moment. Many pieces would be a long one.
      return db.exclusive && pieces.length <= fewPieces ? db.read(read) : db.snapshot(read)
    },
    daysOf: async (whose, days) => {
      const { day } = usageDays
      const found = await db.read((q) =>
        rows(q.selectDistinct({ day }).from(usageDays).where(ofDays(whose, days))),
      )
      return found.map((row) => row.day)
    },
    marks: async () => {
      const found = await db.read((q) =>
        rows(
          q
            .select()
            .from(facts)
            .where(like(facts.name, `${markPrefix}%`)),
        ),
      )
      return new Map(found.map(({ name, value }) => [dayNamed(name), readMark(value)]))
    },
    keyNames: async (account, ids) => {
      if (ids.length === 0) return new Map()
      const { id, name, accountId } = keys
      const named = and(inArray(id, ids), equalsUnindexed(accountId, account))
      const found = await db.read((q) => rows(q.select({ id, name }).from(keys).where(named)))
      return new Map(found.map((key) => [key.id, key.name]))
    },
    runsIn: (span, whose) =>
      db.read((q) =>
        rows(q.select(few).from(inSpan(span)).innerJoin(runs, isRun).where(isOf(whose))),
      ),
    exportedIn: (span, whose) =>
      db.read((q) =>
        rows(
          q
            .select(many)
            .from(inSpan(span))
            .innerJoin(runs, isRun)
            .where(isOf(whose))
            .orderBy(asc(numbered.place)),
        ),
      ),
  }
}

/** `usage.day.20261121` back to its midnight. */
function dayNamed(name: string): Millis {
  const [, year, month, day] = /(\d{4})(\d\d)(\d\d)$/.exec(name) ?? []
  return Date.parse(`${year}-${month}-${day}T00:00:00Z`)
}
