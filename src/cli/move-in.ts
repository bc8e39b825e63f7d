/** `import`: takes over models, keys and balances of LiteLLM, new-api, one-api, OpenRouter. */
import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import type { Plans } from '../access/plan.ts'
import { makePlans } from '../access/plan-config.ts'
import { openCommandServices } from '../app/open-command-services.ts'
import { readSchemaState } from '../app/open-database.ts'
import { readConfigText } from '../app/providers/config-file.ts'
import { writeChange } from '../app/providers/write-change.ts'
import type { Config } from '../config/config.ts'
import { exampleFile } from '../config/example.ts'
import { readConfigText as readConfigOf } from '../config/file.ts'
import { systemClock } from '../kernel/clock.ts'
import type { Decimal } from '../kernel/decimal.ts'
import { sha256Hex } from '../kernel/hash.ts'
import { Refusal } from '../kernel/refusal.ts'
import { configOf, Exit, exitCodes, print, say, withSettings } from './context.ts'
import { pathOf } from './model-changes.ts'
import {
  applyMoves,
  type NewSecrets,
  neededKeys,
  type Office,
  type Outcome,
  readPresent,
  storeSecrets,
} from './move-in/apply-moves.ts'
import { type Proposal, proposalOf, raisePlans } from './move-in/config-proposal.ts'
import { decideMoves, type Steps } from './move-in/decide-moves.ts'
import { type FoundOwner, lineCleaner, nothingFound, type SourceContents } from './move-in/found.ts'
import { type MovePlan, planMoves } from './move-in/plan-moves.ts'
import {
  type Gateway,
  gateways,
  readMap,
  readPriceFile,
  readSource,
} from './move-in/read-source.ts'
import { type Report, reportJson, reportLines, tomlOf } from './move-in/report.ts'
import { writeOut } from './output.ts'
import { tellServer } from './tell-server.ts'
import { readAccount, readFactor, readList, readTokens } from './values.ts'

type MoveOptions = Record<string, unknown> & {
  account?: string
  map?: string
  as?: string
  separate?: boolean
  newOwners?: string[]
  schema?: string
  secrets: string
  prices?: string
  context?: number
  markup?: Decimal
  dryRun?: boolean
  json?: boolean
}

export function moveInCommand(program: Command): void {
  withSettings(program.command('import'))
    .description('take over models, keys and balances of another gateway')
    .argument('<gateway>', gateways.join(', '), readGateway)
    .argument('<source...>', 'its configuration, its database, or what was exported of it')
    .option('--account <0x…>', 'put all keys below this account, one parent a user', readAccount)
    .option('--map <file>', 'CSV with the columns user (an id) and address: accounts of their own')
    .option('--as <name>', 'a name of the other gateway, where there are two of a kind')
    .option('--separate', 'users who are here under another name of the gateway are others')
    .option('--new-owners <ids>', 'new users whose money did not come over with others', readList)
    .option('--schema <name>', 'the schema of its tables, where a database has them in several')
    .option('--secrets <file>', 'where the new secrets are written, once', 'moved-keys.csv')
    .option('--prices <file>', "LiteLLM's public price file, for models without a price")
    .option('--context <tokens>', 'context of models of which none is published', readTokens)
    .option('--markup <percent>', 'sell at cost plus this, such as 10%', readFactor)
    .option('--dry-run', 'print what would change, and change nothing')
    .option('--json', 'print the report as JSON')
    .action(moveIn)
}

/** @throws Exit 2 without the text: a source without its gateway stands in that place */
function readGateway(text: string): Gateway {
  const known = gateways.find((one) => one === text)
  if (known !== undefined) return known
  throw new Exit(exitCodes.usage, `name the gateway first: one of ${gateways.join(', ')}`)
}

async function moveIn(gateway: Gateway, sources: string[], options: MoveOptions): Promise<void> {
  const now = systemClock.now()
  const config = configOf(options)
  const as = spaceOf(gateway, options)
  let found = nothingFound()
  try {
    found = await readSource(sources, { gateway, schema: options.schema, now })
    const prices = options.prices === undefined ? {} : await readPriceFile(options.prices)
    const path = pathOf(options)
    const read = readConfigText(path)
    const proposal = await proposalOf(read || exampleFile(), found, {
      ...{ data: config.data, markup: options.markup },
      facts: { prices, contextTokens: options.context, now },
    })
    const work: Move = { config, options, found, proposal, path, read }
    const accountOf = await placeFinder(options, found)
    await (accountOf ? moveAll(work, { as, accountOf, now }) : moveModels(work))
  } catch (error) {
    // Words of other parts may repeat what was read, with line breaks and escapes.
    if (!(error instanceof Error)) throw error
    const clean = lineCleaner(found)(error.message)
    if (clean === error.message) throw error
    throw new Exit(error instanceof Exit ? error.code : exitCodes.failed, clean)
  }
}

type Move = {
  config: Config
  options: MoveOptions
  found: SourceContents
  proposal: Proposal
  path: string
  read: string
}

type AccountOf = (owner: FoundOwner) => string | undefined

/** Models alone: without an account no key comes over. */
async function moveModels(work: Move): Promise<void> {
  const { found, options, proposal } = work
  const isWritten = !options.dryRun && (await writeProposal(work))
  await tell(work, { found, proposal }, isWritten)
  const stay = found.keys.length
  if (stay > 0) say(`${stay} keys stay there: take them over with --account or --map.`)
}

type Destination = { as: string; accountOf: AccountOf; now: number }

async function moveAll(work: Move, { as, accountOf, now }: Destination): Promise<void> {
  const { config, options, found, proposal } = work
  assertUnsharded(config)
  await assertCurrent(config)
  await using office = await openCommandServices(config)
  const plan = planMoves(found, {
    ...{ as, accountOf, now, isSeparate: options.separate === true },
    newOwners: ownersNamed(options, found),
    aliases: config.aliases ?? {},
  })
  const steps = await decided(office, plan, found)
  const needed = await unchanged(() => neededKeys(office, steps))
  raisePlans(proposal, needed)
  assertSecretsFile(steps, options)
  const plans = plansIn(work)
  if (options.dryRun) return tell(work, { found, proposal, plan, steps }, false)
  const secrets = secretsFor(office, steps, work)
  const isWritten = await writeProposal(work).catch((error: unknown) => {
    secrets.keep(new Set())
    throw error
  })
  const applying = { steps, plans, misfits: found.misfits, secrets }
  const outcome: Outcome = await applyMoves(office, applying)
  await tell(work, { found, proposal, plan, steps, outcome }, isWritten)
}

/** @throws Exit 1 that names those who are not there */
function ownersNamed({ newOwners = [] }: MoveOptions, { owners }: SourceContents): Set<string> {
  const unknown = newOwners.filter((name) => !owners.some(({ id }) => id === name))
  if (unknown.length === 0) return new Set(newOwners)
  const why = `--new-owners names users that are not there: ${unknown.join(', ')}`
  throw new Exit(exitCodes.failed, `${why}. Use ids, such as user/7. Nothing was changed.`)
}

/** The audit stays where it is when a slot moves, and with it the grants. @throws Exit 1 */
function assertUnsharded({ shard }: Config): void {
  if (shard.id === undefined && shard.map === undefined) return
  const why = 'this service has [shard]: the shard that a slot moves to does not know its imports'
  const how = 'Import keys and balances into a service without shards'
  throw new Exit(
    exitCodes.failed,
    `${why}, and would book them twice. ${how}. Nothing was changed.`,
  )
}

/** The plans as the proposal has them. @throws Exit 1 where it cannot be written as it is */
function plansIn({ options, path, proposal }: Move): Plans {
  const loaded = readConfigOf(options, proposal.text ?? '', { isOffline: true })
  if ('config' in loaded) return makePlans(loaded.config.plans, loaded.config.limits)
  const why = `${path} would be invalid: ${loaded.problems[0]}`
  throw new Exit(exitCodes.failed, `${why}. Nothing was changed.`)
}

const decided = (office: Office, plan: MovePlan, { misfits }: SourceContents): Promise<Steps> =>
  unchanged(async () => decideMoves(plan, await readPresent(office, plan), misfits))

/** @throws Exit 1 with the words of the error */
async function unchanged<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Exit || !(error instanceof Error)) throw error
    throw new Exit(exitCodes.failed, `${error.message}. Nothing was changed.`)
  }
}

/** In front of all ids of the other gateway: its kind, and its name where it has one. */
function spaceOf(gateway: Gateway, { as }: MoveOptions): string {
  // One database is often read as either.
  const kind = gateway === 'new-api' ? 'one-api' : gateway
  if (as === undefined) return kind
  if (/^[a-z0-9][a-z0-9-]{0,31}$/.test(as)) return `${kind}:${as}`
  throw new Exit(exitCodes.usage, `"${as}" is not a name: use a-z, 0-9 and -`)
}

/** A dry run opens the database too, which would migrate an older one. @throws Exit 1 */
async function assertCurrent(config: Config): Promise<void> {
  const state = await readSchemaState(config)
  if (!state || state.applied.length === 0 || state.pending.length === 0) return
  throw new Exit(exitCodes.failed, 'The database is of an older build: counterfoil migrate first.')
}

/**
 * Finds the account of an owner by ids alone: a name can be given to another later. Undefined
 * where no account is named.
 * @throws Exit 1 that names the users of the map who are not there
 */
async function placeFinder(
  { account, map: file }: MoveOptions,
  { owners }: SourceContents,
): Promise<AccountOf | undefined> {
  const map = file === undefined ? undefined : await readMap(file)
  if (!map) return account === undefined ? undefined : () => account
  const idsOf = ({ id }: FoundOwner) => [id, id.slice(id.indexOf('/') + 1)]
  const placeOf = (user: string) => owners.filter((owner) => idsOf(owner).includes(user))
  const isTwice = (owner: FoundOwner) => idsOf(owner).filter((id) => map.has(id)).length > 1
  const wrong = [...map.keys()].filter(
    (user) => placeOf(user).length !== 1 || placeOf(user).some(isTwice),
  )
  if (wrong.length > 0) {
    const list = wrong.map((user) => `"${user}"`).join(', ')
    const why = `${file} names users that are not there, are two or stand there twice: ${list}`
    const how = 'Use ids, such as 7, user/7 or team/ab12'
    throw new Exit(exitCodes.failed, `${why}. ${how}. Nothing was changed.`)
  }
  return (owner) => idsOf(owner).flatMap((name) => map.get(name) ?? [])[0] ?? account
}

/** @throws Exit 1 when secrets would be lost or would replace others */
function assertSecretsFile({ creates }: Steps, { secrets }: MoveOptions): void {
  if (creates.length === 0 || !existsSync(secrets)) return
  const why = `${secrets} is there: name another file for the new secrets with --secrets.`
  throw new Exit(exitCodes.failed, `${why} Nothing was changed.`)
}

/** @throws Exit 1 where their file cannot be made */
function secretsFor(office: Office, steps: Steps, { options, found }: Move): NewSecrets {
  const { secrets } = options
  try {
    return storeSecrets(office, steps, { file: secrets, clean: lineCleaner(found) })
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'it is there'
    const why = `${secrets} cannot be made for the new secrets (${code})`
    throw new Exit(exitCodes.failed, `${why}. Nothing was changed.`)
  }
}

/** A command has no server in it: one that runs is told afterwards. */
const notHere = async () => ({ changed: [], restart: [] })

/** Whether there was something to write. @throws Exit 1; the file is as before then */
async function writeProposal({ config, options, path, read, proposal }: Move): Promise<boolean> {
  const { text, keys } = proposal
  if (text === undefined) {
    const why = `${path} cannot be changed safely. Add to it by hand what --dry-run prints`
    throw new Exit(exitCodes.failed, `${why}. Nothing was changed.`)
  }
  if (text === read || (read === '' && text === exampleFile())) return false
  const place = { path, flags: options, config, isOffline: true, reload: notHere }
  const change = { before: sha256Hex(read), after: sha256Hex(text), key: keys }
  try {
    await writeChange(place, change, () => text)
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new Exit(exitCodes.failed, error.message)
  }
}

async function tell(work: Move, report: Report, isWritten: boolean): Promise<void> {
  const { config, options, found, path } = work
  const { dryRun = false, json, secrets } = options
  const server = isWritten ? tellServer(config) : undefined
  const clean = lineCleaner(found)
  if (json) {
    const body = { ...reportJson(report, dryRun), ...(server && { server: server.status }) }
    return print(JSON.stringify(cleaned(body, clean)))
  }
  if (dryRun) await writeOut(tomlOf(report.proposal).split('\n').map(clean).join('\n'))
  for (const line of reportLines(report, dryRun)) say(clean(line))
  if (dryRun) return say('Nothing was changed.')
  if (report.outcome && report.outcome.created > 0) {
    say(`The new secrets are in ${secrets} (0600), nowhere else: hand them out, then delete it.`)
  }
  if (server) say(`${path}: ${server.words}`)
}

/** Every text of a report without secrets, the names of its members too. */
function cleaned(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value)
  if (Array.isArray(value)) return value.map((one) => cleaned(one, clean))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [clean(name), cleaned(one, clean)]),
  )
}
