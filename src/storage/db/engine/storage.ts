/** Watches the files of a SQLite database, and stops writes after a lasting fault. */
import { statSync } from 'node:fs'
import { StorageFault, type StorageReason } from '../../../kernel/storage-fault.ts'

/** The health of a database's storage. */
export type Storage = {
  /** The fault that writes meet now; undefined while they succeed. */
  trouble(): StorageFault | undefined
  /** Calls the listener when the fault begins, changes or ends. */
  onChange(listener: (trouble: StorageFault | undefined) => void): void
  /** Whether a PostgreSQL server has too few connections for all that this process would open. */
  isShort?(): boolean
  /** Stops all writes if the files were replaced or deleted: further writes would be lost. */
  look(): void
}

/** The operation that failed; it decides what the error means for the data. */
export type StoragePhase = 'read' | 'write' | 'commit'

/**
 * After a failed write or sync nothing is written any more: the kernel may have dropped the pages,
 * and a later sync would report success. The same holds for a damaged or missing file.
 */
export function watchStorage(file: string) {
  const listeners: ((trouble: StorageFault | undefined) => void)[] = []
  const opened = new Map<string, string>()
  let trouble: StorageFault | undefined

  const become = (next: StorageFault | undefined): void => {
    const isNews = next?.reason !== trouble?.reason
    trouble = next
    if (isNews) for (const listener of listeners) listener(next)
  }
  /** The fault that forbids every further write. */
  const stopped = (): StorageFault | undefined => (trouble?.isLasting ? trouble : undefined)

  return {
    trouble: () => trouble,
    onChange: (listener: (trouble: StorageFault | undefined) => void) =>
      void listeners.push(listener),
    stopped,
    /** Turns an engine error into a StorageFault and remembers it; other errors pass. */
    faultOf(error: unknown, where: StoragePhase): unknown {
      if (error instanceof StorageFault) return error
      const fault = storageFaultOf(error, where)
      if (!fault) return error
      if (!stopped()) become(fault)
      // Later commands are not in doubt: they never began.
      if (where !== 'commit' || fault.reason !== 'storage_failed') return fault
      return new StorageFault(fault.reason, fault.code, { cause: error, doubt: true })
    },
    /** A successful COMMIT ends a passing fault. */
    wrote(): void {
      if (trouble && !trouble.isLasting) become(undefined)
    },
    look(): void {
      if (stopped()) return
      for (const name of [file, `${file}-wal`, `${file}-shm`]) {
        const now = identityOf(name)
        const before = opened.get(name)
        if (before === undefined) {
          if (now !== undefined) opened.set(name, now)
        } else if (now !== before) {
          become(new StorageFault('storage_moved', now ? 'REPLACED' : 'DELETED'))
          return
        }
      }
    },
  }
}

/** The StorageFault of an engine error; undefined for any other error. */
export function storageFaultOf(error: unknown, where: StoragePhase): StorageFault | undefined {
  const code = codeOf(error)
  const reason = code === undefined ? undefined : reasonOf(code, where)
  return code && reason ? new StorageFault(reason, code, { cause: error }) : undefined
}

/** Device and inode of a file; undefined if it does not exist. */
function identityOf(name: string): string | undefined {
  const found = statSync(name, { throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}

/** SQLite's error code; drizzle wraps the driver's error. */
function codeOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as { code?: unknown }
    if (typeof code === 'string' && code.startsWith('SQLITE_')) return code
  }
  return undefined
}

/** A failed read loses nothing; a failed write may, unless the disk was full. */
function reasonOf(code: string, where: StoragePhase): StorageReason | undefined {
  // The second: the index of the write-ahead log could not grow.
  if (code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_SHMSIZE') return 'storage_full'
  if (code.startsWith('SQLITE_IOERR')) {
    return where === 'read' ? 'storage_unreachable' : 'storage_failed'
  }
  const family = families.find(([start]) => code.startsWith(start))
  return family?.[1]
}

const families: [start: string, reason: StorageReason][] = [
  ['SQLITE_CORRUPT', 'storage_damaged'],
  ['SQLITE_NOTADB', 'storage_damaged'],
  ['SQLITE_READONLY', 'storage_read_only'],
  ['SQLITE_BUSY', 'storage_busy'],
  ['SQLITE_PROTOCOL', 'storage_busy'],
  ['SQLITE_CANTOPEN', 'storage_unreachable'],
]
