/** `provider add`: an upstream and its models in the configuration, with a key and prices. */
import type { Command } from 'commander'
import { chooseModels, lackingNames } from '../app/providers/ask.ts'
import { readConfigText } from '../app/providers/config-file.ts'
import { keyFileFor } from '../app/providers/key-file.ts'
import {
  discountsAbove,
  type KeyPlace,
  noMarkup,
  notesOf,
  otherServerOf,
  priced,
  upstreamEntry,
  withProvider,
} from '../app/providers/provider-entries.ts'
import { exampleFile } from '../config/example.ts'
import { diffModels } from '../config/model-diff.ts'
import { rawModels, rawUpstreams } from '../config/model-text.ts'
import { upstreamId } from '../config/values.ts'
import type { Decimal } from '../kernel/decimal.ts'
import type { IncompleteModel, Offers } from '../models/providers/offers.ts'
import { isBaseUrl } from '../models/providers/provider.ts'
import { configOf, Exit, exitCodes, print, printJson, say, withSettings } from './context.ts'
import { diffText, pathOf, writeText } from './model-changes.ts'
import { writeOut } from './output.ts'
import { tookKey, writeWithKey } from './provider-key.ts'
import {
  assertSettings,
  findKey,
  linesOf,
  offersFrom,
  providerNamed,
  readSetting,
  readTokenPrice,
} from './provider-offers.ts'
import { tellServer } from './tell-server.ts'
import { readFactor, readList, readTokens } from './values.ts'

type AddOptions = Record<string, unknown> & {
  id?: string
  models: string[]
  markup?: Decimal
  keyFile?: string
  keyEnv?: string
  anotherKey?: boolean
  set: Record<string, string>
  at?: string
  input?: Decimal
  output?: Decimal
  context?: number
  dryRun?: boolean
  json?: boolean
}

export function addCommand(provider: Command): void {
  withSettings(provider.command('add'))
    .description('test a key, choose models and write both into the configuration')
    .argument('<provider>', 'its id in counterfoil provider list')
    .option('--id <id>', 'id of the upstream, for a second one of the same provider', readId)
    .option('--models <globs>', 'models to sell, such as claude-*,gpt-5*', readList, [])
    .option('--markup <percent>', 'sell at cost plus this, such as 10%', readFactor)
    .option('--key-file <file>', 'read the key from this file; - for stdin')
    .option('--key-env <name>', 'let the server read the key from this variable; store no copy')
    .option('--another-key', 'add the key to an upstream that is there; both share its requests')
    .option(
      '--set <name=value>',
      'a part of its address, such as region=eu-west-1',
      readSetting,
      {},
    )
    .option('--at <url>', 'where its API begins, in place of the preset')
    .option('--input <price>', "price of input where none is published: '$0.15/M'", readTokenPrice)
    .option('--output <price>', 'price of output where none is published', readTokenPrice)
    .option('--context <tokens>', 'context where none is published', readTokens)
    .option('--dry-run', 'print what would be written, and write nothing')
    .option('--json', 'print JSON')
    .action(add)
}

function readId(text: string): string {
  const checked = upstreamId.check(text)
  if ('value' in checked) return checked.value
  throw new Exit(exitCodes.usage, `--id ${checked.must}`)
}

async function add(name: string, options: AddOptions): Promise<void> {
  const provider = providerNamed(name)
  const settings = options.set
  if (options.at !== undefined && !isBaseUrl(options.at)) {
    throw new Exit(exitCodes.usage, '--at is where its API begins, such as https://host/v1')
  }
  if (options.at === undefined) assertSettings(provider, settings)
  const config = configOf(options)
  const id = options.id ?? provider.id
  const path = pathOf(options)
  const read = readConfigText(path)
  const text = read || exampleFile()
  const present = rawUpstreams(text).find((one) => one['id'] === id)
  const other = otherServerOf(present, provider, { settings, baseUrl: options.at })
  if (other !== undefined) {
    throw new Exit(exitCodes.usage, `"${id}" is at ${other}: name the new one with --id.`)
  }
  const { key, variable } = await findKey(provider, options)
  const access = { apiKey: key, settings, baseUrl: options.at }
  const there = { config, path, text: read, id, present, key }
  if (await tookKey(there, options, () => offersFrom(provider, access, {}))) return
  const { input, output, context: contextTokens } = options
  const prices = input && { input_pusd: input, ...(output && { output_pusd: output }) }
  const offers = await offersFrom(provider, access, { contextTokens, prices })
  const models = selected(offers, options)
  const { entries, rounded, rates } = priced(
    { models, refused: [], leftOut: new Map() },
    { upstream: id, markup: options.markup ?? noMarkup },
  )
  const diff = diffModels(rawModels(text), entries, id)
  const keyFile = keyFileFor(config.data, id)
  const where = placeOf(key, options.keyEnv, keyFile)
  const entry = present
    ? undefined
    : upstreamEntry(provider, { id, settings, baseUrl: options.at, key: where })
  const fresh = withProvider(text, entry, diff.added)
  const notes = notesOf({ models, refused: [], leftOut: new Map() }, undefined)
  const copy = where?.file !== undefined && !present ? where.file : undefined
  if (options.dryRun) {
    await writeOut(
      diffText(diff, { from: provider.name, markup: options.markup }, { rounded, rates, notes }),
    )
    return
  }
  writeWithKey(copy, key, () => writeText(path, fresh, read))
  const told = tellServer(config)
  if (options.json) {
    const added = diff.added.map((model) => model.id)
    printJson({ upstream: id, added, incomplete: offers.incomplete, server: told.status })
    return
  }
  const isThere = new Set(diff.added.map((model) => model.id))
  const sold = models.filter((model) => isThere.has(model.id))
  for (const line of linesOf(sold, options.markup)) print(line)
  for (const { id: other, why } of diff.left) say(`Left as it is: ${other}, because ${why}.`)
  for (const note of notes) say(note)
  for (const loss of discountsAbove(config, options.markup)) say(loss)
  tellIncomplete(offers.incomplete, options)
  if (variable !== undefined && where && 'file' in where && !present)
    say(`The key of ${variable} is in ${where.file}.`)
  if (!offers.isKeyProven) {
    say(`No free page of ${provider.name} proves a key: counterfoil provider test ${id} --spend`)
  }
  say(`${path} has ${provider.name} with ${isThere.size} new models. ${told.words}`)
}

/** The place where the server will find the key; undefined for a server without keys. */
function placeOf(
  key: string | undefined,
  variable: string | undefined,
  file: string,
): KeyPlace | undefined {
  if (variable !== undefined) return { variable }
  return key === undefined ? undefined : { file }
}

/** @throws Exit 1 without a model to sell, Exit 2 where too many fit to be meant */
function selected(offers: Offers, { models: globs }: AddOptions) {
  const choice = chooseModels(offers, globs)
  if (choice.status === 'ok') return choice.models
  if (choice.status === 'too_many') {
    const example = `--models '${choice.example}'`
    const why = `It has ${choice.count} models: name those to sell, such as ${example}.`
    throw new Exit(exitCodes.usage, why)
  }
  tellIncomplete(choice.lacking, { models: globs })
  throw new Exit(exitCodes.failed, `${choice.why} Nothing was changed.`)
}

function tellIncomplete(
  incomplete: readonly IncompleteModel[],
  { models: globs }: Pick<AddOptions, 'models'>,
): void {
  const { unpriced, unbounded, unmetered } = lackingNames(incomplete, globs)
  if (unpriced) say(`No price is published of ${unpriced}: add --models, --input and --output.`)
  if (unbounded) say(`No context is published of ${unbounded}: add --models and --context.`)
  if (unmetered) say(`Billed by units without a meter here: ${unmetered}.`)
}
