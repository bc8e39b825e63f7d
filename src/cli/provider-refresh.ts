/** `provider refresh`: what changed in prices, limits and lists since models were added. */
import type { Command } from 'commander'
import { readConfigText } from '../app/providers/config-file.ts'
import type { Config } from '../config/config.ts'
import { diffModels } from '../config/model-diff.ts'
import { rawModels } from '../config/model-text.ts'
import type { Decimal } from '../kernel/decimal.ts'
import type { ModelConfig } from '../models/model-config.ts'
import { toStep } from '../models/model-config.ts'
import { type ModelEntry, toEntry } from '../models/price-files/price-entry.ts'
import { providers } from '../models/providers/presets.ts'
import { type Provider, withSettings as withUrlSettings } from '../models/providers/provider.ts'
import { costFields } from '../models/rate-fields.ts'
import { Exit, exitCodes, say, wholeConfigOf, withSettings } from './context.ts'
import { diffText, pathOf, write } from './model-changes.ts'
import { writeOut } from './output.ts'
import { offersFrom } from './provider-offers.ts'
import { tellServer } from './tell-server.ts'

type Upstream = Config['upstreams'][number]
type RefreshOptions = Record<string, unknown> & { write?: boolean }

export function refreshCommand(provider: Command): void {
  withSettings(provider.command('refresh'))
    .description('print what changed in prices, and which models came or went')
    .argument('[id]', 'one upstream of the configuration')
    .option('--write', 'write the prices into the configuration')
    .action(refresh)
}

async function refresh(id: string | undefined, options: RefreshOptions): Promise<void> {
  const config = wholeConfigOf(options)
  const upstreams = config.upstreams.filter((one) => id === undefined || one.id === id)
  const known = upstreams.flatMap((upstream) => {
    const provider = presetOf(upstream)
    return provider ? [{ upstream, provider }] : []
  })
  if (known.length === 0) {
    const what = id === undefined ? 'No upstream comes from a preset.' : `"${id}" has no preset.`
    throw new Exit(exitCodes.usage, `${what} Its prices are yours to keep.`)
  }
  const path = pathOf(options)
  for (const { upstream, provider } of known) {
    await refreshOne(config, upstream, provider, { path, isWritten: options.write === true })
  }
  if (options.write) say(tellServer(config).words)
}

/** The preset that an upstream was made from: by its address, or by its id behind another one. */
function presetOf({ id, base_url: url }: Upstream): Provider | undefined {
  const isAt = ({ baseUrl }: Provider) =>
    new RegExp(`^${RegExp.escape(baseUrl).replace(/\\\{\w+\\\}/g, '[\\w.-]+')}/?$`).test(url)
  return providers.find(isAt) ?? providers.find((provider) => provider.id === id)
}

async function refreshOne(
  config: Config,
  upstream: Upstream,
  provider: Provider,
  { path, isWritten }: { path: string; isWritten: boolean },
): Promise<void> {
  const { region, api_key: apiKey } = upstream
  const settings: Record<string, string> = region === undefined ? {} : { region }
  const access = { apiKey, settings, baseUrl: otherBase(upstream, provider) }
  const offers = await offersFrom(provider, access, {})
  const text = readConfigText(path)
  const written = rawModels(text)
  const entries: ModelEntry[] = []
  for (const model of offers.models) {
    for (const own of config.models.filter(isRoutedTo(`${upstream.id}:${model.upstreamName}`))) {
      const factor = markupOf(own)
      if (typeof factor !== 'string') {
        entries.push({ ...toEntry(model, { upstream: upstream.id, factor }).entry, id: own.id })
      } else say(`Left as it is: ${own.id}, because ${factor}.`)
    }
  }
  const diff = diffModels(written, entries, upstream.id)
  const names = new Set([...offers.models, ...offers.incomplete].map((one) => one.upstreamName))
  const used = config.models
    .flatMap(({ route = [] }) => route.map(toStep))
    .filter((step) => step.upstream === upstream.id)
    .map((step) => step.model)
  await writeOut(
    diffText(diff, { from: provider.name, markup: undefined }, { rounded: 0, rates: 0, notes: [] }),
  )
  const gone = [...new Set(used)].filter((name) => !names.has(name))
  if (gone.length > 0) say(`${provider.name} no longer lists ${gone.join(', ')}.`)
  const came = offers.models.filter(({ upstreamName }) => !used.includes(upstreamName))
  if (came.length > 0)
    say(`${came.length} more could be sold: counterfoil provider add ${provider.id}`)
  if (isWritten) write(path, text, diff)
}

const isRoutedTo =
  (step: string) =>
  ({ route = [] }: ModelConfig): boolean =>
    route.some((one) => (typeof one === 'string' ? one : one.to) === step)

/** The base URL where it is not the preset's own, filled in or not. */
function otherBase({ base_url: url }: Upstream, { baseUrl }: Provider): string | undefined {
  try {
    return withUrlSettings(baseUrl, {}) === url ? undefined : url
  } catch {
    return url
  }
}

/**
 * The markup that a model has: the largest over its rates, and at least none, so that no rate is
 * below its new cost. Where that cannot be known, the reason why its prices are the operator's.
 */
function markupOf(model: ModelConfig): Decimal | string {
  const [step, ...others] = model.route ?? []
  if (others.length > 0) return 'its route has several steps'
  const cost = typeof step === 'object' ? step.cost : undefined
  if (!cost) return 'its route has no cost, so its prices are yours'
  let most = 10n ** BigInt(markupScale)
  for (const field of rateNames) {
    const [sold, paid] = [model[field], cost[field]].map((price) => BigInt(price ?? 0))
    if (!sold || !paid) continue
    const ratio = (sold * 10n ** BigInt(markupScale) + paid - 1n) / paid
    if (ratio > most) most = ratio
  }
  if (!cost.input_pusd && !cost.output_pusd) return 'it costs nothing there'
  return { digits: most, scale: markupScale }
}

/** Decimals of a markup: a hundredth of a percent. */
const markupScale = 4

const rateNames = Object.keys(costFields) as (keyof typeof costFields)[]
