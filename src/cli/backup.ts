/** `backup <file>`, also beside a running server, and `restore <file>`, only without one. */
import { chmodSync, existsSync, statSync } from 'node:fs'
import { setPriority } from 'node:os'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { assertDatabase, assertWhole } from '../app/open-database.ts'
import type { Config } from '../config/config.ts'
import { ensureFolder } from '../config/ensure-folder.ts'
import { systemClock, toRfc3339 } from '../kernel/clock.ts'
import { auditStore } from '../ledger/store/audit.ts'
import { logStore } from '../proof/log/store.ts'
import { findHistory } from '../proof/signer/store.ts'
import type { Db } from '../storage/db/engine/db.ts'
import { openSqlite } from '../storage/db/engine/sqlite.ts'
import {
  beside,
  copyBackup,
  copyDatabase,
  faultsOf,
  noteBackup,
  prepareCopy,
  putInPlace,
} from '../storage/db/files/backup.ts'
import { lockDataFolder } from '../storage/db/files/lock.ts'
import { sqliteState } from '../storage/db/schema/migrate.ts'
import { configOf, Exit, exitCodes, print, printJson, say, verb } from './context.ts'
import { dump } from './pg-dump.ts'
import { restoreCommands } from './pg-tools.ts'

export function backupCommands(program: Command): void {
  verb(program, 'backup', 'copy the database to a new file; the server can keep running')
    .argument('<file>', 'file to write; must not exist')
    .action(backup)
  verb(program, 'restore', 'restore a backup where no database exists; stop the server first')
    .argument('<file>', 'file that backup wrote')
    .action(restore)
}

type Options = Record<string, unknown> & { json?: boolean }

/** Niceness of a process that copies and checks a whole database. */
const copyNiceness = 10

async function backup(file: string, options: Options): Promise<void> {
  const config = configOf(options)
  if (existsSync(file)) throw taken(file)
  const { database_url: url } = config
  await assertDatabase(config)
  if (!url.startsWith('sqlite:')) return dump(url, file, options.json === true)
  const database = url.slice('sqlite:'.length)
  // Requests to a running server go first.
  setPriority(copyNiceness)
  await assertWhole(database)
  const takenAt = toRfc3339(systemClock.now())
  const about = await beside(file, async (copy) => {
    copyDatabase(database, copy)
    const found = await inspect(copy)
    putInPlace(copy, file)
    return found
  })
  await remember(database, takenAt)
  const bytes = statSync(file).size
  if (options.json) return printJson({ file: resolve(file), taken_at: takenAt, bytes, ...about })
  print(file)
  const ledger = about.ledger === 'balanced' ? 'the ledger adds up' : 'the ledger was not audited'
  say(`Copied at ${takenAt} with ${about.log_size} leaves; the file is intact, and ${ledger}.`)
  say('The signer key is not in it; copy that with: counterfoil signer copy <file>')
}

async function restore(file: string, options: Options): Promise<void> {
  const config = configOf(options)
  const database = fileOf(config, () => restoreCommands(config.database_url, file))
  if (!existsSync(file)) throw new Exit(exitCodes.failed, `${file} does not exist`)
  await assertWhole(file)
  ensureFolder(config.data, 'data')
  ensureFolder(dirname(database), 'database_url')
  const lock = lockDataFolder(config.data)
  try {
    for (const path of [database, `${database}-wal`]) if (existsSync(path)) throw taken(path)
    const about = await beside(database, async (copy) => {
      copyBackup(file, copy)
      chmodSync(copy, 0o600)
      const found = await inspect(copy)
      const ended = prepareCopy(copy, systemClock.now())
      putInPlace(copy, database)
      return { ...found, sessions_ended: ended.sessions, calls_freed: ended.calls }
    })
    if (options.json) return printJson({ database: resolve(database), ...about })
    print(database)
    say(`${about.log_size} leaves of ${about.origin ?? 'a log that is not open yet'}.`)
    say('All sessions have ended. Deposits after the copy are read from the chain again.')
    if (about.signer)
      say(`Also restore the signer key of ${about.signer} (mode 0600); backups do not hold it.`)
    say('It lacks receipts issued after the backup: docs/signer.md, "A log that diverged".')
  } finally {
    lock.release()
  }
}

/** The file of an embedded database. @throws Exit 1 with the commands for PostgreSQL. */
function fileOf({ database_url: url }: Config, commands: () => string): string {
  if (url.startsWith('sqlite:')) return url.slice('sqlite:'.length)
  throw new Exit(exitCodes.failed, commands())
}

const taken = (path: string): Exit =>
  new Exit(exitCodes.failed, `${path} already exists and was not changed. Move it away first`)

/** Checks a copy's pages and sums. @throws Exit 1 that lists the faults */
async function inspect(copy: string) {
  const db = openSqlite(copy, { readonly: true })
  try {
    const faults = faultsOf(db)
    const { pending } = sqliteState(db.raw)
    // Only the build of an older schema can audit its ledger.
    const isCurrent = pending.length === 0
    if (isCurrent) faults.push(...(await auditStore(db).faults(systemClock.now())))
    if (faults.length > 0) {
      const list = faults.map((fault) => `  - ${fault}`).join('\n')
      throw new Exit(exitCodes.failed, `The copy is damaged and was deleted:\n${list}`)
    }
    const about = isCurrent ? await describe(db) : { origin: null, signer: null, log_size: null }
    return { ...about, ledger: isCurrent ? ('balanced' as const) : ('unchecked' as const) }
  } finally {
    await db.close()
  }
}

async function describe(db: Db) {
  const history = await findHistory(db)
  const start = history?.logs.current.start ?? 0
  const log = logStore(db, { clock: systemClock, node: 'command', start })
  return {
    origin: history?.logs.current.origin ?? null,
    signer: history?.signers.current.address ?? null,
    log_size: await log.size(),
  }
}

/** Records the time of the backup for `doctor`. A failure here leaves the copy valid. */
async function remember(database: string, at: string): Promise<void> {
  const db = openSqlite(database)
  try {
    await noteBackup(db, at)
  } catch {
    say('The time of this backup could not be saved; doctor will not know of it.')
  } finally {
    await db.close()
  }
}
