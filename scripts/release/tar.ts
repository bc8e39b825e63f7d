/**
 * Writes tar archives (POSIX ustar) whose bytes depend on their entries alone: sorted by name, one
 * time for all, owners as numbers. GNU tar would read owners and modes from the disk, which a
 * build without root cannot set.
 */
import { compareBytes } from './order.ts'

export type Entry = {
  /** Up to 100 bytes, or parts of up to 155 and 100 at a slash; a folder's name ends with `/`. */
  path: string
  mode: number
  /** Of a file; a folder and a link have none. */
  body?: Uint8Array
  /** What a symbolic link points to, up to 100 bytes. */
  link?: string
  uid?: number
  gid?: number
}

const block = 512

/** One archive. @param mtime seconds since 1970. @throws Error when a name does not fit */
export function tarOf(entries: readonly Entry[], mtime: number): Uint8Array {
  const sorted = [...entries].sort((a, b) => compareBytes(a.path, b.path))
  const parts: Uint8Array[] = []
  for (const entry of sorted) {
    const body = entry.body ?? new Uint8Array()
    parts.push(headOf(entry, body.length, mtime), body)
    parts.push(new Uint8Array((block - (body.length % block)) % block))
  }
  // Two empty blocks end an archive.
  parts.push(new Uint8Array(2 * block))
  return Buffer.concat(parts)
}

/** The same archive, compressed by the zlib of this Bun: the header holds no name and no time. */
export const tarGzOf = (entries: readonly Entry[], mtime: number): Uint8Array =>
  Bun.gzipSync(new Uint8Array(tarOf(entries, mtime)), { level: 6, library: 'zlib' })

/** `folder/` and all folders above it, as entries of an archive. */
export function foldersOf(path: string): Entry[] {
  const names = path.split('/').slice(0, -1)
  return names.map((_, at) => ({ path: `${names.slice(0, at + 1).join('/')}/`, mode: 0o755 }))
}

function headOf({ path, mode, link, uid = 0, gid = 0 }: Entry, size: number, mtime: number) {
  const head = Buffer.alloc(block)
  const [prefix, name] = splitName(path)
  const octal = (value: number, at: number, length: number) =>
    head.write(value.toString(8).padStart(length - 1, '0'), at, 'latin1')
  head.write(name, 0)
  octal(mode, 100, 8)
  octal(uid, 108, 8)
  octal(gid, 116, 8)
  octal(size, 124, 12)
  octal(mtime, 136, 12)
  head.write(link !== undefined ? '2' : path.endsWith('/') ? '5' : '0', 156)
  if (Buffer.byteLength(link ?? '') > 100) throw new Error(`${path}: its link is too long for tar`)
  head.write(link ?? '', 157)
  head.write('ustar\u000000', 257, 'latin1')
  head.write(prefix, 345)
  // The sum counts its own field as spaces.
  head.fill(' ', 148, 156)
  const sum = head.reduce((total, byte) => total + byte, 0)
  head.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148, 'latin1')
  return head
}

function splitName(path: string): [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= 100) return ['', path]
  for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)]
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100 && name) {
      return [prefix, name]
    }
  }
  throw new Error(`${path} is too long for tar`)
}
