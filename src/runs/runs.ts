/** The stored runs, and the questions that they answer. */
import type { Millis } from '../kernel/clock.ts'
import type { Page, PageRequest } from '../kernel/pagination.ts'
import type { RunRow } from '../storage/db/schema/schema.ts'
import type { RunFilter } from './run.ts'
import type { ShownRuns } from './shown-run.ts'

export type RunStore = ShownRuns &
  CancelRequests & {
    find(id: string): Promise<RunRow | undefined>
    /**
     * Returns the run after every COMMIT in progress on its account. SQLite has none in progress,
     * and there a transaction that changes nothing would pass for storage that accepts writes.
     */
    findCommitted(run: Pick<RunRow, 'id' | 'accountId'>): Promise<RunRow | undefined>
    /** The runs of these keys with ids from `since` on, newest first. */
    list(
      keyIds: string[],
      filter: RunFilter & { since: string },
      page: PageRequest,
    ): Promise<Page<RunRow>>
    /**
     * Up to `limit` open runs whose node is dead: its lease expired, or it never had one. `now` is
     * the time of leases. A process that owns the database file is the only live node.
     */
    abandoned(now: Millis, limit: number): Promise<RunRow[]>
    /** The open runs of this node. */
    openHere(): Promise<{ id: string }[]>
    /** The digests (hex) by id of those runs among `ids` that ended. */
    digests(ids: readonly string[]): Promise<Map<string, string>>
    /** Deletes the outputs of background runs that expired. */
    dropOutputs(now: Millis): Promise<void>
  }

/** Cancel requests between nodes: only the node of a run can stop it. */
export type CancelRequests = {
  /** Asks the node of a run to stop it; it looks on a notice and every second. */
  askToCancel(id: string): Promise<void>
  /** Returns those of `ids` with a cancel request. */
  cancelledAmong(ids: string[]): Promise<string[]>
  forgetCancels(ids: string[]): Promise<void>
}
