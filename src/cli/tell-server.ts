/** Tells the server that uses a configuration to read it again. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { holderOf } from '../storage/db/files/file-lock.ts'

export type ToldServer = { status: 'reloaded' | 'not_running' | 'unknown'; words: string }

/** Finds the server of this machine by its lock on the data folder. */
export function tellServer({
  data,
  database_url: url,
}: Pick<Config, 'data' | 'database_url'>): ToldServer {
  const pid = holderOf(join(data, 'lock.db'))
  if (pid === undefined || pid === 0) {
    return url.startsWith('sqlite:')
      ? { status: 'not_running', words: 'No server runs here: start it with counterfoil serve.' }
      : { status: 'unknown', words: 'Reload each node: kill -HUP <pid>.' }
  }
  // A hangup ends a server that runs with --dev, as closing its terminal does.
  if (isOfTerminal(pid)) {
    return { status: 'unknown', words: `Restart the server with --dev (process ${pid}).` }
  }
  try {
    process.kill(pid, 'SIGHUP')
    return { status: 'reloaded', words: `The running server (process ${pid}) reads it now.` }
  } catch {
    return { status: 'unknown', words: `Reload the server: kill -HUP ${pid}.` }
  }
}

function isOfTerminal(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes('--dev')
  } catch {
    return true
  }
}
