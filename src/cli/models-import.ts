/** `models import`: takes prices from public files of LiteLLM, OpenRouter and models.dev. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { matches } from '../access/keys/key.ts'
import { sayingOf } from '../app/logging.ts'
import { readConfigText } from '../app/providers/config-file.ts'
import { discountsAbove, notesOf, priced } from '../app/providers/provider-entries.ts'
import type { Config } from '../config/config.ts'
import { diffModels } from '../config/model-diff.ts'
import { rawModels } from '../config/model-text.ts'
import type { Decimal } from '../kernel/decimal.ts'
import { parseExactJson } from '../kernel/exact-json.ts'
import { readLitellm } from '../models/price-files/litellm.ts'
import { readModelsDev } from '../models/price-files/models-dev.ts'
import { readOpenrouter } from '../models/price-files/openrouter.ts'
import type { PriceFile, PriceFileOptions } from '../models/price-files/price-file.ts'
import { configOf, Exit, exitCodes, say, withSettings } from './context.ts'
import { diffText, pathOf, tellRest, write } from './model-changes.ts'
import { writeOut } from './output.ts'
import { readFactor, readList, readWord } from './values.ts'

const readers = {
  litellm: readLitellm,
  openrouter: readOpenrouter,
  'models.dev': readModelsDev,
}
const sources = ['litellm', 'openrouter', 'models.dev'] as const

export function importCommand(models: Command): void {
  withSettings(models.command('import'))
    .description('print what a public price file would change in [[models]], as TOML')
    .argument('<file>', 'the file as those projects publish it; - for stdin')
    .requiredOption('--from <project>', sources.join(', '), (text) =>
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
  // Without a markup no cost is known.
  if (options.markup) for (const loss of discountsAbove(config, options.markup)) say(loss)
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
