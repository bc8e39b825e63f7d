/** `models import`: takes prices from the public price files of LiteLLM and OpenRouter. */
import { readFileSync, realpathSync } from 'node:fs'
import type { Command } from 'commander'
import { matches } from '../access/keys/key.ts'
import { makePlans } from '../access/plan-config.ts'
import { sayingOf } from '../app/logging.ts'
import type { Config } from '../config/config.ts'
import { diffModels, type ModelDiff } from '../config/model-diff.ts'
import { entryText, faultsIn, inlineText, rawModels, withModels } from '../config/model-text.ts'
import type { Decimal } from '../kernel/decimal.ts'
import { parseExactJson } from '../kernel/exact-json.ts'
import { builtinModels } from '../models/builtins.ts'
import { ofResponses, readLitellm } from '../models/price-files/litellm.ts'
import { readOpenrouter } from '../models/price-files/openrouter.ts'
import { type ModelEntry, readMarkup, toEntry } from '../models/price-files/price-entry.ts'
import type { PriceFile, PriceFileOptions } from '../models/price-files/price-file.ts'
import { configOf, Exit, exitCodes, say, withSettings } from './context.ts'
import { writeOut } from './output.ts'
import { replaceFile } from './replace-file.ts'
import { readList, readWord } from './values.ts'

const readers = { litellm: readLitellm, openrouter: readOpenrouter }
const sources = ['litellm', 'openrouter'] as const

export function importCommand(models: Command): void {
  withSettings(models.command('import'))
    .description('print what a public price file would change in [[models]], as TOML')
    .argument('<file>', 'the file as those projects publish it; - for stdin')
    .requiredOption('--from <project>', sources.join(' or '), (text) =>
      readWord('project', text, sources),
    )
    .option('--upstream <id>', 'make routes to this upstream; needed to write')
    .option(
      '--markup <percent>',
      'sell at cost plus this, such as 8%, and note the cost',
      readFactor,
    )
    .option('--only <glob>', 'only models whose id in the file fits, such as gpt-*')
    .option('--without <names>', 'leave these dimensions or tiers out knowingly', readList, [])
    .option('--write', 'write it into the configuration file')
    .action(importModels)
}

type Options = Record<string, unknown> & {
  from: (typeof sources)[number]
  upstream?: string
  markup?: Decimal
  only?: string
  without: string[]
  write?: boolean
}

function readFactor(text: string): Decimal {
  const factor = readMarkup(text)
  if (factor) return factor
  throw new Exit(exitCodes.usage, `"${text}" is not a markup; use a percentage such as 8% or 12.5%`)
}

async function importModels(source: string, options: Options): Promise<void> {
  const config = configOf(options)
  assertUpstream(config, options)
  const file = await readPrices(source, options)
  const { entries, rounded, rates } = priced(file, options)
  const path = pathOf(options)
  const text = readConfigText(path)
  const diff = diffModels(rawModels(text), entries, options.upstream)
  await writeOut(
    diffText(diff, options, { rounded, rates, notes: notesOf(file, upstreamOf(config, options)) }),
  )
  tellRest(file, diff)
  tellDiscounts(config, options)
  if (options.write) write(path, text, diff)
  if (file.refused.length === 0) return
  const done = options.write ? 'the others were written' : 'the others are above'
  const names = file.refused.length === 1 ? '1 model was' : `${file.refused.length} models were`
  throw new Exit(exitCodes.failed, `${names} refused because of prices without a meter; ${done}.`)
}

function assertUpstream({ upstreams }: Config, { upstream, write: isWritten }: Options): void {
  if (upstream === undefined) {
    if (!isWritten) return
    const why = 'A model without a route cannot be written: name its upstream with --upstream <id>.'
    throw new Exit(exitCodes.usage, why)
  }
  if (upstreams.some(({ id }) => id === upstream)) return
  const known = upstreams.map(({ id }) => id).join(', ') || 'none'
  const why = `No [[upstreams]] has the id "${upstream}". There are: ${known}.`
  throw new Exit(exitCodes.usage, why)
}

const upstreamOf = ({ upstreams }: Config, { upstream }: Options) =>
  upstreams.find(({ id }) => id === upstream)

async function readPrices(source: string, options: Options): Promise<PriceFile> {
  const name = source === '-' ? 'stdin' : source
  const { only } = options
  const wish: PriceFileOptions = {
    wants: (id) => only === undefined || matches(only, id),
    without: new Set(options.without),
  }
  let text: string
  try {
    text = source === '-' ? await Bun.stdin.text() : readFileSync(source, 'utf8')
  } catch (error) {
    throw new Exit(exitCodes.failed, `${name} cannot be read: ${sayingOf(error)}`)
  }
  try {
    return readers[options.from](parseExactJson(text), wish)
  } catch (error) {
    const why = error instanceof SyntaxError ? 'it is not JSON' : sayingOf(error)
    throw new Exit(exitCodes.failed, `${name} is not a price file of ${options.from}: ${why}`)
  }
}

function priced(file: PriceFile, { upstream, markup: factor }: Options) {
  const entries: ModelEntry[] = []
  const count = { rates: 0, rounded: 0 }
  for (const model of file.models) {
    if (builtinModels.some(({ id }) => id === model.id)) {
      file.leftOut.set('the id of a built-in model', 1)
      continue
    }
    try {
      const { entry, rates, rounded } = toEntry(model, { upstream, factor })
      entries.push(entry)
      count.rates += rates
      count.rounded += rounded
    } catch (error) {
      file.refused.push({ id: model.id, dimensions: [sayingOf(error)] })
    }
  }
  return { entries, ...count }
}

/** The file that the configuration is read from. */
const pathOf = (options: Options): string =>
  String(options['config'] || process.env['COUNTERFOIL_CONFIG'] || 'counterfoil.toml')

/** Empty when there is no file yet; another reason was told by the configuration. */
function readConfigText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** All of it is TOML: what is not a setting is a comment. */
function diffText(
  { added, changed, unchanged }: ModelDiff,
  { from, markup }: Options,
  { rates, rounded, notes }: { rates: number; rounded: number; notes: readonly string[] },
): string {
  const rule = `each rate rounded up to a whole pUSD (nUSD a call): ${rounded} of ${rates} were.`
  const head = [
    `# From ${from}: ${added.length} added, ${changed.length} changed, ${unchanged} unchanged.`,
    markup ? `# Prices are cost and markup, ${rule}` : `# Prices are those of the file, ${rule}`,
    ...notes.map((note) => `# ${note}`),
  ]
  const fresh = added.map((entry) => `\n# added\n${entryText(entry)}`)
  const others = changed.map(({ id, set, remove, before }) =>
    [
      `\n# changed\n[[models]]\nid = ${inlineText(id)}\n`,
      ...remove.map((name) => `# ${name} is removed\n`),
      ...Object.entries(set).map(([name, value]) => {
        const old = before[name]
        const was = old === undefined ? 'new' : `was ${inlineText(old)}`
        return `${name} = ${inlineText(value)}  # ${was}\n`
      }),
    ].join(''),
  )
  return [...head.map((line) => `${line}\n`), ...fresh, ...others].join('')
}

/** How many models a note names. */
const idsOfNote = 5

/** Returns each note once, with the ids of its models. */
function notesOf({ models }: PriceFile, upstream: Config['upstreams'][number] | undefined) {
  const ids = new Map<string, string[]>()
  for (const { id, notes } of models) {
    for (const note of new Set(notes)) ids.set(note, [...(ids.get(note) ?? []), id])
  }
  if (upstream?.kind === 'responses') ids.delete(ofResponses)
  return [...ids].map(([note, of]) => {
    const more = of.length > idsOfNote ? ` and ${of.length - idsOfNote} more` : ''
    return `${note} (${of.slice(0, idsOfNote).join(', ')}${more}).`
  })
}

/** The values left out of the TOML, and why. */
function tellRest({ refused, leftOut }: PriceFile, { left, short }: ModelDiff): void {
  for (const { id, configured, total } of short) {
    say(
      `Check ${id}: it is configured with ${configured} tokens of context, and the file has ` +
        `${total} of input and output together. What a run uses beyond its hold is not charged.`,
    )
  }
  for (const [reason, count] of leftOut) say(`Left out: ${count} × ${reason}.`)
  for (const { id, why } of left) say(`Left as it is: ${id}, because ${why}.`)
  for (const { id, dimensions } of refused) {
    say(`Refused: ${id} has prices that have no meter here: ${dimensions.join(', ')}.`)
  }
  if (refused.length > 0) say('To leave a dimension or a tier out knowingly: --without <name>,…')
}

/** Names plans whose discount is more than the markup, the default plans too. */
function tellDiscounts({ plans, limits }: Config, { markup: factor }: Options): void {
  if (!factor) return
  const times = Number(factor.digits) / 10 ** factor.scale
  for (const { id, discountBps: bps } of makePlans(plans, limits).list) {
    if (bps === 0 || times * (1 - bps / 10_000) >= 1) continue
    say(
      `Below cost: plan ${id} takes ${bps / 100} % off, which is more than this markup. Set its ` +
        `discount_bps in [[plans]], or raise the markup.`,
    )
  }
}

function write(path: string, text: string, { added, changed }: ModelDiff): void {
  if (added.length + changed.length === 0) {
    say(`Nothing to write: ${path} has all of it.`)
    return
  }
  const fresh = withModels(text, changed, added)
  const byHand = `${path} could not be changed. Copy the lines above into it by hand.`
  if (fresh === undefined) throw new Exit(exitCodes.failed, byHand)
  const faults = faultsIn(fresh)
  if (faults.length > 0) {
    const list = faults.map((fault) => `  - ${fault}`).join('\n')
    throw new Exit(exitCodes.failed, `${path} was not changed. It would be invalid:\n${list}`)
  }
  try {
    replaceFile(realpathSync(path), fresh)
  } catch {
    throw new Exit(exitCodes.failed, byHand)
  }
  say(`Updated ${path}. Reload a running server with: kill -HUP <pid>`)
}
