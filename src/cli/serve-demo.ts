/** `serve --demo`: a public demonstration with throw-away data, and what it refuses to be. */
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDemo } from '../app/demo/demo.ts'
import { openLog } from '../app/logging.ts'
import type { ProcessFacts } from '../app/metrics/collect.ts'
import type { Source } from '../config/config.ts'
import { readConfig } from '../config/file.ts'
import { lockServer } from '../storage/db/files/lock.ts'
import { Exit, exitCodes, say } from './context.ts'

/** Settings that mean the same in a demonstration; all others are refused. */
const kept = /^(base_url|listen|trusted_proxies|log\.\w+|metrics\.\w+|limits\.stop_grace_s)$/
/** Entries of a configuration that are for real use. */
const lists = ['upstreams', 'models', 'plans', 'webhooks'] as const
const prefix = 'counterfoil-demo-'

/** Serves until a signal; SIGHUP resets at once. @throws Exit 78 naming all that does not fit */
export async function serveDemo(
  options: Record<string, unknown>,
  readProcess: () => ProcessFacts,
): Promise<void> {
  const config = configOf(options)
  const { level, format } = config.log
  const isPretty = format === 'pretty' || (format === 'auto' && process.stderr.isTTY === true)
  const log = openLog({ level, format: isPretty ? 'pretty' : 'json' })
  deleteLeftBehind()
  const folder = mkdtempSync(join(tmpdir(), prefix))
  const lock = lockServer(folder)
  const remove = (): void => {
    lock.release()
    rmSync(folder, { recursive: true, force: true })
  }
  // Unhandled, a SIGHUP during the start would end the process.
  process.on('SIGHUP', () => {})
  process.on('unhandledRejection', (error) => log.error('process.unhandled', error))
  const demo = await startDemo({ config, folder, log, readProcess }).catch((error: unknown) => {
    remove()
    throw error
  })
  say(`counterfoil listens on ${demo.url}; a demonstration, reset every full hour and by SIGHUP`)
  process.on('SIGHUP', () => {
    demo.reset().catch((error: unknown) => log.error('demo.not_reset', error))
  })
  let asked = 0
  const stop = (): void => {
    asked++
    const all = demo.current().deps.live.all()
    if (asked > 1) {
      for (const run of all) run.stop('shutdown')
      return
    }
    demo
      .stop(config.limits.stop_grace_s * 1000)
      .catch((error: unknown) => {
        log.error('server.stop_failed', error)
        process.exitCode = exitCodes.failed
      })
      .finally(() => {
        remove()
        process.exit()
      })
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

/** The configuration, if nothing in it is for real use. */
function configOf(options: Record<string, unknown>) {
  const loaded = readConfig(options, options['config'] as string | undefined)
  const faults = 'problems' in loaded ? loaded.problems : misplaced(options, loaded)
  if ('config' in loaded && faults.length === 0) return loaded.config
  const list = faults.map((fault) => `  - ${fault}`).join('\n')
  throw new Exit(exitCodes.configuration, `This is not a configuration of serve --demo:\n${list}`)
}

type LoadedConfig = Exclude<ReturnType<typeof readConfig>, { problems: string[] }>

function misplaced(options: Record<string, unknown>, { config, sources }: LoadedConfig): string[] {
  const flags = ['dev', 'really'].filter((name) => options[name] === true)
  const settings = Object.entries(sources).filter(([path, source]) => isMisplaced(path, source))
  return [
    ...flags.map((name) => `--${name} does not go with --demo; leave one of them out`),
    ...settings.map(([path, source]) => `${path} (${source}): ${reasonOf(path)}`),
    ...lists
      .filter((name) => config[name].length > 0)
      .map((name) => `[[${name}]]: ${reasonOf(name)}`),
    ...(process.env['COUNTERFOIL_SIGNER_KEY'] || process.env['COUNTERFOIL_SIGNER_KEY_FILE']
      ? ['COUNTERFOIL_SIGNER_KEY: the demo makes a key at each reset; unset the variable']
      : []),
  ]
}

const isMisplaced = (path: string, source: Source): boolean =>
  source !== 'default' && !kept.test(path)

/** Why, and what to do. */
function reasonOf(path: string): string {
  const [section = ''] = path.split('.')
  const words = reasons[section] ?? 'the demo sets it itself'
  return `${words}; use --config with a file for the demo, or serve without --demo`
}

const reasons: Record<string, string> = {
  data: 'the demo keeps no data; it makes a temporary folder and deletes it',
  database_url: 'the demo keeps no data; it makes a temporary database and deletes it',
  admins: 'a demo has no operator pages',
  chain: 'a demo takes no real money and asks no chain',
  deposits: 'a demo takes no real money',
  anchors: 'a demo anchors nothing on a chain',
  signer: 'the demo makes a key at each reset',
  upstreams: 'a demo calls no model server; its models answer in the process',
  models: 'a demo has models of its own',
  plans: 'a demo has plans of its own',
  webhooks: 'a demo sends nothing to other servers',
  outbound: 'a demo sends nothing to other servers',
  telemetry: 'a demo sends nothing to other servers',
}

/** Deletes folders of demonstrations of this user that ended without a chance to. */
function deleteLeftBehind(): void {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(prefix)) continue
    const folder = join(tmpdir(), name)
    const facts = lstatSync(folder, { throwIfNoEntry: false })
    if (!facts?.isDirectory() || facts.uid !== process.getuid?.()) continue
    try {
      lockServer(folder).release()
    } catch {
      // Another one serves from it.
      continue
    }
    rmSync(folder, { recursive: true, force: true })
  }
}
