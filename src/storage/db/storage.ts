import { statSync } from 'node:fs'
import { StorageFault, type StorageReason } from '../../kernel/storage-fault.ts'

/** How the files of an embedded database are. */
export type Storage = {
  /** What writes meet now; undefined while they are stored. */
  trouble(): StorageFault | undefined
  /** Told when trouble begins, becomes another, or is over. */
  onChange(listener: (trouble: StorageFault | undefined) => void): void
  /** Stops all writes if the files are not those that were opened: what is written is lost. */
  look(): void
}

/** Where an error came up: what it means for what is stored depends on that. */
export type Where = 'read' | 'write' | 'commit'

/**
 * Remembers what the writer of a file met. After an I/O error on the way to the disk nothing is
 * written any more: the kernel may have dropped the pages, and a later sync would report success.
 * Nor is anything written over damage, or into a file that is gone.
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
    /** The fault of storage that an error is, remembered; any other error as it is. */
    faultOf(error: unknown, where: Where): unknown {
      if (error instanceof StorageFault) return error
      const fault = storageFaultOf(error, where)
      if (!fault) return error
      if (!stopped()) become(fault)
      // Whoever comes later is in no doubt: what they wanted was never begun.
      if (where !== 'commit' || fault.reason !== 'storage_failed') return fault
      return new StorageFault(fault.reason, fault.code, { cause: error, doubt: true })
    },
    /** A COMMIT came through: what passes by itself is over. */
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

/** The fault of storage that an error of the engine is, if it is one. */
export function storageFaultOf(error: unknown, where: Where): StorageFault | undefined {
  const code = codeOf(error)
  const reason = code === undefined ? undefined : reasonOf(code, where)
  return code && reason ? new StorageFault(reason, code, { cause: error }) : undefined
}

/** The file behind a name; undefined while there is none. */
function identityOf(name: string): string | undefined {
  const found = statSync(name, { throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}

/** SQLite's word for an error; drizzle wraps what the driver threw. */
function codeOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as { code?: unknown }
    if (typeof code === 'string' && code.startsWith('SQLITE_')) return code
  }
  return undefined
}

/** A read that fails has lost nothing; anything but a full disk on the way to it may have. */
function reasonOf(code: string, where: Where): StorageReason | undefined {
  // The index of the write-ahead log is a file too, and could not grow.
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
