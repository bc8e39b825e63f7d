/** `serve`, also what `counterfoil` alone does: opens the database and runs the server. */
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { toAccountId } from '../access/accounts/account.ts'
import { issueKey } from '../access/keys/issue.ts'
import { defaultLifeMs, scopes } from '../access/keys/key.ts'
import { issueSetupLink } from '../access/operators/setup-link.ts'
import { openWhenThere, untilClockIsRight } from '../app/await-database.ts'
import { openChangeDesk } from '../app/changes/change-desk.ts'
import type { Deps } from '../app/deps-port.ts'
import { type LevelledLog, openLog } from '../app/logging.ts'
import type { ProcessFacts } from '../app/metrics/collect.ts'
import { assertThere, ensureDatabaseFolder, openDatabase } from '../app/open-database.ts'
import { openAnchorSender, openDataSigner, openHeads } from '../app/open-signer.ts'
import { openProviderDesk } from '../app/providers/open-desk.ts'
import { reloader, warnOfPrices } from '../app/reload.ts'
import { openSetupDesk } from '../app/setup/open-desk.ts'
import { type RunningService, startServer } from '../app/start.ts'
import type { Config } from '../config/config.ts'
import { ensureFolder } from '../config/ensure-folder.ts'
import { readConfig } from '../config/file.ts'
import { systemClock } from '../kernel/clock.ts'
import { makeIds } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import { systemRandom } from '../kernel/random.ts'
import { grantCredit } from '../ledger/grant.ts'
import { lockServer, type ServerLock } from '../storage/db/files/lock.ts'
import { dropHalfPlaced } from '../storage/db/files/new-file.ts'
import { listenEarly, type WaitingQueue } from '../web/http/waiting.ts'
import { exitCodes, print, say, takeSignerKey, wholeConfigOf, withSettings } from './context.ts'
import { pathOf } from './model-changes.ts'

/** The first well-known test account; its private key is public. */
const devAccount = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const devCredit = 10_000_000_000n
const devCap = 5_000_000_000n
const devKeyLifeMs = defaultLifeMs / 3

type ServeOptions = Record<string, unknown> & {
  dev?: boolean
  demo?: boolean
  data?: string
  really?: boolean
  provider?: string
}

export function serveCommand(program: Command): void {
  withSettings(program.command('serve', { isDefault: true }))
    .description('run the server')
    .option('--dev', 'try it out: temporary data, a funded test account and a key')
    .option('--provider <id>', 'with --dev: also sell the models of a provider, at what they cost')
    .option('--demo', 'a public demonstration: invented data that resets every hour, no real money')
    .option('--really', 'use a database that db copy has marked as moved')
    .action(run)
}

async function run(options: ServeOptions): Promise<void> {
  // Loaded only then: no other start evaluates it.
  if (options.demo) return (await import('./serve-demo.ts')).serveDemo(options, readProcess)
  if (options.dev && options.data === undefined) {
    options.data = mkdtempSync(join(tmpdir(), 'counterfoil-'))
  }
  const config = options.provider
    ? // Loaded only then, with the data of prices.
      await (await import('./serve-provider.ts')).configWith(options.provider, options)
    : wholeConfigOf(options)
  const { level, format } = config.log
  const isPretty = format === 'pretty' || (format === 'auto' && process.stderr.isTTY === true)
  const log = openLog({ level, format: isPretty ? 'pretty' : 'json' })
  warnOfPrices(config, log)
  ensureFolder(config.data, 'data')
  const isEmbedded = config.database_url.startsWith('sqlite:')
  if (isEmbedded) ensureDatabaseFolder(config)
  const lock = isEmbedded ? lockServer(config.data) : undefined
  if (isEmbedded) dropHalfPlaced(config.database_url.slice('sqlite:'.length))
  const key = join(config.data, 'signer.key')
  // Without the lock another process may be placing a key, unless it is already there.
  if (isEmbedded || existsSync(key)) dropHalfPlaced(key)
  const asRead = structuredClone(config)
  // Unhandled, a SIGHUP during the start would end the process.
  if (!options.dev) process.on('SIGHUP', () => {})
  const waiting = listenEarly(config.listen, makeIds(systemClock, systemRandom(), config.shard.id))
  config.base_url = config.base_url.replace(/:0$/, `:${config.listen.port}`)
  const { dev: isDev, really: evenIfMoved } = options
  const opening = { config, log, waiting, lock, isDev, evenIfMoved }
  const server = await open(opening).catch(async (error) => {
    // The listener alone would keep the process alive.
    await waiting.close()
    throw error
  })
  process.on('unhandledRejection', (error) => log.error('process.unhandled', error))
  stopOnSignals(server, lock, config.limits.stop_grace_s * 1000)
  // With --dev, closing the terminal (SIGHUP) must end the process.
  if (!options.dev) reloadOnSignal(server, { log, config: asRead }, options)
  say(`counterfoil listens on ${server.url}; receipts are signed by ${server.deps.signer.address}`)
  if (!options.dev) say(missingForRealUse(config))
  if (!options.dev && config.admins.length === 0) await printSetupLink(server.deps)
}

type ServeContext = {
  config: Config
  log: Log
  waiting: WaitingQueue
  lock: ServerLock | undefined
  isDev: boolean | undefined
  evenIfMoved: boolean | undefined
}

/** Starts the service behind the early listener. */
async function open(opening: ServeContext): Promise<RunningService> {
  const { config, log, waiting, lock, isDev, evenIfMoved } = opening
  const needs = { waiting, log, clock: systemClock }
  const { db, migrated, moved } = await openWhenThere(async () => {
    await assertThere(config)
    waiting.enter('migrating')
    return openDatabase(config, { lock, evenIfMoved, mayCreate: true })
  }, needs)
  if (moved) log.warn('database.goes_on_beside_copy', { copied_to: moved.to, copied_at: moved.at })
  if (migrated.length > 0) log.info('database.migrated', { steps: migrated })
  await untilClockIsRight(db, needs)
  const signer = await openDataSigner(config, db, takeSignerKey())
  waiting.enter('checking')
  const headFile = openHeads(config)
  const sender = openAnchorSender(config)
  const parts = { config, db, signer, log, headFile, sender, readProcess }
  // The key is printed before the server reports ready.
  return startServer(parts, { waiting, prepare: isDev ? tryOut : undefined })
}

/** While trying it out, webhooks may go to a receiver on the same machine. */
async function tryOut(deps: Deps): Promise<void> {
  deps.settings.webhookReach = { ...deps.settings.webhookReach, isLoopbackAllowed: true }
  await printDevKey(deps)
}

type ServeConfig = { log: LevelledLog; config: Config }

function reloadOnSignal({ deps }: RunningService, read: ServeConfig, options: ServeOptions): void {
  const readAgain = () => readConfig(options, options['config'] as string | undefined)
  const reload = reloader({ service: deps, readAgain, ...read })
  deps.reload.again = reload
  const place = { path: pathOf(options), flags: options, config: read.config, reload }
  deps.providers.desk = openProviderDesk(place, deps.clock)
  deps.setup.desk = openSetupDesk(place)
  deps.changes.desk = openChangeDesk(place)
  // The error is already logged.
  process.on('SIGHUP', () => void reload().catch(() => {}))
}

/** The first signal lets live runs continue for `graceMs`; a second one ends them at once. */
function stopOnSignals(
  server: RunningService,
  lock: ServerLock | undefined,
  graceMs: number,
): void {
  let asked = 0
  const stop = (): void => {
    asked++
    if (asked > 1) {
      for (const run of server.deps.live.all()) run.stop('shutdown')
      return
    }
    server
      .stop(graceMs)
      .catch((error: unknown) => {
        server.deps.log.error('server.stop_failed', error)
        process.exitCode = exitCodes.failed
      })
      .finally(() => {
        lock?.release()
        process.exit()
      })
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

const startedAt = systemClock.now() / 1000

/** Memory and CPU of this process, for the metrics. */
function readProcess(): ProcessFacts {
  const { rss, heapUsed } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  return {
    residentBytes: rss,
    heapBytes: heapUsed,
    cpuSeconds: (user + system) / 1_000_000,
    startedAt,
  }
}

/** Prints a key of a funded account whose private key is public: for trials only. */
async function printDevKey(deps: Deps): Promise<void> {
  const account = toAccountId(devAccount)
  const known = await deps.accounts.find(account)
  if (!known || known.balance < devCap) {
    const reason = 'serve --dev'
    await grantCredit(deps, { account, amount: devCredit, reason, actor: 'operator' })
  }
  const { secret } = await issueKey(deps, {
    account,
    name: 'dev',
    capLimit: devCap,
    capWindow: 'lifetime',
    // It tries all that /llms.txt shows.
    scopes: [...scopes],
    expiresAt: deps.clock.now() + devKeyLifeMs,
    actor: 'operator',
  })
  deps.settings.devAccount = account
  say(`The key belongs to the test account ${devAccount}.`)
  say(
    `For trials only: its private key is public. Sign in as it at ${deps.settings.baseUrl}/signin`,
  )
  print(`COUNTERFOIL_KEY=${secret}`)
}

/**
 * Prints a link while the service is new. Outputs are often collected, and a reader of a link can
 * use it: a service that holds accounts leaves it to the command, which needs its folder.
 */
async function printSetupLink(deps: Deps): Promise<void> {
  if (!(await deps.setupLinks.isNewService())) {
    return say('No wallet operates this service yet. Print a link to set it up: counterfoil setup')
  }
  const link = await issueSetupLink(deps, deps.settings.baseUrl, { alone: false })
  say(`No wallet operates this service yet. Set it up within an hour: ${link}`)
}

function missingForRealUse(config: Config): string {
  const missing = [
    ...(config.models.length === 0
      ? ['a provider: only the built-in models are available. Add one: counterfoil provider add']
      : []),
    ...(config.base_url.startsWith('http://localhost')
      ? ['base_url: the public origin that receipts name as their issuer']
      : []),
    ...(config.chain.rpc_urls.length === 0 || config.anchors.sender_key_file === undefined
      ? ['[chain] rpc_urls and [anchors] sender_key_file: the log is not anchored']
      : []),
    'a copy of signer.key in a safe place: every receipt relies on it',
  ]
  return [
    'Missing for production:',
    ...missing.map((line) => `  - ${line}`),
    'For details run: counterfoil doctor',
  ].join('\n')
}
