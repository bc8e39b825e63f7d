/** Words of storage failures, for clients and operators. */
import { Refusal } from './refusal.ts'

/** Why storage takes nothing, in the words that `/readyz` and refusals give as `reason`. */
export type StorageReason = keyof typeof reasons

type Words = {
  /** The text for clients. */
  message: string
  /** The advice for the operator; for the log. */
  advice: string
  /** Whether writes stay stopped until the server is started again. */
  isLasting: boolean
}

const nothing = 'Nothing was stored or charged.'
const untilRestart = 'Its operator has to look at it and start the server again.'

const reasons = {
  storage_full: {
    message: `The storage of this server is full. ${nothing} What is there can be read.`,
    advice: 'Make room on the file system of the database; the server goes on by itself',
    isLasting: false,
  },
  storage_read_only: {
    message: `The storage of this server is read-only now. ${nothing} What is there can be read.`,
    advice:
      'Let the server write to the database: its file and folder, or a PostgreSQL primary; it ' +
      'goes on by itself',
    isLasting: false,
  },
  storage_busy: {
    message: `The database of this server is held by another program. ${nothing} Try again.`,
    advice:
      'End the program that holds a lock of the database: fuser names it for a file, ' +
      'pg_stat_activity on PostgreSQL, where a standby that a COMMIT waits for holds it too',
    isLasting: false,
  },
  storage_exhausted: {
    message: `The database server has no connection or memory left. ${nothing} Try again.`,
    advice:
      'Raise max_connections or the memory of the PostgreSQL server, or end what else uses it; ' +
      'the server goes on by itself',
    isLasting: false,
  },
  storage_unreachable: {
    message: `The database of this server cannot be read now. ${nothing} Try again.`,
    advice:
      'Look at the PostgreSQL server and the network to it; for a file at who owns it, at the ' +
      'limit of open files and at the log of the kernel',
    isLasting: false,
  },
  storage_failed: {
    message: `The storage of this server failed. ${nothing} ${untilRestart}`,
    advice:
      'Nothing is written any more. Look at the disk and the log of the kernel, start the ' +
      'server again, then run: counterfoil doctor',
    isLasting: true,
  },
  storage_damaged: {
    message: `The database of this server is damaged. ${nothing} ${untilRestart}`,
    advice:
      'Nothing is written any more, and nothing is repaired. Stop the server, keep its files, ' +
      'run counterfoil doctor, and put the newest whole backup back with counterfoil restore',
    isLasting: true,
  },
  storage_moved: {
    message: `The database of this server is not where it was. ${nothing} ${untilRestart}`,
    advice:
      'Nothing is written any more. The files were deleted or replaced under the running ' +
      'server, which still has the old ones open: copy them from /proc/<pid>/fd before you stop ' +
      'it, put them back, then run: counterfoil doctor',
    isLasting: true,
  },
} as const satisfies Record<string, Words>

const inDoubt =
  'The storage of this server failed while this was stored. Whether it was charged shows when ' +
  'the server was started again: look at your runs before you try again.'

const inDoubtForNow =
  'The database of this server did not answer while this was stored. It may have been stored and ' +
  'charged: look at your runs, or try again with the same Idempotency-Key.'

const alone: Record<string, string> = { 'x-should-retry': 'false' }
const later: Record<string, string> = { 'retry-after': '5' }

/** Storage that did not take or give something; no fault of the command that met it. */
export class StorageFault extends Error {
  /**
   * `code` is the engine's own word. `doubt` says that a COMMIT failed in a way that leaves open
   * whether a restart finds it stored.
   */
  constructor(
    readonly reason: StorageReason,
    readonly code: string,
    readonly options: { cause?: unknown; doubt?: boolean } = {},
  ) {
    const { message, isLasting } = reasons[reason]
    const doubt = isLasting ? inDoubt : inDoubtForNow
    super(options.doubt ? doubt : message, { cause: options.cause })
  }

  get advice(): string {
    return reasons[this.reason].advice
  }

  get isLasting(): boolean {
    return reasons[this.reason].isLasting
  }

  /**
   * Drops the doubt about the COMMIT, for writes that are safe to repeat. A lasting fault keeps it:
   * only a restart shows what was stored.
   */
  withoutDoubt(): StorageFault {
    const { reason, code, options, isLasting } = this
    if (!options.doubt || isLasting) return this
    return new StorageFault(reason, code, { cause: options.cause })
  }

  /**
   * The answer to the client. Its headers let SDKs retry only if that can help and nothing was
   * charged.
   */
  toRefusal(): Refusal {
    const { reason, message, isLasting, options } = this
    const headers = { ...(isLasting ? {} : later), ...(isLasting || options.doubt ? alone : {}) }
    return new Refusal('unavailable', { message, metadata: { reason }, headers })
  }
}
