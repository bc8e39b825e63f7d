/** `db copy`: moves a database from SQLite to PostgreSQL. */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { type CopyReport, copyDatabase } from '../app/copy-database.ts'
import { missingDatabase } from '../app/missing-database.ts'
import { assertWhole } from '../app/open-database.ts'
import { systemClock, toRfc3339 } from '../kernel/clock.ts'
import { toUsd } from '../kernel/money.ts'
import { connect } from '../storage/db/engine/connection.ts'
import { liveNodes } from '../storage/db/engine/lease.ts'
import { openingFault } from '../storage/db/engine/opening-fault.ts'
import { openPostgres } from '../storage/db/engine/postgres.ts'
import { openSqlite } from '../storage/db/engine/sqlite.ts'
import {
  type CopiedMarker,
  placeOf,
  readCopiedMarker,
  writeCopiedMarker,
} from '../storage/db/files/copied-marker.ts'
import { lockDatabaseFile, lockDataFolder } from '../storage/db/files/lock.ts'
import { sqliteState } from '../storage/db/schema/migrate.ts'
import { configOf, Exit, exitCodes, print, printJson, say, verb } from './context.ts'

export function databaseCommands(program: Command): void {
  const db = program.command('db').description('move the database')
  verb(db, 'copy', 'copy a SQLite database to an empty PostgreSQL one; stop the server first')
    .requiredOption('--from <sqlite:…>', 'the database to copy; it is marked as moved afterwards')
    .requiredOption('--to <postgres://…>', 'an empty database')
    .action(copy)
}

type Options = Record<string, unknown> & { from: string; to: string; json?: boolean }

async function copy(options: Options): Promise<void> {
  const file = fileIn(options.from)
  if (!/^postgres(ql)?:\/\//.test(options.to)) throw usage('--to is not a postgres:// URL')
  if (!existsSync(file)) throw missingDatabase({ database_url: options.from })
  await assertWhole(file)
  const still = keepStill(file, configOf(options).data)
  const source = openSqlite(file, { readonly: true })
  const target = openPostgres(options.to)
  try {
    await assertReady(source)
    const to = placeOf(options.to)
    const copied = await copyDatabase(source, target, {
      now: systemClock.now(),
      tell: ({ table, rows }) => void (rows > 0 && say(`${table}: ${rows} rows`)),
    }).catch((error: unknown) => {
      throw openingFault(error, options.to)
    })
    still.mark({ to, at: toRfc3339(systemClock.now()) })
    if (options.json) printJson(asJson(copied))
    else show(copied)
    say(`Every row was read back and is identical. The file is marked as moved to ${to}; no server`)
    say('starts on it now. See docs/nodes.md, "Move from SQLite".')
  } finally {
    await source.close()
    await target.close()
    still.end()
  }
}

function fileIn(from: string): string {
  if (!from.startsWith('sqlite:')) throw usage('--from is not a sqlite: URL')
  return resolve(from.slice('sqlite:'.length))
}

const usage = (why: string): Exit => new Exit(exitCodes.usage, why)

/**
 * Locks out servers and all other writers until `end`; `mark` records where the copy is.
 * @throws Error while a server holds the data folder or the file
 */
function keepStill(file: string, data: string) {
  const folders = new Set([dirname(file), resolve(data)])
  const held = [...folders].filter((folder) => existsSync(join(folder, 'lock.db')))
  const locks = [...held.map((folder) => lockDataFolder(folder)), lockDatabaseFile(file)]
  const writer = connect(file)
  writer.run('PRAGMA busy_timeout = 5000')
  writer.run('BEGIN IMMEDIATE')
  return {
    mark(moved: CopiedMarker): void {
      writeCopiedMarker(writer, moved)
      writer.run('COMMIT')
    },
    end(): void {
      if (writer.inTransaction) writer.run('ROLLBACK')
      writer.close()
      for (const lock of locks) lock?.release()
    },
  }
}

/** @throws Exit 1 if it was already copied, its schema is older, or a server uses it */
async function assertReady(source: ReturnType<typeof openSqlite>): Promise<void> {
  const moved = readCopiedMarker(source.raw)
  if (moved) {
    const why = `The database was copied to ${moved.to} at ${moved.at}`
    throw new Exit(exitCodes.failed, `${why}; to use this file instead: counterfoil serve --really`)
  }
  if (sqliteState(source.raw).pending.length > 0) {
    throw new Exit(exitCodes.failed, 'The database has an older schema: counterfoil migrate')
  }
  const [alive] = await source.read((q) => liveNodes(source, q, systemClock.now()))
  if (alive === undefined) return
  const why = `Server ${alive} uses this database, or was killed seconds ago`
  throw new Exit(exitCodes.failed, `${why}: stop it, or wait ten seconds`)
}

const asJson = ({ tables, ledger, logs }: CopyReport) => ({
  tables: tables.map(({ table, rows }) => ({ table, rows })),
  balance_nusd: String(ledger.balance),
  held_nusd: String(ledger.held),
  sides_nusd: Object.fromEntries(
    Object.entries(ledger.sides).map(([side, amount]) => [side, String(amount)]),
  ),
  logs,
})

function show({ tables, ledger, logs }: CopyReport): void {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  print(`rows      ${rows} in ${tables.length} tables`)
  print(`balances  ${toUsd(ledger.balance)} USD, of which ${toUsd(ledger.held)} held`)
  for (const [side, amount] of Object.entries(ledger.sides)) {
    print(`  ${side.padEnd(8)}${toUsd(amount)} USD`)
  }
  for (const { origin, size, root } of logs) print(`log       ${origin}: ${size} leaves, ${root}`)
}
