import { existsSync, statSync } from 'node:fs'
import { setPriority } from 'node:os'
import { resolve } from 'node:path'
import { systemClock, toRfc3339 } from '../kernel/clock.ts'
import { redact } from '../kernel/redact.ts'
import { beside, noteBackup, putInPlace } from '../storage/db/backup.ts'
import { openingFault } from '../storage/db/opening-fault.ts'
import { openPostgres } from '../storage/db/postgres.ts'
import { Exit, exitCodes, print, printJson, say } from './context.ts'
import { dumpCommand, forTools, passwordOf, withoutPassword } from './pg-tools.ts'

/** Niceness of pg_dump: requests that are served meanwhile go first. */
const dumpNiceness = 10

/** `backup` of a PostgreSQL database: runs pg_dump, and notes the time of the copy for `doctor`. */
export async function dump(url: string, file: string, asJson: boolean): Promise<void> {
  const tool = Bun.which('pg_dump')
  if (tool === null) {
    const install = 'pg_dump is not on this machine; it comes with the PostgreSQL client.'
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
  say(`The database of ${takenAt}, in the custom format of pg_dump.`)
  say('It holds no signer key: counterfoil signer copy <file> makes a copy of that.')
}

/** The password goes in by the environment: others can read the arguments of a process. */
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
  const why = redact(said.trim()) || `it ended with ${code}`
  throw new Exit(exitCodes.failed, `pg_dump failed, and nothing was kept:\n${why}`)
}

/** What pg_dump may know of this process: where programs and its own settings are. */
const toolEnv = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => /^(PATH|HOME|LANG|LC_\w+|PG\w+)$/.test(name)),
  )

/** The copy is there, whatever comes of this. */
async function remember(url: string, at: string): Promise<void> {
  const db = openPostgres(url)
  try {
    await noteBackup(db, at)
  } catch (error) {
    const fault = openingFault(error, url)
    const why = fault === error || !(fault instanceof Error) ? '' : ` (${fault.message})`
    say(`The database could not be told about it${why}; doctor will not know of this backup.`)
  } finally {
    await db.close()
  }
}
