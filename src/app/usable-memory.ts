/** Tells how much memory this process may use. */
import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'

/** The mount point of control groups. */
const root = '/sys/fs/cgroup'

/** Returns the memory of the machine, or the limit of its container or unit, in bytes. */
export function usableMemory(read: (path: string) => string | undefined = readText): number {
  const limits = limitFiles(read('/proc/self/cgroup') ?? '').flatMap((path) => {
    const text = read(path)?.trim() ?? ''
    // Without a limit it says "max"; version 1 writes a number near 2^63.
    return /^\d+$/.test(text) && text !== '0' ? [Number(text)] : []
  })
  return Math.min(totalmem(), ...limits)
}

/** A limit holds for every group below it. */
function limitFiles(groups: string): string[] {
  const own = /^0::(\/.*)$/m.exec(groups)?.[1] ?? '/'
  const names = own.split('/').filter((name) => name !== '' && name !== '..')
  const parts = names.map((_, i) => `/${names.slice(0, i + 1).join('/')}`)
  const files = ['', ...parts].map((path) => `${root}${path}/memory.max`)
  return [...files, `${root}/memory/memory.limit_in_bytes`]
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
