/** The small commands around a server: `migrate`, `config`, `version`. */
import type { Command } from 'commander'
import { missingDatabase } from '../app/missing-database.ts'
import { lockDatabase, openDatabase, readSchemaState } from '../app/open-database.ts'
import { lossesIn } from '../app/reload.ts'
import { commit, version } from '../app/version.ts'
import { readConfig } from '../config/file.ts'
import { oddPriceFix, oddPrices } from '../config/odd-prices.ts'
import { configView, explainConfig, showConfig } from '../config/show.ts'
import { toRfc3339 } from '../kernel/clock.ts'
import { configOf, print, printJson, say, verb } from './context.ts'

export function upkeepCommands(program: Command): void {
  verb(program, 'migrate', "migrate the database to this build's schema; stop the server first")
    .option('--status', 'list applied and pending migrations; changes nothing')
    .action((options: MigrateOptions) => (options.status ? schemaStatus : migrate)(options))
  verb(program, 'config', 'show the effective settings and where each comes from')
    .option('--explain', 'also describe each setting and how to set it')
    .action((options: Record<string, unknown>) => {
      const config = configOf(options)
      const file = options['config'] as string | undefined
      const loaded = readConfig(options, file, { isOffline: true })
      if (!('sources' in loaded)) return
      const { sources } = loaded
      const whole = readConfig(options, file)
      if ('problems' in whole)
        for (const problem of whole.problems) say(`serve needs it: ${problem}`)
      for (const loss of lossesIn(config)) say(`Below cost: ${loss}.`)
      for (const price of oddPrices(config)) say(`Is this meant? ${price}; ${oddPriceFix}`)
      if (options['json']) printJson({ object: 'list', data: configView(config, sources) })
      else print(options['explain'] ? explainConfig(config, sources) : showConfig(config, sources))
    })
  program
    .command('version')
    .description('show the version; as JSON also the platform, the curve and the schema')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      // Loads the native curve and the schema, which the short answer does not need.
      if (options.json) printJson((await import('./build-facts.ts')).buildFacts())
      else print(`counterfoil ${version}${commit ? ` (${commit})` : ''}`)
    })
}

type MigrateOptions = Record<string, unknown> & { status?: boolean; json?: boolean }

async function migrate(options: MigrateOptions): Promise<void> {
  const config = configOf(options)
  const state = await readSchemaState(config)
  // A server on the old schema would continue to write in it.
  const mustBeAlone = state !== undefined && state.pending.length > 0
  const lock = mustBeAlone ? lockDatabase(config) : undefined
  try {
    const { db, migrated } = await openDatabase(config, { lock, mayCreate: true })
    await db.close()
    if (options.json) printJson({ migrated })
    else say(migrated.length === 0 ? 'Nothing to migrate.' : `Applied ${migrated.join(', ')}.`)
  } finally {
    lock?.release()
  }
}

async function schemaStatus(options: MigrateOptions): Promise<void> {
  const config = configOf(options)
  const state = await readSchemaState(config)
  if (!state || state.applied.length === 0) throw missingDatabase(config)
  const applied = state.applied.map(({ tag, at }) => ({ tag, applied_at: toRfc3339(at) }))
  if (options.json) return printJson({ applied, pending: state.pending })
  for (const { tag, applied_at } of applied) print(`${applied_at}  ${tag}`)
  for (const tag of state.pending) print(`${'pending'.padEnd(24)}  ${tag}`)
  if (state.pending.length === 0) say('Nothing to migrate.')
  else say('Stop the server and run counterfoil migrate, or start this build.')
}
