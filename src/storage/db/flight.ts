import { StorageFault } from '../../kernel/storage-fault.ts'

/** Counts up twice a second while this process runs: a frozen process blames nobody for it. */
export type Turns = { turn: number }

/** Between two turns, in ms. */
export const turnMs = 500

/**
 * What a piece of work may take. Each statement of a `read` or a `write` has a deadline; `long`
 * work, such as a migration or an audit of everything, has none while the server answers others.
 */
export type Pace = 'read' | 'write' | 'long'

/** One piece of work that is on its way to a server and back. */
export class Flight {
  /** The turn in which its statement was sent. */
  at: number
  /** Whether its COMMIT was sent. */
  isCommitting = false
  private fault: StorageFault | undefined

  constructor(
    private readonly turns: Turns,
    readonly pace: Pace,
    private readonly failed: (fault: StorageFault) => void,
  ) {
    this.at = turns.turn
  }

  /**
   * Comes before each statement, whose time begins.
   * @throws StorageFault when the work was given up: its caller was told, so nothing may follow.
   */
  next(): void {
    if (this.fault) throw this.fault
    this.at = this.turns.turn
  }

  /** Comes before the COMMIT. @throws StorageFault as {@link next} */
  commit(): void {
    this.next()
    this.isCommitting = true
  }

  /** Begins again after a lost race. @throws StorageFault as {@link next} */
  again(): void {
    this.next()
    this.isCommitting = false
  }

  /** Whether it was given up. */
  get isOver(): boolean {
    return this.fault !== undefined
  }

  /** Tells the caller now. Whether a COMMIT on its way happened stays open. */
  giveUp(reason: 'storage_unreachable' | 'storage_busy', code: string): StorageFault {
    this.fault = new StorageFault(reason, code, { doubt: this.isCommitting })
    this.failed(this.fault)
    return this.fault
  }
}
