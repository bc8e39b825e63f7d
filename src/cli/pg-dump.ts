/** `backup` of a PostgreSQL database: runs pg_dump and records the time for `doctor`. */
import { existsSync, statSync } from 'node:fs'
import { setPriority } from 'node:os'
import { resolve } from 'node:path'
import { withoutPassword } from '../config/database-place.ts'
import { systemClock, toRfc3339 } from '../kernel/clock.ts'
import { redact } from '../kernel/redact.ts'
import { openingFault } from '../storage/db/engine/opening-fault.ts'
import { openPostgres } from '../storage/db/engine/postgres.ts'
import { beside, noteBackup, putInPlace } from '../storage/db/files/backup.ts'
import { Exit, exitCodes, print, printJson, say } from './context.ts'
import { dumpCommand, forTools, passwordOf } from './pg-tools.ts'

/** Niceness of pg_dump: requests to a running server go first. */
const dumpNiceness = 10

export async function dump(url: string, file: string, asJson: boolean): Promise<void> {
  const tool = Bun.which('pg_dump')
  if (tool === null) {
    const install = 'pg_dump is not installed; it comes with the PostgreSQL client.'
    throw new Exit(exitCodes.failed, `${install}\n${dumpCommand(url, file)}`)
  }
  setPriority(dumpNiceness)
  const takenAt = toRfc3339(systemClock.now())
  await beside(file, async (copy) => {
    await runDump(tool, url, copy)
    putInPlace(copy, file)
  })
  await remember(url, takenAt)
  const bytes = statSync(file).size
  if (asJson) return printJson({ file: resolve(file), taken_at: takenAt, bytes })
  print(file)
  say(`Copied at ${takenAt}, in the custom format of pg_dump.`)
  say('The signer key is not in it; copy that with: counterfoil signer copy <file>')
}

/** Passes the password by the environment: others can read a process's arguments. */
async function runDump(tool: string, url: string, copy: string): Promise<void> {
  const options = ['--format=custom', '--no-owner', `--file=${copy}`]
  const database = forTools(withoutPassword(url))
  const child = Bun.spawn([tool, ...options, `--dbname=${database}`], {
    env: { ...toolEnv(), ...passwordOf(url) },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const [said, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
  if (code === 0 && existsSync(copy)) return
  const why = redact(said.trim()) || `exit code ${code}`
  throw new Exit(exitCodes.failed, `pg_dump failed; its output was deleted:\n${why}`)
}

/** The environment of pg_dump: the path, the locale and its own settings. */
const toolEnv = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => /^(PATH|HOME|LANG|LC_\w+|PG\w+)$/.test(name)),
  )

/** Records the time of the backup. A failure here leaves the copy valid. */
async function remember(url: string, at: string): Promise<void> {
  const db = openPostgres(url)
  try {
    await noteBackup(db, at)
  } catch (error) {
    const fault = openingFault(error, url)
    const why = fault === error || !(fault instanceof Error) ? '' : ` (${fault.message})`
    say(`The time of this backup could not be saved${why}; doctor will not know of it.`)
  } finally {
    await db.close()
  }
}
