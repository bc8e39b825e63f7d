/** The runs that an account's owner sees: filters, tags, pages. */
import type { KeyScope } from '../kernel/acting.ts'
import type { Millis } from '../kernel/clock.ts'
import type { IdPart } from '../kernel/id-part.ts'
import type { PageRequest } from '../kernel/pagination.ts'
import type { EndedRun, RunRow } from '../storage/db/schema/schema.ts'
import type { RunNarrowing } from './api/list-query.ts'
import type { TagFilter } from './run.ts'

/** A run with the name of its key. */
export type ShownRun<R extends RunRow = RunRow> = { run: R; keyName: string }

/** Narrows the list of an account's runs. */
export type ShownFilter = RunNarrowing & {
  /** A key of the account itself. */
  keyId?: string | undefined
  ids?: IdPart | undefined
  /** The time a run began: `from` ≤ at < `to`. */
  from?: Millis | undefined
  to?: Millis | undefined
}

export type ShownPage = {
  items: ShownRun[]
  /** The cursor of the next page; undefined at the end. */
  next: string | undefined
}

/** Runs of an account or branch. A query reads a bounded number of rows, however rare a match. */
export type ShownRuns = {
  /** A page of runs, newest first. With a filter it may be short and still have a `next`. */
  listShown(whose: KeyScope, filter: ShownFilter, page: PageRequest): Promise<ShownPage>
  /** The `limit` costliest that match among the `sortedMax` newest, the costliest first. */
  listCostliest(whose: KeyScope, filter: ShownFilter, limit: number): Promise<ShownPage>
  /** The ids of up to `most` runs newer than `since`, newest first. */
  newerThan(
    whose: KeyScope,
    filter: ShownFilter,
    since: string,
    most: number,
  ): Promise<{ id: string }[]>
  /** The id of the run that began next after `since`; undefined if none matches. */
  nextNewer(whose: KeyScope, filter: ShownFilter, since: string): Promise<string | undefined>
  /** Undefined also for a run of another account or branch. */
  findShown(whose: KeyScope, id: string): Promise<ShownRun | undefined>
  /** The runs among `ids` that belong to them and have ended. */
  endedAmong(whose: KeyScope, ids: readonly string[]): Promise<ShownRun<EndedRun>[]>
  /** Up to `limit` keys for the filter form, newest first, without revoked ones. */
  keysToChoose(whose: KeyScope, limit: number): Promise<{ id: string; name: string }[]>
}

/** The most runs that one query may skip; the next page continues behind them. */
export const passedMax = 4000

export const hasTag = ({ tags }: Pick<RunRow, 'tags'>, tag: TagFilter | undefined): boolean =>
  tag === undefined ||
  (Object.hasOwn(tags, tag.name) && (tag.value === undefined || tags[tag.name] === tag.value))

export const tagText = ({ name, value }: TagFilter): string =>
  value === undefined ? name : `${name}:${value}`

export const isInFlight = ({ finishedAt }: Pick<RunRow, 'finishedAt'>): boolean =>
  finishedAt === null
