/** Locks a file with flock(2), independent of the locks of SQLite. */
import { dlopen } from 'bun:ffi'
import { closeSync, openSync, readFileSync, statfsSync, statSync } from 'node:fs'
import { platform } from 'node:os'

/** A lock that ends with `release`, or with the process. */
export type FileLock = { release(): void }

/** Operations of flock(2): LOCK_EX | LOCK_NB, and LOCK_UN. */
const exclusiveNow = 6
const unlock = 8

/** The C libraries of glibc and musl systems. */
const libraries = ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1']

/** NFS, CIFS, SMB: their flock takes byte-range locks, which conflict with SQLite's. */
const remoteFileSystems = new Set([0x6969, 0xff534d42, 0xfe534d42])

/**
 * Locks the inode behind a name; on Linux, flock and SQLite's fcntl locks do not interfere.
 * Symbolic and hard links share the inode, a copy does not. Returns undefined on other systems and
 * on network file systems. Hold no SQLite connection to the file: closing any descriptor drops its
 * locks. @throws Error `refusal`, with the id of the process that holds the lock if it is known.
 */
export function lockInode(path: string, refusal: string): FileLock | undefined {
  const flock = loadFlock()
  if (!flock || remoteFileSystems.has(statfsSync(path).type)) return undefined
  const opened = openSync(path, 'r')
  if (flock(opened, exclusiveNow) === 0) return { release: () => closeSync(opened) }
  // A file system without such locks fails to unlock as well.
  const isHeld = flock(opened, unlock) === 0
  closeSync(opened)
  if (!isHeld) return undefined
  throw new Error(withHolder(refusal, path))
}

/** Adds the id of the process that holds a lock on the file, if it is known. */
export function withHolder(refusal: string, path: string): string {
  const pid = holderOf(path)
  return `${refusal}${pid === undefined ? '' : ` (process ${pid})`}; stop it first`
}

/**
 * Finds the process that holds a lock on a file: 0 for one of another container, or undefined.
 * A line of /proc/locks: `1: FLOCK  ADVISORY  WRITE 4711 fe:01:2146332 0 EOF`.
 */
export function holderOf(path: string): number | undefined {
  try {
    const { dev, ino } = statSync(path)
    const wanted = `${hex(majorOf(dev))}:${hex(minorOf(dev))}:${ino}`
    const lines = readFileSync('/proc/locks', 'utf8').split('\n')
    const fields = lines.map((line) => line.trim().split(/\s+/))
    const found = fields.find(([, , , mode, , file]) => mode === 'WRITE' && file === wanted)
    const pid = Number(found?.[4])
    return pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

const hex = (part: number): string => part.toString(16).padStart(2, '0')
const majorOf = (dev: number): number => (dev >>> 8) & 0xfff
const minorOf = (dev: number): number => (dev & 0xff) | ((dev >>> 12) & 0xfff00)

type Flock = (opened: number, operation: number) => number

function loadFlock(): Flock | undefined {
  if (platform() !== 'linux') return undefined
  for (const library of libraries) {
    try {
      return dlopen(library, { flock: { args: ['i32', 'i32'], returns: 'i32' } }).symbols.flock
    } catch {
      // The other C library, then.
    }
  }
  return undefined
}
