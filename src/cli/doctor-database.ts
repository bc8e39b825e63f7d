/** The `doctor` checks of the database, the signer key and the clock. */
import { existsSync } from 'node:fs'
import { elsewhereWords } from '../app/missing-database.ts'
import { readSchemaState } from '../app/open-database.ts'
import { keySourceOf } from '../app/open-signer.ts'
import type { Config } from '../config/config.ts'
import { databaseName } from '../config/database-place.ts'
import { systemClock } from '../kernel/clock.ts'
import { systemRandom } from '../kernel/random.ts'
import { skewOf, skewWords } from '../kernel/skew.ts'
import { auditStore } from '../ledger/store/audit.ts'
import { openSource } from '../proof/signer/source.ts'
import { assertSame, findCopied, findHistory, findKnownSigner } from '../proof/signer/store.ts'
import { connect } from '../storage/db/engine/connection.ts'
import type { Db } from '../storage/db/engine/db.ts'
import { openLeaseClock } from '../storage/db/engine/lease-clock.ts'
import { openPostgres } from '../storage/db/engine/postgres.ts'
import { openSqlite } from '../storage/db/engine/sqlite.ts'
import { faultsOf, newestBackup, staleBackupMs } from '../storage/db/files/backup.ts'
import { type CopiedMarker, readCopiedMarker } from '../storage/db/files/copied-marker.ts'
import { ForeignSchema } from '../storage/db/schema/migrate.ts'
import { type Finding, failure, fine, quote, warning } from './finding.ts'

const serveFix = 'counterfoil serve'
const backupFix = 'counterfoil backup counterfoil-$(date +%F).db'

/** A database at this build's schema, or the findings that explain its absence. */
export type DatabaseFindings = { db: Db | undefined; findings: Finding[] }

/** Opens the database without changing it. @throws Error that says why it cannot */
export async function openForLook(config: Config): Promise<DatabaseFindings> {
  const state = await readSchemaState(config).catch((error: unknown) => {
    if (error instanceof ForeignSchema) return error
    throw error
  })
  if (state instanceof ForeignSchema) return { db: undefined, findings: [foreignSchema(state)] }
  if (!state || state.applied.length === 0) {
    const where = databaseName(config)
    const words = `There is no database at ${where} yet; the first start creates it.`
    const elsewhere = elsewhereWords(where)
    const fix =
      elsewhere.length === 0
        ? serveFix
        : `${serveFix}; for a server that runs: its folder, or its --config or --data`
    const seen = [words, ...elsewhere].join('\n')
    return { db: undefined, findings: [warning('database', seen, fix)] }
  }
  const { length } = state.pending
  if (length > 0) {
    const words = `The database is ${length} migrations behind this build.`
    return { db: undefined, findings: [warning('database', words, 'counterfoil migrate')] }
  }
  const findings = state.unknown.length > 0 ? [newerSchema(state.unknown)] : []
  const url = config.database_url
  if (!url.startsWith('sqlite:')) return { db: openPostgres(url), findings }
  return { db: openSqlite(url.slice('sqlite:'.length)), findings }
}

const newerSchema = (steps: string[]): Finding => {
  const words =
    `A newer version added to the database: ${steps.join(', ')}. This version can serve it, ` +
    'without what is new.'
  return warning('database', words, 'upgrade this executable: docs/nodes.md')
}

const foreignSchema = ({ tag }: ForeignSchema): Finding => {
  const words =
    `A newer version changed the database with ${tag}, which this version does not know: ` +
    'it cannot serve it.'
  return failure('database', words, 'install the newer version again: docs/install.md')
}

const restoreFix = 'counterfoil restore <newest backup that adds up>'

/** Checks that the database is intact, its ledger balances, and a recent backup exists. */
export async function lookAtDatabase(config: Config, db: Db): Promise<Finding[]> {
  const url = config.database_url
  const isEmbedded = url.startsWith('sqlite:')
  const broken = isEmbedded ? brokenIn(url.slice('sqlite:'.length)) : []
  if (broken.length > 0) {
    const words = `The database is damaged: ${broken.join('; ')}.`
    return [failure('database', words, 'counterfoil restore <newest backup>')]
  }
  const moved = isEmbedded ? movedIn(url.slice('sqlite:'.length)) : undefined
  if (moved) {
    const words = `The database was copied to ${moved.to} at ${moved.at} and continues there.`
    return [failure('database', words, `set database_url to ${moved.to}`)]
  }
  const faults = await auditStore(db).faults(systemClock.now())
  const whole = fine('database', isEmbedded ? 'Every page is intact.' : 'It responds.')
  const ledger = faults.map((fault) => failure('ledger', `${fault}.`, restoreFix))
  const balanced = fine('ledger', 'Every balance is the sum of its transfers.')
  const money = ledger.length > 0 ? ledger : [balanced]
  return [whole, ...money, backupOf(await newestBackup(db))]
}

function brokenIn(file: string): string[] {
  const raw = connect(file, { readonly: true })
  try {
    return faultsOf({ raw })
  } finally {
    raw.close()
  }
}

function movedIn(file: string): CopiedMarker | undefined {
  const raw = connect(file, { readonly: true })
  try {
    return readCopiedMarker(raw)
  } finally {
    raw.close()
  }
}

function backupOf(newest: string | undefined): Finding {
  if (newest === undefined) {
    return warning(
      'backup',
      'This database was never backed up with counterfoil backup.',
      backupFix,
    )
  }
  const age = systemClock.now() - Date.parse(newest)
  const words = `The newest backup was taken at ${newest}.`
  return age > staleBackupMs ? warning('backup', words, backupFix) : fine('backup', words)
}

/** Checks that the signing key is the right one and has a copy. */
export async function lookAtSigner(
  config: Config,
  db: Db | undefined,
  envKey: string | undefined,
): Promise<Finding[]> {
  const source = keySourceOf(config, envKey)
  const known = db && (await findKnownSigner(db))
  if (source.kind === 'data' && known === undefined && !existsSync(source.file)) {
    return [warning('signer', 'There is no signer key yet; the first start creates it.', serveFix)]
  }
  const { address } = openSource(source, known, systemRandom())
  if (known !== undefined) assertSame(known, { address })
  const right = fine('signer', `Receipts are signed by ${address}.`)
  if (source.kind === 'env' || source.kind === 'keystore') return [right]
  if (db && (await findCopied(db)) === address) return [right]
  const words = `${source.file} was never copied, and backups do not hold it.`
  const fix = `counterfoil signer copy ${quote('signer-copy.key')}, and move that off this machine`
  return [right, warning('signer', words, fix)]
}

/** Compares this machine's clock with the database server's; SQLite has none. */
export async function lookAtClock(db: Db): Promise<Finding[]> {
  const aheadMs = (await openLeaseClock(db, systemClock)).aheadMs()
  if (aheadMs === null) return []
  const skew = skewOf(aheadMs)
  if (skew === 'ok') return [fine('clock', "It agrees with the database server's clock.")]
  const words = `The clock of this machine is ${skewWords(aheadMs)} the database's.`
  if (skew === 'skewed') return [warning('clock', words, 'timedatectl set-ntp true')]
  return [failure('clock', `${words} The server does not start.`, 'timedatectl set-ntp true')]
}

/** Checks that the clock is not behind times already stored. */
export async function lookAtPast(db: Db): Promise<Finding[]> {
  const now = systemClock.now()
  const openedAt = (await findHistory(db))?.logs.current.openedAt ?? 0
  const backedUpAt = Date.parse((await newestBackup(db)) ?? '') || 0
  if (Math.max(openedAt, backedUpAt) <= now) return []
  return [
    failure(
      'clock',
      'The clock is behind times stored in the database.',
      'timedatectl set-ntp true',
    ),
  ]
}
