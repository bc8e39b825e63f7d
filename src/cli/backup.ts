import { chmodSync, existsSync, statSync } from 'node:fs'
import { setPriority } from 'node:os'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { assertWhole } from '../app/open.ts'
import type { Config } from '../config/config.ts'
import { ensureFolder } from '../config/ensure-folder.ts'
import { systemClock, toRfc3339 } from '../kernel/clock.ts'
import { auditStore } from '../ledger/store/audit.ts'
import { logStore } from '../proof/log/store.ts'
import { findHistory } from '../proof/signer/store.ts'
import {
  beside,
  copyBackup,
  copyDatabase,
  faultsOf,
  makeReady,
  noteBackup,
  putInPlace,
} from '../storage/db/backup.ts'
import type { Db } from '../storage/db/db.ts'
import { lockDataFolder } from '../storage/db/lock.ts'
import { sqliteState } from '../storage/db/migrate.ts'
import { openSqlite } from '../storage/db/sqlite.ts'
import { configOf, Exit, exitCodes, print, printJson, say, withSettings } from './context.ts'
import { dump } from './pg-dump.ts'
import { restoreCommands } from './pg-tools.ts'

/** `backup <file>`, also beside a running server, and `restore <file>`, never beside one. */
export function backupCommands(program: Command): void {
  withSettings(program.command('backup'))
    .description('copy the database into a new file, also while the server runs')
    .argument('<file>', 'what to write; must not be there')
    .option('--json', 'print JSON')
    .action(backup)
  withSettings(program.command('restore'))
    .description('put a backup in the place of a database that is gone; stop the server first')
    .argument('<file>', 'what backup wrote')
    .option('--json', 'print JSON')
    .action(restore)
}

type Options = Record<string, unknown> & { json?: boolean }

/** Niceness of a process that copies and looks through a whole database. */
const copyNiceness = 10

async function backup(file: string, options: Options): Promise<void> {
  const config = configOf(options)
  if (existsSync(file)) throw taken(file)
  const { database_url: url } = config
  if (!url.startsWith('sqlite:')) return dump(url, file, options.json === true)
  const database = url.slice('sqlite:'.length)
  if (!existsSync(database)) throw new Exit(exitCodes.failed, `There is no database at ${database}`)
  // Requests that are served meanwhile go first.
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
  const ledger = about.ledger === 'balanced' ? 'the ledger adds up' : 'the ledger was not checked'
  say(`The database of ${takenAt} with ${about.log_size} leaves; it is whole, and ${ledger}.`)
  say('It holds no signer key: counterfoil signer copy <file> makes a copy of that.')
}

async function restore(file: string, options: Options): Promise<void> {
  const config = configOf(options)
  const database = fileOf(config, () => restoreCommands(config.database_url, file))
  if (!existsSync(file)) throw new Exit(exitCodes.failed, `There is no file ${file}`)
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
      const ended = makeReady(copy, systemClock.now())
      putInPlace(copy, database)
      return { ...found, sessions_ended: ended.sessions, calls_freed: ended.calls }
    })
    if (options.json) return printJson({ database: resolve(database), ...about })
    print(database)
    say(`${about.log_size} leaves of ${about.origin ?? 'a log that is not open yet'}.`)
    say('Everybody is signed out. Deposits are read from the chain again where the copy ends.')
    if (about.signer)
      say(`No backup holds the key of ${about.signer}: have it here too, mode 0600.`)
    say('Receipts issued after the backup are not in it: docs/signer.md, "A log that diverged".')
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
  new Exit(exitCodes.failed, `${path} is there already; it stays as it is. Move it away first`)

/** Looks whether a copy is whole and adds up. @throws Exit 1 with what does not. */
async function inspect(copy: string) {
  const db = openSqlite(copy, { readonly: true })
  try {
    const faults = faultsOf(db)
    const { pending } = sqliteState(db.raw)
    // An older schema is for the build that knows it; what can be checked without it was.
    const isCurrent = pending.length === 0
    if (isCurrent) faults.push(...(await auditStore(db).faults(systemClock.now())))
    if (faults.length > 0) {
      const list = faults.map((fault) => `  - ${fault}`).join('\n')
      throw new Exit(exitCodes.failed, `The copy is not sound, and was not kept:\n${list}`)
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

/** Writes down when this was, for `doctor`. The copy is there, whatever comes of that. */
async function remember(database: string, at: string): Promise<void> {
  const db = openSqlite(database)
  try {
    await noteBackup(db, at)
  } catch {
    say('The database could not be told about it; doctor will not know of this backup.')
  } finally {
    await db.close()
  }
}
