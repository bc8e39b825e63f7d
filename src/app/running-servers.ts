/** Finds the servers on this machine, for a command that did not find its database. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { platform } from 'node:os'
import { basename, join } from 'node:path'

/** A process that serves; undefined is what this user may not see of another user's process. */
export type RunningServer = {
  pid: number
  /** The folder that it was started in, which is where its configuration is by default. */
  startedIn: string | undefined
  /** The file of its embedded database. */
  database: string | undefined
}

/** All servers that `/proc` shows to this user; none on systems without it. */
export function runningServers(): RunningServer[] {
  if (platform() !== 'linux') return []
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isServer(pid))
    .map(describe)
}

/** A server in words, without what a command line may hold of secrets. */
export function serverInWords({ pid, startedIn, database }: RunningServer): string {
  if (startedIn === undefined) return `process ${pid} of another user: ask again as root`
  const folder = `started in ${startedIn}`
  if (database === undefined) return `process ${pid} without a file of its own, ${folder}`
  const where = existsSync(database) ? '' : ', a path that only its container sees'
  return `process ${pid} uses ${database}${where}: ${folder}`
}

/** A process is a server if its program is this one and its command is `serve`, or none. */
function isServer(pid: number): boolean {
  const args = read(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))?.split('\0') ?? []
  const at = args.findIndex((arg, i) => i < 4 && isProgram(arg))
  const command = args[at + 1] ?? ''
  return at >= 0 && (command === 'serve' || command === '' || command.startsWith('-'))
}

const isProgram = (arg: string): boolean =>
  /^counterfoil/.test(basename(arg)) || /(^|\/)src\/main\.ts$/.test(arg)

function describe(pid: number): RunningServer {
  const files = read(() => openFiles(pid)) ?? []
  return {
    pid,
    startedIn: read(() => readlinkSync(`/proc/${pid}/cwd`)),
    database: files.find((file) => files.includes(`${file}-wal`)),
  }
}

/** The paths of what a process has open. @throws Error where this user may not look */
function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).flatMap((name) => read(() => readlinkSync(join(folder, name))) ?? [])
}

/** Undefined for a process that has ended, or that belongs to another user. */
function read<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
