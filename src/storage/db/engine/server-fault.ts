/** Turns the errors of a PostgreSQL client into storage faults. */
import { StorageFault, type StorageReason } from '../../../kernel/storage-fault.ts'

/**
 * Undefined for an error that is not about storage. `isCommitting`: the COMMIT was sent, so it may
 * have happened if its answer got lost.
 */
export function serverFaultOf(error: unknown, isCommitting: boolean): StorageFault | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    // Bun has the SQLSTATE in `errno`, other drivers have it in `code`.
    const { errno, code } = at as { errno?: unknown; code?: unknown }
    for (const word of [errno, code]) {
      const reason = typeof word === 'string' ? reasonOf(word) : undefined
      if (!reason) continue
      const doubt = isCommitting && reason === 'storage_unreachable'
      return new StorageFault(reason, String(word), { cause: error, doubt })
    }
  }
  return undefined
}

const reasonOf = (word: string): StorageReason | undefined =>
  reasons.find(([pattern]) => pattern.test(word))?.[1]

const reasons: [pattern: RegExp, reason: StorageReason][] = [
  [/^25006$/, 'storage_read_only'],
  [/^53100$/, 'storage_full'],
  [/^53...$/, 'storage_exhausted'],
  // A statement timeout, nearly always while it waits for a lock.
  [/^57014$/, 'storage_busy'],
  // Shutting down, starting, crashed; the connection is gone; idle inside a transaction.
  [/^(57P0.|08...|25P03)$/, 'storage_unreachable'],
  [/^ERR_POSTGRES_(CONNECTION_\w+|IDLE_TIMEOUT|LIFETIME_TIMEOUT)$/, 'storage_unreachable'],
  [
    /^(ECONN\w+|EPIPE|ENOTFOUND|EAI_\w+|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/,
    'storage_unreachable',
  ],
]
