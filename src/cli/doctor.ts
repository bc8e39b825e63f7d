/** `doctor`: lists what is wrong or missing for production, each with its fix. */
import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { withoutPassword } from '../config/database-place.ts'
import { readConfig } from '../config/file.ts'
import {
  Exit,
  exitCodes,
  print,
  printJson,
  say,
  takeSignerKey,
  verb,
  wholeConfigOf,
} from './context.ts'
import { lookAtConfigDigests, lookAtConnections, lookAtMoves } from './doctor-cluster.ts'
import {
  type DatabaseFindings,
  lookAtClock,
  lookAtDatabase,
  lookAtPast,
  lookAtSigner,
  openForLook,
} from './doctor-database.ts'
import { lookAtLog, lookAtReplication } from './doctor-log.ts'
import { lookAtDisk, lookAtFiles } from './doctor-machine.ts'
import { lookAtChain, lookAtModels, lookAtOrigin, lookAtPrices } from './doctor-network.ts'
import { lookAtPatience } from './doctor-patience.ts'
import { lookAtRates, lookAtUpstreams, lookAtUsage } from './doctor-rates.ts'
import { type Finding, failure, lookAt, quote } from './finding.ts'

export function doctorCommand(program: Command): void {
  verb(program, 'doctor', 'find problems and missing settings, each with its fix').action(examine)
}

type Options = Record<string, unknown> & { json?: boolean }

async function examine(options: Options): Promise<void> {
  const loaded = readConfig(options, options['config'] as string | undefined)
  if ('problems' in loaded && options.json) {
    const fix = 'counterfoil config --explain'
    const findings = loaded.problems.map((problem) => failure('configuration', problem, fix))
    printJson({ ok: false, findings })
  }
  const config = wholeConfigOf(options)
  const envKey = takeSignerKey()
  const opened: DatabaseFindings[] = []
  const findings = [
    ...(await lookAt('files', 'ls -la', () => lookAtFiles(config))),
    ...(await lookAt('disk', 'df -h', () => lookAtDisk(config))),
    ...lookAtPatience(config),
    ...(await lookAt('database', whenNoDatabase(config), async () => {
      const looked = await openForLook(config)
      opened.push(looked)
      const { db } = looked
      if (!db) return looked.findings
      return [
        ...(await lookAtDatabase(config, db)),
        ...(await lookAtClock(db)),
        ...(await lookAtPast(db)),
        ...(await lookAtReplication(db)),
        ...(await lookAtConnections(config, db)),
        ...(await lookAtMoves(db)),
        ...(await lookAtConfigDigests(config, db)),
        ...(await lookAtLog(config, db)),
        ...(await lookAtRates(config, db)),
        ...(await lookAtUsage(db)),
        ...(await lookAtUpstreams(db)),
      ]
    })),
  ]
  const db = opened[0]?.db
  try {
    const key = () => lookAtSigner(config, db, envKey)
    const slow = await Promise.all([
      lookAt('signer', 'restore the right key', key),
      lookAt('origin', 'curl -v the base_url', () => lookAtOrigin(config)),
      lookAt('models', 'counterfoil models check', () => lookAtModels(config)),
      lookAt('prices', 'counterfoil models check', () => lookAtPrices(config)),
      lookAt('chain', 'check [chain] rpc_urls', () => lookAtChain(config, db)),
    ])
    report([...findings, ...slow.flat()], options)
  } finally {
    await db?.close()
  }
}

/** The fix to suggest if the database cannot be opened. */
function whenNoDatabase({ database_url: url }: Config): string {
  if (url.startsWith('sqlite:')) return 'counterfoil restore <newest backup>'
  return `psql ${quote(withoutPassword(url))}, with database_url right and its server running`
}

const marks = { ok: '✓', warn: '!', fail: '✗' } as const

function report(findings: Finding[], { json }: Options): void {
  const count = (status: Finding['status']) =>
    findings.filter((one) => one.status === status).length
  const [failed, warned] = [count('fail'), count('warn')]
  if (json) printJson({ ok: failed === 0, findings })
  else {
    for (const { part, status, message, fix } of findings) {
      print(`${marks[status]} ${part.padEnd(9)} ${message}`)
      if (fix !== null) print(`${' '.repeat(12)}→ ${fix}`)
    }
  }
  const words = `${failed} to repair, ${warned} missing for production.`
  if (failed > 0) throw new Exit(exitCodes.failed, words)
  if (!json) say(words)
}
