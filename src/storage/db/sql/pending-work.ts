/** Tracks a piece of work on its way to a PostgreSQL server, and gives it up. */
import { StorageFault } from '../../../kernel/storage-fault.ts'

/** Counts twice a second while this process runs: a frozen process expires no deadline. */
export type TurnCount = { turn: number }

/** The length of a turn, in ms. */
export const turnMs = 500

/**
 * Each statement of a `read` or `write` has a deadline. `long` work, such as a migration or a whole
 * audit, has none while the server answers other statements.
 */
export type Pace = 'read' | 'write' | 'long'

export class PendingWork {
  /** The turn in which its statement was sent. */
  at: number
  /** Whether its COMMIT was sent. */
  isCommitting = false
  private fault: StorageFault | undefined

  constructor(
    private readonly turns: TurnCount,
    readonly pace: Pace,
    private readonly failed: (fault: StorageFault) => void,
  ) {
    this.at = turns.turn
  }

  /**
   * Starts the time of the next statement.
   * @throws StorageFault when the work was given up: its caller has the error already.
   */
  next(): void {
    if (this.fault) throw this.fault
    this.at = this.turns.turn
  }

  /** Call it before the COMMIT. @throws StorageFault as {@link next} */
  commit(): void {
    this.next()
    this.isCommitting = true
  }

  /** Restarts after a lost race. @throws StorageFault as {@link next} */
  again(): void {
    this.next()
    this.isCommitting = false
  }

  /** Whether it was given up. */
  get isOver(): boolean {
    return this.fault !== undefined
  }

  /** Fails the caller now, with `doubt` if its COMMIT was sent. */
  giveUp(reason: 'storage_unreachable' | 'storage_busy', code: string): StorageFault {
    this.fault = new StorageFault(reason, code, { doubt: this.isCommitting })
    this.failed(this.fault)
    return this.fault
  }
}
